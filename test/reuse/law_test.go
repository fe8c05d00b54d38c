// SPDX-License-Identifier: Apache-2.0

package reuse

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/inject"
)

func TestLawCanFail(t *testing.T) {
	configs := configurations(t)
	same, err := New(configs["shipped"])
	if err != nil {
		t.Fatal(err)
	}
	pod, facts := typical(t), shop()
	for range 2 {
		if _, err := same.Hold(pod, facts); err != nil {
			t.Fatal(err)
		}
	}
	if want := len(sizes); same.Reused() != want {
		t.Errorf("%d outcomes were reused, want %d", same.Reused(), want)
	}
	other, err := New(func(reuse int64) (*inject.Engine, error) {
		if reuse > 1 {
			return configs["tells"](reuse)
		}
		return configs["shipped"](reuse)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Hold(pod, facts); err == nil || !strings.Contains(err.Error(), "ends otherwise") {
		t.Errorf("two configurations make the same pod: %v", err)
	}
}

// Replicas are what reuse is for. Some configurations ask for what differs.
func TestReplicasAreReused(t *testing.T) {
	differing := map[string]string{
		"tells":       "it writes down what differs",
		"mesh twice":  "so do the overrides of a container that a template touches",
		"shipped all": "the template vault-agent hands on whole containers",
		"old nodes":   "so here",
	}
	for name, compile := range configurations(t) {
		t.Run(name, func(t *testing.T) {
			l, err := New(compile)
			if err != nil {
				t.Fatal(err)
			}
			one := typical(t)
			other := bytes.ReplaceAll(one, []byte("x7k2p"), []byte("9zzz9"))
			for _, pod := range [][]byte{one, other, one} {
				if _, err := l.Hold(pod, shop()); err != nil {
					t.Fatal(err)
				}
			}
			if l.Reused() < 2*len(sizes) && differing[name] == "" && !rare(name) {
				t.Errorf("%d outcomes were reused", l.Reused())
			}
		})
	}
}
