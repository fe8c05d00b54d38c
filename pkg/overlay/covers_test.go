// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestCovers(t *testing.T) {
	cases := map[string]struct {
		why, have, want string
		covers          bool
	}{
		"same":            {"", `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, true},
		"more":            {"strangers' additions", `{"spec":{"containers":[{"name":"b"},{"name":"a","image":"i","tty":false}]}}`, `{"spec":{"containers":[{"name":"a","image":"i"}]}}`, true},
		"order":           {"keys count, not places", `{"spec":{"volumes":[{"name":"b"},{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a"},{"name":"b"}]}}`, true},
		"default in list": {"the API server fills in", `{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}}]}}]}}`, `{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}}`, true},
		"changed":         {"", `{"spec":{"containers":[{"name":"a","image":"j"}]}}`, `{"spec":{"containers":[{"name":"a","image":"i"}]}}`, false},
		"gone":            {"", `{"spec":{"containers":[{"name":"b"}]}}`, `{"spec":{"containers":[{"name":"a"}]}}`, false},
		"longer args":     {"an atomic list is one value", `{"spec":{"containers":[{"name":"a","args":["x","y"]}]}}`, `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, false},
		"no source":       {"an empty struct is a value", `{"spec":{"volumes":[{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}`, false},
		"nothing wanted":  {"", `{}`, `{"spec":{"volumes":null},"metadata":{"labels":{}}}`, true},
	}
	for name, c := range cases {
		have, err := pod.Decode([]byte(c.have))
		if err != nil {
			t.Fatal(err)
		}
		want, err := pod.Decode([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got := Covers(pod.Schema(), have, want); got != c.covers {
			t.Errorf("%s: %s: got %v", name, c.why, got)
		}
	}
}
