// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

func TestFindings(t *testing.T) {
	type finding struct {
		Reason       reason.Reason
		Line, Column int
		Hint         string // a part of it
	}
	tests := map[string]struct {
		text string
		want []finding
	}{
		"no end":                 {"a\n{{ if true }}\n", []finding{{reason.TemplateSyntax, 3, 0, ""}}},
		"undefined variable":     {"{{ $x }}", []finding{{reason.TemplateSyntax, 1, 0, ""}}},
		"assigned, not declared": {"{{ $x = 1 }}", []finding{{reason.TemplateSyntax, 1, 4, ":="}}},
		"no such template":       {"a\n {{ template \"b\" . }}", []finding{{reason.TemplateSyntax, 2, 14, "define"}}},
		"too few arguments":      {"{{ indent 2 }}", []finding{{reason.TemplateSyntax, 1, 4, ""}}},
		"a number as function":   {"{{ 1 2 }}", []finding{{reason.TemplateSyntax, 1, 4, ""}}},
		"a private character":    {"a: \ue000", []finding{{reason.TemplateSyntax, 1, 1, ""}}},
		"every unknown function": {"{{ envv 1 }}\n{{ quoet 1 }}{{ frobnicate }}", []finding{
			{reason.TemplateFunctionUnknown, 1, 4, ""}, {reason.TemplateFunctionUnknown, 2, 4, "quote"}, {reason.TemplateFunctionUnknown, 2, 17, ""},
		}},
		"left out on purpose": {`{{ env "HOME" }}{{ now }}{{ call 1 }}{{ tpl "" . }}{{ randInt 1 2 }}{{ set dict "a" 1 }}`, []finding{
			{reason.TemplateFunctionUnknown, 1, 4, "environment"}, {reason.TemplateFunctionUnknown, 1, 20, "clock"},
			{reason.TemplateFunctionUnknown, 1, 29, "calls what the data holds"}, {reason.TemplateFunctionUnknown, 1, 41, "as a template"},
			{reason.TemplateFunctionUnknown, 1, 55, "random"}, {reason.TemplateFunctionUnknown, 1, 72, "in place"},
		}},
		"a method":                {`{{ .ObjectMeta.SetName "x" }}`, []finding{{reason.TemplateFieldUnknown, 1, 4, "methods"}}},
		"a method in a pipeline":  {`{{ "x" | .ObjectMeta.SetName }}`, []finding{{reason.TemplateFieldUnknown, 1, 10, "methods"}}},
		"a method of a variable":  {`{{ $m := .ObjectMeta }}{{ $m.SetName "x" }}`, []finding{{reason.TemplateFieldUnknown, 1, 27, "methods"}}},
		"a method without input":  {`{{ .Spec.String | quote }}`, []finding{{reason.TemplateFieldUnknown, 1, 4, "version"}}},
		"unknown root":            {"a\n b: {{ .MeshConfig.x | quote }}", []finding{{reason.TemplateFieldUnknown, 2, 8, "another version"}}},
		"unknown root by $":       {"{{ range 2 }}{{ $.Valuse.x }}{{ end }}", []finding{{reason.TemplateFieldUnknown, 1, 17, "Values"}}},
		"unknown field of spec":   {"{{ range .Spec.Containers }}{{ .Imaeg | quote }}{{ end }}", []finding{{reason.TemplateFieldUnknown, 1, 32, "Image"}}},
		"unknown field in define": {`{{ define "a" }}{{ .Foo | quote }}{{ end }}{{ template "a" .Spec }}`, []finding{{reason.TemplateFieldUnknown, 1, 20, ""}}},
		"a field of a text":       {"{{ .Revision.x }}", []finding{{reason.TemplateFieldUnknown, 1, 4, ""}}},
		"undeclared parameter":    {"{{ .Params.memoyr | quote }}", []finding{{reason.TemplateFieldUnknown, 1, 4, "memory"}}},
		"nil as a command":        {"{{ nil }}", []finding{{reason.TemplateSyntax, 1, 4, ""}}},
		"too deep":                {strings.Repeat("{{ if 1 }}", 300) + strings.Repeat("{{ end }}", 300), []finding{{reason.TemplateLimit, 1, 1007, ""}}},
		"too many actions":        {strings.Repeat("{{ 1 }}", 10_001), []finding{{reason.TemplateLimit, 0, 0, "split"}}},
		"too long":                {strings.Repeat("a", 1<<18+1), []finding{{reason.TemplateLimit, 0, 0, "split"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tmpl, findings := Compile(Source{Name: "x", Text: test.text, Params: params("memory", "quantity")})
			if tmpl != nil {
				t.Error("a template in spite of findings")
			}
			var got []finding
			for i, f := range findings {
				hint := f.Hint
				if i < len(test.want) && test.want[i].Hint != "" && strings.Contains(hint, test.want[i].Hint) {
					hint = test.want[i].Hint
				}
				if i < len(test.want) && test.want[i].Hint == "" {
					hint = ""
				}
				got = append(got, finding{f.Reason, f.Line, f.Column, hint})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, findings)
			}
		})
	}
}

