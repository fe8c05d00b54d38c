// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
)

// FuzzParse shows that no text makes the reader panic, that a refusal has faults, and that what could be
// read of a faulty configuration can be linted.
func FuzzParse(f *testing.F) {
	f.Add("config", []byte("policy: enabled\ntemplates: {sidecar: '{{ .Values.a.b }}'}"), []byte("{}"))
	f.Add("x.yaml", []byte("kind: ConfigMap\ndata: {config: 'templates: {a: [b]}', values: '[]', mesh: 'trustDomain: 3'}"), []byte("null"))
	f.Add("x.yaml", []byte("kind: ConfigMap\ndata: {a: 'kind: InjectorConfig\n\n  dialect: istio'}"), []byte(""))
	f.Add("a", []byte("spec: {{ .Values }}"), []byte("global: {hub: 1}"))
	f.Add("b", []byte("templates:\n a: &a [*a]\n"), []byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, name string, body, values []byte) {
		files := map[string][]byte{name: body, "values": values}
		Recognised(files)
		c, err := Parse(files)
		var faults config.Errors
		if err != nil && (!errors.As(err, &faults) || len(faults) == 0) {
			t.Fatalf("an error without faults: %v", err)
		}
		first, warnings := Lint(c, lintOptions)
		again, more := Lint(c, lintOptions)
		if diff := cmp.Diff(first, again) + cmp.Diff(warnings, more); diff != "" {
			t.Errorf("the same configuration, other findings:\n%s", diff)
		}
	})
}

