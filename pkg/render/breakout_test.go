// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// hostile are texts that would change a document into which they are pasted.
var hostile = []string{
	"", " ", "a", "\n", "\r\n", "\t", "a\nb", "x\n  - name: extra\n    image: registry.example/extra:1\n    securityContext: {privileged: true}",
	"info\", \"--admin=0.0.0.0", "info', '--admin=0.0.0.0", "a, --admin", "a]", "a}", "{a: b}", "[a, b]", "a: b", "a:", ": a", "a #b", "# a", "- a", "-",
	"---", "---\nspec: {}", "...\n---\n", "*anchor", "&anchor a", "<<", "!!int", "!!binary aGk=", "!x y", "| a", "> a", "%YAML 1.1", "@a", "`a`", "? a",
	"yes", "no", "on", "true", "null", "~", "1e3", "0o17", "0x1F", "017", "1_000", "-1", ".5", ".inf", ".nan", "2001-12-14", "12:30:45", "=",
	"{{ .Values.secret }}", "{{", "}}", "$(VAR)", "${VAR}", "`id`", "$(id)", "a\\", "\\n", "\\\"", `"`, `'`, `''`, "\"\"", "\\u0000",
	"\x00", "\x01", "\x1b[31m", "\x7f", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\ue000", "\ue0000\ue001", "\ue001", "\U0001F600", "é",
	strings.Repeat("a", 5000), strings.Repeat("\n", 1000), strings.Repeat(`"`, 1000), "a\n\n  b", " a", "a ", "a\u200b",
}

// places quotes a pod's text in every context of YAML. The containers' names tell the kinds: those
// of whole hold the text itself in their first argument.
const places = `
metadata:
  annotations:
    double: {{ .ObjectMeta.Annotations.x | quote }}
    single: {{ .ObjectMeta.Annotations.x | squote }}
    json: {{ .ObjectMeta.Annotations.x | toJson }}
    yaml: {{ .ObjectMeta.Annotations.x | toYaml }}
    'nested': {{ toYaml .ObjectMeta.Annotations.x | indent 3 | nindent 4 }}
    flow: {{ printf "%s" .ObjectMeta.Annotations.x | quote }} # {{ .ObjectMeta.Annotations.x | quote }}
spec:
  containers:
  - name: block
    args:
    - {{ .ObjectMeta.Annotations.x | quote }}
    - --x={{ .ObjectMeta.Annotations.x | quote }}
    - 'x {{ .ObjectMeta.Annotations.x | quote }}'
    - |
      {"a": {{ .ObjectMeta.Annotations.x | quote }},
      "b": {{ .ObjectMeta.Annotations.x | squote }}}
    - >-
      x {{ .ObjectMeta.Annotations.x | toJson }}
    - '{{ .ObjectMeta.Annotations | toJson }}'
  - {name: flow, args: [{{ .ObjectMeta.Annotations.x | quote }}, --x={{ .ObjectMeta.Annotations.x | quote }}, -y={{ .ObjectMeta.Annotations.x | squote }}]}
  nodeSelector:
    {{ .ObjectMeta.Annotations.x | quote }}: x
    {{- toYaml .ObjectMeta.Labels | nindent 4 }}
`

// checkPlaces checks that the layer has the template's shape, and the text in its places.
func checkPlaces(t *testing.T, tmpl *Template, text string) {
	t.Helper()
	d := shop()
	d.ObjectMeta = &metav1.ObjectMeta{Annotations: map[string]string{"x": text}, Labels: map[string]string{"l:" + text: text}}
	layer, _, err := tmpl.Render(d)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	quoted := string(appendQuoted(nil, text, false))
	single := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	want := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"double": text, "single": text, "json": text, "yaml": text, "nested": text, "flow": text}},
		"spec": map[string]any{
			"containers": []any{
				map[string]any{"name": "block", "args": []any{
					text, "--x=" + quoted, "x " + quoted, "{\"a\": " + quoted + ",\n\"b\": " + single + "}\n", "x " + quoted, `{"x":` + quoted + "}",
				}},
				map[string]any{"name": "flow", "args": []any{text, "--x=" + quoted, "-y=" + single}},
			},
			"nodeSelector": map[string]any{text: "x", "l:" + text: text},
		},
	}
	if diff := cmp.Diff(any(want), any(layer.Tree)); diff != "" {
		t.Errorf("%q: %s", text, diff)
	}
}

