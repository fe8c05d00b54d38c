// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const head = "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\n"

func files(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head), []byte("spec: {}"))
	f.Add([]byte(whole), []byte("spec:\n  volumes: []\n"))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    "+strings.ReplaceAll(head, "\n", "\n    ")), []byte(""))
	f.Add([]byte(head+"values: {a: &x [1], b: *x}"), []byte("kind: InjectorConfig"))
	f.Add([]byte(head+"aliases: {a: [b], b: [a]}\ntemplates:\n- {name: t, file: t.yaml}\n"), []byte("\xff"))
	f.Fuzz(func(t *testing.T, config, template []byte) {
		given := map[string][]byte{"config.yaml": config, "t.yaml": template}
		first, err := Parse(given)
		again, err2 := Parse(given)
		if diff := cmp.Diff(first, again); diff != "" || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("two readings differ: %s\n%v\n%v", diff, err, err2)
		}
		if err == nil {
			if faults := first.Validate(); len(faults) > 0 {
				t.Fatalf("Parse gave what Validate refuses: %v", faults)
			}
			return
		}
		var faults Errors
		if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxErrors+1 {
			t.Fatalf("want 1 to %d faults, got %v", maxErrors+1, err)
		}
		if len(err.Error()) > 100*1024+2*len(config) {
			t.Fatalf("an input of %d bytes gave a message of %d", len(config), len(err.Error()))
		}
	})
}

// whole uses every field.
const whole = head + `
dialect: pillion
policy: disabled
ignoredNamespaces: [build]
neverInjectSelector:
- matchLabels: {app: db}
alwaysInjectSelector:
- matchExpressions: [{key: tier, operator: In, values: [web, api]}]
defaultTemplates: [all]
aliases: {all: [log-shipper, more], more: [agent]}
nativeSidecars: off
proof: always
values: {hub: registry.example, port: 8080, ratio: 0.5, on: true, none: ~, list: [1, a]}
templates:
- name: log-shipper
  file: log.yaml
  required: false
  allowHostNetwork: true
  os: any
  sidecars: [fluent-bit]
  order: [{container: fluent-bit, before: ["*"], after: [agent]}]
  jobs: skip
  overridable: []
  parameters:
  - {name: memory, type: quantity, default: 64Mi, min: 16Mi, max: 1Gi, annotation: logs.pillion.dev/memory, atMost: limit}
  - {name: limit, type: quantity}
  - {name: level, type: enum, values: [info, 1], default: 1}
  - {name: tag, type: string, pattern: "[a-z]+"}
- name: agent
  text: |
    spec: {}
`

func TestParseReadsEveryField(t *testing.T) {
	text := func(s string) *string { return &s }
	got, err := Parse(files("config.yaml", whole, "log.yaml", "\ufeffspec:\n  containers: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		APIVersion: APIVersion, Kind: Kind, Dialect: "pillion", Policy: "disabled",
		IgnoredNamespaces:    []string{"build"},
		NeverInjectSelector:  []metav1.LabelSelector{{MatchLabels: map[string]string{"app": "db"}}},
		AlwaysInjectSelector: []metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{"web", "api"}}}}},
		DefaultTemplates:     []string{"all"},
		Aliases:              map[string][]string{"all": {"log-shipper", "more"}, "more": {"agent"}},
		NativeSidecars:       "off", Proof: "always",
		Values: map[string]any{"hub": "registry.example", "port": int64(8080), "ratio": 0.5, "on": true, "none": nil, "list": []any{int64(1), "a"}},
		Templates: []Template{
			{
				Name: "log-shipper", File: "log.yaml", Text: "spec:\n  containers: []\n", AllowHostNetwork: true, OS: "any",
				Sidecars: []string{"fluent-bit"},
				Order:    []Order{{Container: "fluent-bit", Before: []string{"*"}, After: []string{"agent"}}},
				Jobs:     "skip", Overridable: []string{},
				Parameters: []Parameter{
					{Name: "memory", Type: "quantity", Default: text("64Mi"), Min: "16Mi", Max: "1Gi", Annotation: "logs.pillion.dev/memory", AtMost: "limit"},
					{Name: "limit", Type: "quantity"},
					{Name: "level", Type: "enum", Values: []string{"info", "1"}, Default: text("1")},
					{Name: "tag", Type: "string", Pattern: "[a-z]+"},
				},
				Origin: Origin{File: "log.yaml", First: 1, Exact: true},
			},
			{
				Name: "agent", Text: "spec: {}\n", Required: true, OS: "linux", Jobs: "native",
				Overridable: []string{"env", "resources", "volumeMounts", "probes", "securityContext.runAsUser", "securityContext.runAsGroup"},
				Origin:      Origin{File: "config.yaml", First: 33, Exact: true},
			},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "Places")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	places := map[string]Position{
		"templates[0].parameters[1].type":      {"config.yaml", 28},
		"templates[0].parameters[1].min":       {"config.yaml", 28},
		"aliases[all][1]":                      {"config.yaml", 12},
		"values[hub].tag":                      {"config.yaml", 15},
		"neverInjectSelector[0].matchLabels":   {"config.yaml", 8},
		"templates[1].order[3].before[0].name": {"config.yaml", 31},
		"nothing":                              {},
	}
	for path, want := range places {
		if got := got.Place(path); got != want {
			t.Errorf("Place(%s) = %v, want %v", path, got, want)
		}
	}
	if at := got.Templates[1].Origin.At(2); at != (Position{"config.yaml", 34}) {
		t.Errorf("the template's second line is at %v", at)
	}
}

