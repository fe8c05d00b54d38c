// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// FuzzFill: what base says stays, to the byte; and where base repeats no key, Fill is the merge with
// base laid over it again.
func FuzzFill(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		base, layer := a.pod(), b.pod()
		s := pod.Schema()
		want := Merge(s, Merge(s, base, layer), base)
		if diff := cmp.Diff(meaning(s, want), meaning(s, Fill(s, base, layer))); diff != "" {
			t.Errorf("(-merged twice +filled)\n%s\nbase  %s\nlayer %s", diff, pod.Encode(base), pod.Encode(layer))
		}
		checkFill(t, base, layer)
		checkFill(t, a.messy(base), b.messy(layer))
		checkFill(t, b.messy(base), b.messy(layer))
	})
}

func checkFill(t *testing.T, base, layer any) {
	t.Helper()
	was, over := encode(base), encode(layer)
	out := Fill(pod.Schema(), base, layer)
	kept(t, "", base, out)
	if again, changed := fill(pod.Schema(), out, layer); changed {
		t.Errorf("a second fill changes %s\nto %s", encode(out), encode(again))
	}
	if encode(base) != was || encode(layer) != over {
		t.Error("an argument was changed")
	}
}

func encode(v any) string { return string(pod.Encode(v)) }

// kept fails where have lacks something of base. Lists only grow at their end.
func kept(t *testing.T, at string, base, have any) {
	t.Helper()
	switch base := base.(type) {
	case nil:
	case map[string]any:
		m, ok := have.(map[string]any)
		if !ok {
			t.Fatalf("%s is no map any more: %s", at, encode(have))
		}
		for k, v := range base {
			kept(t, at+"/"+k, v, m[k])
		}
	case []any:
		list, ok := have.([]any)
		if !ok || len(list) < len(base) {
			t.Fatalf("%s lost items: %s", at, encode(have))
		}
		for i, v := range base {
			kept(t, at+"/-", v, list[i])
		}
	default:
		if !pod.Equal(base, have) {
			t.Fatalf("%s was %s and is %s", at, encode(base), encode(have))
		}
	}
}

func TestFill(t *testing.T) {
	container := pod.Schema().At("spec", "containers", "*")
	cases := map[string]struct{ reason, base, layer, want string }{
		"repeated env":    {"a variable may be set again for the ones after it", `{"env":[{"name":"A","value":"1"},{"name":"C","value":"$(A)"},{"name":"A","value":"3"}]}`, `{"env":[{"name":"B","value":"2"},{"name":"A","value":"9"}]}`, `{"env":[{"name":"A","value":"1"},{"name":"C","value":"$(A)"},{"name":"A","value":"3"},{"name":"B","value":"2"}]}`},
		"repeated port":   {"one port may have two names", `{"ports":[{"containerPort":80,"name":"a"},{"containerPort":80,"name":"b"}]}`, `{"ports":[{"containerPort":80,"protocol":"TCP","hostPort":8080}]}`, `{"ports":[{"containerPort":80,"hostPort":8080,"name":"a","protocol":"TCP"},{"containerPort":80,"name":"b"}]}`},
		"chosen union":    {"one handler of a probe", `{"livenessProbe":{"exec":{"command":["true"]}}}`, `{"livenessProbe":{"httpGet":{"port":80},"periodSeconds":5}}`, `{"livenessProbe":{"exec":{"command":["true"]},"periodSeconds":5}}`},
		"same choice":     {"its members are filled", `{"livenessProbe":{"httpGet":{"port":80}}}`, `{"livenessProbe":{"httpGet":{"port":81,"path":"/"}}}`, `{"livenessProbe":{"httpGet":{"path":"/","port":80}}}`},
		"atomic list":     {"not mixed", `{"args":["a"]}`, `{"args":["b","c"],"command":["d"]}`, `{"args":["a"],"command":["d"]}`},
		"null":            {"is nothing", `{"env":null,"image":null}`, `{"env":[{"name":"A"}],"image":"i"}`, `{"env":[{"name":"A"}],"image":"i"}`},
		"false and zero":  {"are something", `{"stdin":false,"securityContext":{"runAsUser":0}}`, `{"stdin":true,"securityContext":{"runAsUser":7,"runAsGroup":7}}`, `{"securityContext":{"runAsGroup":7,"runAsUser":0},"stdin":false}`},
		"another type":    {"is base's own business", `{"env":"oops"}`, `{"env":[{"name":"A"}]}`, `{"env":"oops"}`},
		"unknown members": {"are merged as maps", `{"future":{"a":1}}`, `{"future":{"a":2,"b":2}}`, `{"future":{"a":1,"b":2}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			base, err := pod.Decode([]byte(c.base))
			if err != nil {
				t.Fatal(err)
			}
			layer, err := pod.Decode([]byte(c.layer))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, encode(Fill(container, base, layer))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