func TestFindingNamesThePlace(t *testing.T) {
	_, findings := Compile(Source{Name: "agent", File: "agent.yaml", Text: "spec:\n  hostname: {{ .ObjectMeta.Name }}\n"})
	want := []Finding{{
		Reason: reason.TemplateUnquoted, Template: "agent", File: "agent.yaml", Line: 2, Column: 16,
		Detail: "{{ .ObjectMeta.Name }} places text that a pod controls into YAML", Hint: "write {{ .ObjectMeta.Name | quote }}",
	}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Fatal(diff)
	}
	text := "INJ333 template_unquoted: agent.yaml:2:16: {{ .ObjectMeta.Name }} places text that a pod controls into YAML"
	if diff := cmp.Diff(text, findings[0].Error()); diff != "" {
		t.Error(diff)
	}
}

func TestUnquoted(t *testing.T) {
	clean := []string{
		`{{ .Values.a.b }}`, `{{ .Revision }}{{ .NativeSidecars }}`, `{{ printf "%s-%s" .Values.a .Revision | upper }}`, `{{ "x" }}{{ 1 }}`,
		`{{ .ObjectMeta.Name | quote }}`, `{{ quote .ObjectMeta.Name }}`, `{{ .ObjectMeta.Name | trunc 5 | squote }}`, `{{ toJson .ObjectMeta.Labels }}`,
		`{{ toYaml .ObjectMeta.Labels | nindent 4 }}`, `{{ .ObjectMeta.Labels | toYaml | indent 2 | nindent 4 }}`, `{{ len .ObjectMeta.Name }}`,
		`{{ eq .ObjectMeta.Name "x" }}`, `{{ .ObjectMeta.Name | int }}`, `{{ .Spec.HostNetwork }}`, `{{ .Spec.SecurityContext.RunAsUser }}`,
		`{{ range .Spec.Containers }}{{ range .Ports }}{{ .ContainerPort }}{{ end }}{{ end }}`, `{{ range $i, $c := .Spec.Containers }}{{ $i }}{{ end }}`,
		`{{ $x := .Values.a }}{{ $x }}`, `{{ range .Values.list }}{{ . }}{{ end }}`, `{{ range $k, $v := .Values.map }}{{ $k }}{{ $v.x }}{{ end }}`,
		`{{ with .Values.a }}{{ . }}{{ $.Values.b }}{{ end }}`, `{{ define "a" }}{{ .x }}{{ end }}{{ template "a" .Values }}`, `{{ .Params.n }}{{ .Params.q }}{{ .Params.e }}{{ .Params.i }}`,
		`{{ if .ObjectMeta.Name }}a{{ end }}`, `{{ define "never" }}{{ .ObjectMeta.Name }}{{ end }}`, `{{ $x := .ObjectMeta.Name }}{{ $x | quote }}`,
		`{{ ternary "a" "b" (eq .ObjectMeta.Name "x") }}`, `{{ .ObjectMeta.Name | default "x" | quote }}`,
	}
	tainted := []string{
		`{{ .ObjectMeta.Name }}`, `{{ .ObjectMeta.Name | upper }}`, `{{ .ObjectMeta.Name | quote | upper }}`, `{{ print "a" (.ObjectMeta.Name | quote) }}`, `{{ .DeploymentMeta.Name }}`,
		`{{ .Namespace.Name }}`, `{{ .TypeMeta.Kind }}`, `{{ .Spec.NodeName }}`, `{{ index .ObjectMeta.Annotations "a" }}`, `{{ annotation .ObjectMeta "a" "b" }}`,
		`{{ range .Spec.Containers }}{{ .Name }}{{ end }}`, `{{ range $k, $v := .ObjectMeta.Labels }}{{ $k }}{{ end }}`, `{{ with .Namespace }}{{ .Name }}{{ end }}`,
		`{{ $x := .ObjectMeta.Name }}{{ $x }}`, `{{ $x := "" }}{{ if true }}{{ $x = .ObjectMeta.Name }}{{ end }}{{ $x }}`, `{{ $x := .ObjectMeta.Name | quote }}{{ $x }}`,
		`{{ $x := "" }}{{ range 2 }}{{ $x }}{{ $x = $.ObjectMeta.Name }}{{ end }}`, `{{ define "a" }}{{ . }}{{ end }}{{ template "a" .Values }}{{ template "a" .Revision }}{{ template "a" .ObjectMeta.Name }}`,
		`{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ .Name }}{{ end }}{{ template "a" .Namespace }}`, `{{ .Params.s }}`, `{{ .Params.c }}`, `{{ index .Params "n" }}`,
		`{{ default .ObjectMeta.Name "" }}`, `{{ or .Values.a .ObjectMeta.Name }}`, `{{ printf "%s" .ObjectMeta.Name }}`, `{{ .ObjectMeta.Name | indent 2 }}`, `{{ (dict "a" .ObjectMeta.Name).a }}`,
		`{{ sha256sum .ObjectMeta.Name }}`, `{{ labelValue .ObjectMeta.Name }}`, `{{ $x := dict "a" .Namespace }}{{ $x.a.Name }}`, `{{ (fromJson .ObjectMeta.Name).x }}`, `{{ or (.ObjectMeta.Name | quote) "a" }}`,
		`{{ block "a" .ObjectMeta }}{{ .Name }}{{ end }}`, `{{ with $x := .ObjectMeta.Name }}{{ end }}{{ with $y := .ObjectMeta }}{{ $y.Name }}{{ end }}`, `{{ index .ObjectMeta.Annotations "mesh.example/proxy-image" }}`,
		`{{ define "a" }}{{ $ }}{{ end }}{{ template "a" .ObjectMeta.Name }}`, `{{ range $x := .ObjectMeta.OwnerReferences }}{{ $x.Name }}{{ end }}`,
	}
	types := params("n", "int", "q", "quantity", "e", "enum", "i", "image", "s", "string", "c", "cidrs")
	for _, text := range clean {
		if _, findings := Compile(Source{Name: "x", Text: text, Params: types}); len(findings) > 0 {
			t.Errorf("%s: %v", text, findings)
		}
	}
	for _, text := range tainted {
		_, findings := Compile(Source{Name: "x", Text: text, Params: types})
		if len(findings) != 1 || findings[0].Reason != reason.TemplateUnquoted {
			t.Errorf("%s: got %v, want it to be unquoted", text, findings)
		}
		if _, findings := Compile(Source{Name: "x", Text: text, Params: types, Bare: true}); len(findings) > 0 {
			t.Errorf("%s, where that is permitted: %v", text, findings)
		}
	}
}