func TestParseDefaults(t *testing.T) {
	got, err := Parse(files("anything.yml", head+"policy:\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		APIVersion: APIVersion, Kind: Kind, Dialect: "pillion", Policy: "enabled", NativeSidecars: "auto", Proof: "sampled",
		Places: map[string]Position{"apiVersion": {"anything.yml", 1}, "kind": {"anything.yml", 2}, "policy": {"anything.yml", 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseFindsTheConfiguration(t *testing.T) {
	template := head + "templates:\n- {name: t, file: t.yaml}\n"
	inMap := "# licence\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  t.yaml: \"spec: {}\"\n  any: |\n    " +
		strings.ReplaceAll(template, "\n", "\n    ")
	tests := map[string]struct {
		reason string
		files  map[string][]byte
		want   Origin
	}{
		"by kind":           {"the kind says it, not the name", files("z.yaml", template, "t.yaml", "spec: {}"), Origin{"t.yaml", 1, true}},
		"by kind over name": {"a template may be called config", files("z.yaml", template, "config", "a: b", "t.yaml", "spec: {}"), Origin{"t.yaml", 1, true}},
		"beside a README":   {"an example in a page is no configuration", files("c.yaml", template, "README.md", "# Use\n```yaml\nkind: InjectorConfig\n```\n", "t.yaml", "x"), Origin{"t.yaml", 1, true}},
		"a ConfigMap":       {"a quoted key has only the line where it begins", files("cm.yaml", inMap), Origin{"cm.yaml", 7, false}},
		"CRLF and BOM":      {"as Windows editors write", files("z", "\ufeff"+strings.ReplaceAll(template, "\n", "\r\n"), "t.yaml", "x"), Origin{"t.yaml", 1, true}},
		"JSON":              {"JSON is YAML", files("z", `{"apiVersion":"config.pillion.dev/v1alpha1","kind":"InjectorConfig","templates":[{"name":"t","file":"t"}]}`, "t", "x"), Origin{"t", 1, true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.files)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.Templates[0].Origin); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParseDoesNotKeepTheInput(t *testing.T) {
	given := files("config.yaml", whole, "log.yaml", "spec: {}")
	first, err := Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range given {
		for i := range text {
			text[i] = 'x'
		}
	}
	again, err := Parse(files("config.yaml", whole, "log.yaml", "spec: {}"))
	if diff := cmp.Diff(again, first); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestSiblings(t *testing.T) {
	got := Siblings([]byte(head + "unknown: 1\ntemplates:\n- {file: b}\n- {file: a}\n- {file: b}\n- {file: ../c}\n- {file: /d}\n- {file: .e}\n- {file: [f]}\n- g\n"))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "a: [", "kind: ConfigMap\ntemplates: [{file: a}]", head + "templates: {file: a}", head} {
		if got := Siblings([]byte(text)); got != nil {
			t.Errorf("Siblings(%q) = %v", text, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	_, err := Parse(files("c", head+"polici: enabled\n"))
	var faults Errors
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	first := func(word string, known []string) string { return word + " or " + known[0] }
	if got := faults.Suggest(first)[0].Hint; got != "did you mean polici or aliases?" {
		t.Errorf("got %q", got)
	}
	if faults[0].Hint != "" {
		t.Error("Suggest wrote to its receiver")
	}
}
