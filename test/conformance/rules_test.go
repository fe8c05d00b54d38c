// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A rule explains a difference, or the case fails: by a rule that matches where nothing differs, by one
// that does not hold, by one that explains nothing, or by what is left.
func TestJudge(t *testing.T) {
	always := func(*runner, *input) bool { return true }
	strikes := func(keys ...string) func(*runner, *pair) error {
		return func(_ *runner, p *pair) error {
			for _, key := range keys {
				delete(p.want.tree.(map[string]any), key)
				delete(p.got.tree.(map[string]any), key)
			}
			return nil
		}
	}
	one := func(id string, holds func(*runner, *pair) error) rule {
		return rule{id: id, applies: always, holds: holds}
	}
	cases := map[string]struct {
		reason    string
		rules     []rule
		got, want string
		known     string
		problems  []string
	}{
		"alike":    {"no rule is asked", nil, `{"a":1}`, `{"a":1}`, "", nil},
		"differs":  {"no rule explains it", nil, `{"a":1}`, `{"a":2}`, "", []string{"/a: want 2"}},
		"known":    {"a rule explains it", []rule{one("r", strikes("a"))}, `{"a":1}`, `{"a":2}`, "r", nil},
		"the rest": {"a rule explains a part", []rule{one("r", strikes("a"))}, `{"a":1,"b":1}`, `{"a":2,"b":2}`, "r", []string{"/b: want 2"}},
		"two":      {"each explains a part", []rule{one("r", strikes("a")), one("s", strikes("b"))}, `{"a":1,"b":1}`, `{"a":2,"b":2}`, "r s", nil},
		"stale":    {"it matches where we are like the original", []rule{one("r", strikes("a"))}, `{"a":1}`, `{"a":1}`, "", []string{"rule r is stale"}},
		"second is stale": {"the first leaves nothing to explain", []rule{one("r", strikes("a")), one("s", strikes("b"))},
			`{"a":1}`, `{"a":2}`, "r", []string{"rule s is stale"}},
		"idle": {"it holds, and explains nothing of the difference", []rule{one("r", strikes("b"))}, `{"a":1}`, `{"a":2}`, "r",
			[]string{"rule r explains nothing", "/a: want 2"}},
		"does not hold": {"what must hold instead does not", []rule{one("r", func(*runner, *pair) error { return errors.New("not so") })},
			`{"a":1}`, `{"a":2}`, "", []string{"rule r does not hold: not so", "/a: want 2"}},
		"silent": {"a rule that does not match is fine", []rule{{id: "r", applies: func(*runner, *input) bool { return false }}}, `{"a":1}`, `{"a":1}`, "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := pair{in: &input{}, want: outcome{kind: injected, tree: tree(t, c.want)}, got: outcome{kind: injected, tree: tree(t, c.got)}}
			v := (&runner{rules: c.rules}).judge(p)
			if v.known != c.known {
				t.Errorf("%s: known %q, want %q", c.reason, v.known, c.known)
			}
			for i, got := range v.problems {
				if i >= len(c.problems) || !strings.HasPrefix(got, c.problems[i]) {
					t.Errorf("%s: problem %q", c.reason, got)
				}
			}
			if len(v.problems) < len(c.problems) {
				t.Errorf("%s: problems %q, want %q", c.reason, v.problems, c.problems)
			}
		})
	}
}

// Another end is a difference, whatever the trees are; and a refusal in its place is what some rules ask
// for.
func TestRefusedInstead(t *testing.T) {
	p := pair{want: outcome{kind: injected}, got: outcome{kind: failed, text: "volume data has two sources"}}
	if len(p.compare()) != 1 {
		t.Errorf("another end: %q", p.compare())
	}
	if err := p.refusedInstead("logs"); err == nil {
		t.Error("the refusal does not name logs")
	}
	if err := p.refusedInstead("data"); err != nil || len(p.compare()) > 0 {
		t.Errorf("%v, then %q", err, p.compare())
	}
	p = pair{want: outcome{kind: failed}, got: outcome{kind: skipped}}
	if err := p.refusedInstead(); err == nil {
		t.Error("a skip is no refusal")
	}
}

// Fields that the schema does not know are found where they stand in a list's item.
func TestUnknownFields(t *testing.T) {
	in := &input{pod: tree(t, `{"spec":{"newMap":{"a":1},"containers":[{"name":"a"},{"name":"b","later":{"x":1},"ports":[{"name":"p","sooner":2}]}],
		"volumes":[{"name":"v","configMap":{"name":"c","odd":true}}],"nodeSelector":{"any":"thing"}}}`).(map[string]any)}
	want := map[string]any{"/containers/b/later": "{\"x\":1}", "/containers/b/ports/p/sooner": "2", "/volumes/v/configMap/odd": "true"}
	got := map[string]any{}
	for path, value := range strange(in.pod) {
		got[path] = text(value)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"containers/b": 1, "volumes/v": 0}, places(in.pod["spec"].(map[string]any), strange(in.pod))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestForbiddenFunctions(t *testing.T) {
	body := `{{ define "x" }}{{ now }}{{ end }}{{ range .A }}{{ if (getHostByName "a") }}{{ .B | quote }}{{ else }}{{ with env "A" "b" }}{{ . | randAlpha }}{{ end }}{{ end }}{{ end }}`
	in := &input{file: caseFile{Injection: injection{Templates: map[string]string{"a": body, "b": "{{ broken"}}}}
	if d := cmp.Diff([]string{"getHostByName", "now", "randAlpha"}, in.forbidden()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReorder(t *testing.T) {
	spec := tree(t, `{"initContainers":[{"name":"istio-init"},{"name":"istio-validation"},{"name":"enable-core-dump"},{"name":"a"},{"name":"b"}]}`).(map[string]any)
	reorder(spec)
	var got []string
	for _, item := range spec["initContainers"].([]any) {
		got = append(got, name(item))
	}
	if d := cmp.Diff([]string{"istio-validation", "a", "b", "istio-init", "enable-core-dump"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
