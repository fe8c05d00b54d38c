// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// lintOptions are those of an injector in a cluster.
var lintOptions = inject.Options{Revision: "default"}

// lines are findings, one a line.
func lines(list []inject.Finding) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Error())
	}
	return strings.Join(out, "\n")
}

func TestLint(t *testing.T) {
	sidecar := func(body string) string {
		return "policy: enabled\ntemplates:\n  sidecar: |\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n"
	}
	tests := map[string]struct {
		reason, config   string
		faults, warnings string
	}{
		"clean":           {"nothing to say", sidecar("metadata: {annotations: {a.example/b: {{ .Values.global.hub }}}}"), "", ""},
		"runs into":       {"the line and the path", sidecar("metadata: {}\nspec: {hostname: {{ .Values.null.name }}}"), "config:5: INJ304 template sidecar: on a sample pod: .Values.null.name: nil pointer evaluating interface {}.name: .Values.null is null", ""},
		"no pod":          {"the path in the pod", sidecar("spec: {hostNetwork: maybe}"), `config:4: INJ305 template sidecar: spec.hostNetwork: on a sample pod: want true or false, got "maybe"`, ""},
		"unknown field":   {"it would be left out in silence", sidecar("spec: {hostnmae: a}"), "", "config:4: INJ305 template sidecar: spec.hostnmae: sets a field that is unknown here; it was left out"},
		"refuses":         {"that is its own affair", sidecar("{{ fail \"no\" }}"), "", ""},
		"classic only":    {"nodes decide", sidecar("spec: {hostname: {{ if .NativeSidecars }}a{{ else }}[a]{{ end }}}"), "", `config:4: INJ305 template sidecar: spec.hostname: where a node runs no native sidecars, on a sample pod: want a string, got a list`},
		"allowed env":     {"it answers its default", sidecar("metadata: {annotations: {a.example/b: {{ env \"A\" \"b\" }}}}"), "", ""},
		"policy":          {"nothing is injected, and the template is tried", "policy: maybe\ntemplates: {sidecar: 'spec: 3'}", `config:2: INJ305 template sidecar: spec: on a sample pod: want an object, got 3`, `config:1: INJ330 policy: it is "maybe", want enabled or disabled: nothing is injected`},
		"misspelt":        {"a field that nothing reads", "polici: enabled\npolicy: enabled\ntemplates: {sidecar: ''}", "", "config:1: INJ330 polici: an unknown field, which nothing reads"},
		"missing value":   {"it is written as <no value>", sidecar("metadata: {annotations: {a.example/b: {{ .Values.global.none }}}}"), "", "config:4: INJ304 template sidecar: .Values.global.none: there is no such value, and the template writes <no value> in its place"},
		"missing, by $":   {"the data's own name", sidecar("{{ with .Values.global.hub }}#{{ $.Values.none.x }}{{ end }}"), "", "config:4: INJ304 template sidecar: .Values.none.x: there is no such value, and the template writes <no value> in its place"},
		"asked for":       {"a template asks whether it is there", sidecar("{{ if .Values.none }}{{ .Values.none.x }}{{ end }}{{ with .Values.global.none }}{{ .Values.none }}{{ end }}"), "", ""},
		"asked otherwise": {"the other branch is not guarded", sidecar("{{ if .Values.none }}{{ else }}#{{ .Values.none.x }}{{ end }}"), "", "config:4: INJ304 template sidecar: .Values.none.x: there is no such value, and the template writes <no value> in its place"},
		"piped":           {"the function decides", sidecar("spec: {hostname: {{ .Values.none | default \"a\" }}}"), "", ""},
		"printed":         {"a function writes <nil>", sidecar("#{{ annotation .ObjectMeta `a` .Values.none | quote }}\n#{{ quote (printf `%s` .Values.global.none) }}"), "", "config:4: INJ304 template sidecar: .Values.none: there is no such value, and the template writes <nil> in its place\nconfig:5: INJ304 template sidecar: .Values.global.none: there is no such value, and the template writes <nil> in its place"},
		"kept":            {"a variable may be asked for first", sidecar("{{ $a := annotation .ObjectMeta `a` .Values.none }}{{ if $a }}#{{ end }}"), "", ""},
		"other dot":       {"it is not the data", sidecar("{{ range .Values.list }}{{ .Values.none }}{{ end }}"), "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Parse(filesOf(map[string]string{"config": tc.config, "values": `{"global": {"hub": "a"}, "null": null, "list": []}`}))
			if err != nil {
				t.Fatal(err)
			}
			faults, warnings := Lint(c, lintOptions)
			if diff := cmp.Diff(tc.faults, lines(faults)); diff != "" {
				t.Errorf("%s: faults (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.warnings, lines(warnings)); diff != "" {
				t.Errorf("%s: warnings (-want +got)\n%s", tc.reason, diff)
			}
			if _, err := New(c, lintOptions); (err != nil) != (tc.faults != "") && knownPolicy(c.Policy) {
				t.Errorf("New and Lint disagree: %v", err)
			}
		})
	}
}

func TestMeaningsNameNoNativeKey(t *testing.T) {
	all := meanings()
	for _, r := range reason.All() {
		if text, ok := all[r]; ok && (strings.Contains(text, "pillion.dev") || strings.Contains(text, "allowHostNetwork")) {
			t.Errorf("%s: %s", r.ID(), text)
		}
	}
	// Whatever a rule of the dialect can decide has a meaning in its words.
	for _, r := range []reason.Reason{
		reason.MirrorPod, reason.HostNetwork, reason.OwnNamespace, reason.ProtectedNamespace, reason.PolicyDisabled, reason.PodEnabled,
		reason.PodDisabled, reason.PodLabelInvalid, reason.NeverSelector, reason.AlwaysSelector, reason.PolicyEnabled, reason.AlreadyInjected, reason.UnknownTemplate,
	} {
		if all[r] == "" && (strings.Contains(r.Doc(), "pillion.dev") || strings.Contains(r.Doc(), "allowHostNetwork")) {
			t.Errorf("%s has no meaning of its own: %s", r.ID(), r.Doc())
		}
	}
}

func TestTraceShowsEveryStep(t *testing.T) {
	c, err := Parse(filesOf(map[string]string{
		"config": "policy: enabled\ntemplates: {sidecar: 'spec: {containers: [{name: istio-proxy, image: a}]}'}",
		"values": `{"global": {"network": "north"}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(c, lintOptions)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := pod.Parse([]byte(`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"b"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	facts := inject.Facts{Namespace: "shop", Selected: true}
	plain, err := e.Inject(doc, facts)
	if err != nil {
		t.Fatal(err)
	}
	facts.Trace = true
	traced, err := e.Inject(doc, facts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain.Patch, traced.Patch); diff != "" {
		t.Errorf("a trace changes the result:\n%s", diff)
	}
	var names []string
	for _, s := range traced.Stages {
		names = append(names, s.Name)
	}
	want := "[templates overrides cluster and network metrics status order]"
	if got := fmt.Sprint(names); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