func TestOwnFunctions(t *testing.T) {
	calls := 0
	source := Source{Name: "x", Text: `metadata: {annotations: {x: {{ twice "a" 2 | quote }}, y: {{ names .Spec.Containers | quote }}}}`, Funcs: map[string]any{
		"twice": func(text string, n int32) (string, error) { calls++; return strings.Repeat(text, int(n)), nil },
		"names": func(containers any) string { return kindOf(containers) },
	}}
	tmpl, findings := Compile(source)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if got, want := rendered(t, tmpl, shop()), `{"metadata":{"annotations":{"x":"aa","y":"slice"}}}`; got != want || calls != 1 {
		t.Errorf("got %s after %d calls, want %s", got, calls, want)
	}
	source.Text = `{{ $x := twice "a" 100000 }}`
	tmpl, _ = Compile(source)
	_, _, err := tmpl.Render(shop())
	if r := refusal(t, err); r.Reason != reason.TemplateLimit {
		t.Errorf("got %v, want a limit", r)
	}
	for name, fn := range map[string]any{"no function": 1, "no result": func() {}, "three results": func() (int, int, error) { return 0, 0, nil }} {
		if _, findings := Compile(Source{Name: "x", Funcs: map[string]any{"f": fn}}); len(findings) != 1 {
			t.Errorf("%s: got %v, want a finding", name, findings)
		}
	}
}