func TestRecognised(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  map[string]string
		want   bool
	}{
		"keys":          {"as a ConfigMap is mounted", map[string]string{"config": "policy: enabled\ntemplates: {}", "values": "{}"}, true},
		"broken":        {"a slip does not make it another's", map[string]string{"config": "policy: enabled\n templates: [", "values": "{}"}, true},
		"broken alone":  {"its lines show it", map[string]string{"any.yaml": "policy: enabled\n templates: ["}, true},
		"shape":         {"whatever the file's name", map[string]string{"any.yaml": "templates: {a: b}"}, true},
		"policy":        {"templates may be elsewhere", map[string]string{"any.yaml": "policy: enabled\ndefaultTemplates: [a]"}, true},
		"manifest":      {"a ConfigMap with one of the keys", map[string]string{"any.yaml": "kind: ConfigMap\ndata: {mesh: 'trustDomain: a'}"}, true},
		"ours":          {"it says so itself", map[string]string{"a.yaml": "kind: InjectorConfig\ndialect: istio"}, true},
		"ours in a map": {"it says so itself", map[string]string{"a.yaml": "kind: ConfigMap\ndata: {c: \"kind: InjectorConfig\\ndialect: istio\"}"}, true},
		"native":        {"its templates are a list", map[string]string{"a.yaml": "kind: InjectorConfig\ntemplates: []"}, false},
		"native, named": {"the kind counts more than the name", map[string]string{"config": "kind: InjectorConfig\npolicy: enabled", "values": "{}"}, false},
		"native in map": {"the kind counts more than a key", map[string]string{"a.yaml": "kind: ConfigMap\ndata: {values: '{}', c: 'kind: InjectorConfig'}"}, false},
		"a list":        {"templates are a map", map[string]string{"any.yaml": "templates: [a]"}, false},
		"an object":     {"it is something else", map[string]string{"any.yaml": "kind: Pod\ntemplates: {a: b}"}, false},
		"broken object": {"it is something else", map[string]string{"any.yaml": "kind: Pod\npolicy: [\n"}, false},
		"nothing":       {"it is nothing", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Recognised(filesOf(tc.files)); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

func filesOf(texts map[string]string) map[string][]byte {
	files := map[string][]byte{}
	for name, body := range texts {
		files[name] = []byte(body)
	}
	return files
}

func TestParseReadsAsIstiodDoes(t *testing.T) {
	c, err := Parse(filesOf(map[string]string{
		"config": "\ufeffPolicy: disabled\nunknown: [1]\nneverInjectSelector:\n- matchLabels: {short: true, size: 3}\ninjectedAnnotations: {a: 1}\ntemplates: {one: 1, two: b}\n",
		"values": "{}",
	}))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, one := range c.Templates {
		texts[one.Name] = one.Text
	}
	got := []any{c.Policy, c.NeverInjectSelector[0].MatchLabels, c.InjectedAnnotations, texts, c.DefaultTemplates}
	want := []any{
		"disabled", map[string]string{"short": "true", "size": "3"}, map[string]string{"a": "1"},
		map[string]string{"one": "1", "two": "b"}, []string{"sidecar"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scalars are texts where texts are wanted, keys of any case are known (-want +got)\n%s", diff)
	}
}

func TestParseTellsEveryFault(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"types": {"each at its line", map[string]string{
			"config": "policy: [a]\ndefaultTemplates: a\naliases:\n  x: name\ntemplates:\n  a:\n    b: c\nalwaysInjectSelector:\n- {}\n- matchExpressions: a\n", "values": "[]", "mesh": "trustDomain: 3",
		}, `config:1: policy: want a string, got a list
config:2: defaultTemplates: want a list, got a string
config:7: templates.a: want a string, got a map
config:4: aliases.x: want a list, got a string
config:10: alwaysInjectSelector[1].matchExpressions: want a list, got a string
values:1: values: want a map, got a list
mesh:1: trustDomain: want a string, got 3`},
		"no YAML":       {"the line of the parser", map[string]string{"config": "policy: enabled\nb: c: d", "values": "{}"}, "config:2: config: not YAML: mapping values are not allowed in this context"},
		"no map":        {"it holds fields", map[string]string{"config": "- a", "values": "{}"}, "config:1: config: want a map with policy and templates"},
		"not there":     {"what to give", map[string]string{"values": "{}"}, "no injection configuration: no key or file named config"},
		"an object":     {"an object is no template", map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nspec: {}"}, "no injection configuration: no key or file named config"},
		"broken object": {"nor one with a slip", map[string]string{"a.yaml": "kind: Pod\nspec: {{"}, "no injection configuration: no key or file named config"},
		"ours":          {"the faults of our own", map[string]string{"config": "templates: {}", "values": "{}", "a.yaml": "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\ndialect: istio\nignoredNamespaces: [a]"}, "a.yaml:4: ignoredNamespaces: dialect istio ignores kube-system, kube-public, kube-node-lease and local-path-storage only"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(filesOf(tc.files))
			if err == nil {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  map[string]string
		want   string
		ok     bool
	}{
		"named":     {"beside others", map[string]string{"mesh": "a: b", "x": "y"}, "a: b", true},
		"manifest":  {"among other keys", map[string]string{"x.yaml": "kind: ConfigMap\ndata: {mesh: 'a: b', other: c}"}, "a: b", true},
		"only":      {"whatever its name", map[string]string{"x": "a: b"}, "a: b", true},
		"an object": {"an object is not the text", map[string]string{"x": "apiVersion: v1\nkind: ConfigMap\ndata: {other: c}"}, "", false},
		"other key": {"another key is not it", map[string]string{"x.yaml": "kind: ConfigMap\ndata: {values: '{}'}"}, "", false},
		"several":   {"none of them is it", map[string]string{"x": "a: b", "y": "a: b"}, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := Find(filesOf(tc.files), meshKey)
			if named := tc.ok && name != "only"; Holds(filesOf(tc.files), meshKey) != named {
				t.Errorf("%s: a file of another name does not hold the key", tc.reason)
			}
			if ok != tc.ok || ok && (string(got.body) != tc.want || got.key != meshKey) {
				t.Errorf("%s: got %q, %v", tc.reason, got.body, ok)
			}
		})
	}
}