func TestBreakOut(t *testing.T) {
	tmpl := compiled(t, places)
	for _, text := range hostile {
		checkPlaces(t, tmpl, text)
	}
}

// Law: whatever text a pod brings and wherever a template quotes it, the layer has the shape that
// the template gives it, and the text arrives as it was.
func FuzzRender(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	tmpl := compiled(f, places)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 5000 {
			return // JSON holds no other text, and the bounds have their own test
		}
		checkPlaces(t, tmpl, text)
	})
}

// evil marks all text that the pod controls.
const evil = "¤"

func evilPod() *Data {
	d := shop()
	d.ObjectMeta = &metav1.ObjectMeta{
		Name: evil, GenerateName: evil, Namespace: evil, Labels: map[string]string{evil: evil, "app": evil},
		Annotations: map[string]string{evil: evil, "x": evil}, OwnerReferences: []metav1.OwnerReference{{Name: evil, Kind: evil}},
	}
	for i := range d.Spec.Containers {
		d.Spec.Containers[i].Name, d.Spec.Containers[i].Image = evil, evil
	}
	d.DeploymentMeta = Meta{evil, evil}
	d.Namespace = Namespace{evil, map[string]string{evil: evil}, map[string]string{evil: evil}}
	d.TypeMeta = metav1.TypeMeta{APIVersion: evil, Kind: evil}
	d.Params = map[string]any{"text": evil, "n": int64(3)}
	return d
}

// Law: any text is compiled or found fault with, within bounds; and what compiles renders a layer
// or is refused, and never lets a pod's text meet the YAML parser.
func FuzzCompile(f *testing.F) {
	f.Add(sidecar)
	f.Add(places)
	for _, text := range bombs() {
		if len(text) < 300 {
			f.Add(text)
		}
	}
	for _, text := range []string{
		`{{ range $k, $v := .ObjectMeta.Labels }}{{ $v | quote }}{{ end }}`, `{{ $x := .Values.a }}{{ range .Spec.Containers }}{{ $x }}{{ $x = .Name }}{{ end }}`,
		`{{ define "a" }}{{ . }}{{ end }}{{ template "a" .Values }}{{ template "a" .Namespace.Name }}`, `{{ with $y := .Namespace }}{{ $y.Name | toJson | indent 2 }}{{ end }}`,
		`{{ .Params.n }}{{ .Params.text | quote }}`, `{{ (index .Spec.Containers 0).Name | quote }}`, `{{ or .Values.a .ObjectMeta.Name | quote }}`, `{{ default .ObjectMeta.Name "" | squote }}`,
		`{{ .ObjectMeta.Name | printf "%s" | upper | nindent 2 }}`, `{{ kindOf .Spec }}{{ len .ObjectMeta.Labels }}{{ .Spec.HostNetwork }}`, `{{ if eq .ObjectMeta.Name "x" }}{{ else if true }}{{ else }}{{ end }}`,
		`{{ block "b" .Spec }}{{ .NodeName | quote }}{{ end }}`, `spec: {containers: [{name: {{ .ObjectMeta.Name | quote }}}]}`, `{{- /* c */ -}} {{ break }}`, `{{ range 3 }}{{ if . }}{{ continue }}{{ end }}{{ break }}{{ end }}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, findings := Compile(Source{Name: "fuzz", Text: text, Params: params("text", "string", "n", "int")})
		if (tmpl == nil) != (len(findings) > 0) {
			t.Fatalf("a template with findings, or none without: %v", findings)
		}
		if tmpl == nil {
			return
		}
		d := evilPod()
		r := tmpl.begin()
		if tmpl.main.exec(r, d) == nil && strings.Contains(string(r.out), evil) && !strings.Contains(text, evil) {
			t.Errorf("a pod's text is in the output: %s", r.out)
		}
		layer, stats, err := tmpl.Render(d)
		if err != nil {
			refusal(t, err)
			return
		}
		if stats.Ticks > MaxTicks || stats.Output > MaxOutput {
			t.Errorf("beyond the bounds: %+v", stats)
		}
		if faults := pod.Schema().Check(layer.Tree); faults != nil {
			t.Errorf("no layer: %v", faults)
		}
	})
}
