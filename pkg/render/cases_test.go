// SPDX-License-Identifier: Apache-2.0

package render

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// A null limit is no limit: the key is absent, never 0 and never null.
func TestNullResources(t *testing.T) {
	tmpl := compiled(t, `spec:
  containers:
  - name: proxy
    image: registry.example/mesh/proxy:1
    resources:
{{ toYaml .Values.proxy.resources | indent 6 }}
`)
	type m = map[string]any
	tests := map[string]struct {
		resources any
		want      string
	}{
		"a null limit":    {m{"requests": m{"cpu": "100m", "memory": "64Mi"}, "limits": m{"cpu": nil, "memory": "256Mi"}}, `"resources":{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"64Mi"}}`},
		"null requests":   {m{"requests": nil, "limits": nil}, `"resources":{}`},
		"null resources":  {nil, ``},
		"an explicit 0":   {m{"requests": m{"cpu": "0"}, "limits": m{"memory": int64(0)}}, `"resources":{"limits":{"memory":0},"requests":{"cpu":"0"}}`},
		"empty resources": {m{}, `"resources":{}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := shop()
			d.Values = m{"proxy": m{"resources": test.resources}}
			want := `{"spec":{"containers":[{"image":"registry.example/mesh/proxy:1","name":"proxy"}]}}`
			if test.want != "" {
				want = strings.Replace(want, `"proxy"}`, `"proxy",`+test.want+`}`, 1)
			}
			if diff := cmp.Diff(want, rendered(t, tmpl, d)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLabelValue(t *testing.T) {
	long := "warehouse-replenishment-forecast-nightly-recalculation-worker-eu-central"
	tests := map[string]string{
		"":                                "",
		"web":                             "web",
		"web-":                            "web",
		"...":                             "",
		strings.Repeat("a", 63):           strings.Repeat("a", 63),
		strings.Repeat("a", 64):           strings.Repeat("a", 54) + "-ffe054fe",
		long:                              "warehouse-replenishment-forecast-nightly-recalculation-",
		strings.Repeat("a", 62) + ".work": strings.Repeat("a", 54) + "-",
		strings.Repeat("c", 52) + "---tail-and-more": strings.Repeat("c", 52) + "-",
		"a b/c": "a-b-c-",
		"é":     "",
	}
	valid := regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
	for text, want := range tests {
		got := labelValue(text)
		if !strings.HasPrefix(got, want) || len(got) > 63 || !valid.MatchString(got) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if labelValue(long) == labelValue(long+"-2") || labelValue("a/b") == labelValue("a:b") {
		t.Error("two names have the same value")
	}
}

// The two unsafe templates: one pastes annotations into YAML, one quotes them.
func TestAnnotationsThatInjectYAML(t *testing.T) {
	_, findings := Compile(Source{Name: "raw", Text: `spec:
  containers:
  - name: proxy
    image: {{ index .ObjectMeta.Annotations "mesh.example/proxy-image" }}
    args: ["--level", {{ index .ObjectMeta.Annotations "mesh.example/log-level" }}]
`})
	if len(findings) != 2 || findings[0].Reason != reason.TemplateUnquoted || findings[0].Line != 4 || findings[1].Line != 5 {
		t.Errorf("got %v", findings)
	}
	tmpl := compiled(t, `spec:
  containers:
  - name: proxy
    image: {{ index .ObjectMeta.Annotations "mesh.example/proxy-image" | quote }}
    args: ["--level", {{ index .ObjectMeta.Annotations "mesh.example/log-level" | quote }}]
`)
	for _, text := range hostile {
		d := shop()
		d.ObjectMeta = &metav1.ObjectMeta{Annotations: map[string]string{"mesh.example/proxy-image": text, "mesh.example/log-level": text}}
		layer, _, err := tmpl.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "proxy", "image": text, "args": []any{"--level", text}}}}}
		if diff := cmp.Diff(want, layer.Tree); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestNullAndTypes(t *testing.T) {
	const text = `spec:
  containers:
  - name: proxy
    image: {{ .Values.proxy.image }}
    {{- if ne .Values.proxy.mode "off" }}
    args: [{{ .Values.proxy.mode | quote }}]
    {{- end }}
    readinessProbe:
      failureThreshold: {{ .Values.proxy.threshold }}
      tcpSocket: {port: 15021}
    {{- with .Values.proxy.resources }}
    resources:
{{ toYaml . | indent 6 }}
    {{- end }}
`
	type m = map[string]any
	const image = "registry.example/p:1"
	tests := map[string]struct {
		proxy any
		want  string
	}{
		"well":           {m{"image": image, "mode": "fast", "threshold": int64(30)}, `{"spec":{"containers":[{"args":["fast"],"image":"registry.example/p:1","name":"proxy","readinessProbe":{"failureThreshold":30,"tcpSocket":{"port":15021}}}]}}`},
		"null mode":      {m{"image": image, "mode": nil, "threshold": int64(30)}, `INJ304 template_failed: templates[proxy]: proxy:5:12: ne: .Values.proxy.mode is null or missing, and cannot be compared`},
		"not a number":   {m{"image": image, "mode": "fast", "threshold": "many"}, `INJ305 template_output_invalid: spec.containers[0].readinessProbe.failureThreshold: template "proxy", line 7 of what it renders: want an integer of 32 bits, got "many"`},
		"none":           {m{"image": image, "mode": "fast"}, `INJ304 template_failed: templates[proxy]: proxy:9:28: .Values.proxy.threshold is null or missing`},
		"a bool":         {false, `INJ304 template_failed: templates[proxy]: proxy:4:15: .Values.proxy.image: false has no field image`},
		"a map":          {m{"image": m{"a": "b"}, "mode": "fast"}, `INJ304 template_failed: templates[proxy]: proxy:4:15: .Values.proxy.image is an object, which cannot be placed as text`},
		"a list":         {m{"image": []any{"b"}, "mode": "fast"}, `INJ304 template_failed: templates[proxy]: proxy:4:15: .Values.proxy.image is a list, which cannot be placed as text`},
		"off":            {m{"image": image, "mode": "off", "threshold": int64(1), "resources": m{}}, `{"spec":{"containers":[{"image":"registry.example/p:1","name":"proxy","readinessProbe":{"failureThreshold":1,"tcpSocket":{"port":15021}}}]}}`},
		"a wrong number": {m{"image": image, "mode": int64(1)}, `INJ304 template_failed: templates[proxy]: proxy:5:12: ne: .Values.proxy.mode is 1 and "off" is "off", which cannot be compared`},
	}
	tmpl := compiled(t, text)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := shop()
			d.Values = m{"proxy": test.proxy}
			var got string
			if _, _, err := tmpl.Render(d); err != nil {
				got = err.Error()
			} else {
				got = rendered(t, tmpl, d)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheTemplateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{{ fail "no agent for this pod" }}`:          `proxy:1:4: no agent for this pod`,
		`{{ required "set values.image" .Values.x }}`: `proxy:1:4: set values.image`,
	} {
		_, _, err := compiled(t, text).Render(shop())
		if r := refusal(t, err); r.Reason != reason.TemplateRefused || r.Detail != want {
			t.Errorf("%s: got %v %q, want %q", text, r.Reason, r.Detail, want)
		}
	}
}

func TestRuntimeFaultsNameTheirPlace(t *testing.T) {
	tests := map[string]string{
		`{{ "a" | trunc "b" }}`:                 `proxy:1:10: trunc: "b" is "b"; want a whole number`,
		`{{ .Values.x | trim }}`:                `proxy:1:16: trim: .Values.x is null or missing; want a text`,
		`{{ 5 | trim }}`:                        `proxy:1:8: trim: 5 is 5; want a text`,
		`{{ index (list 1) 3 }}`:                `proxy:1:4: index: 3 is 3, which is out of range`,
		`{{ range .Revision }}{{ end }}`:        `proxy:1:10: .Revision is "default", and range takes a list, an object or a number`,
		`{{ div 1 0 }}`:                         `proxy:1:4: div: runtime error: integer divide by zero`,
		`{{ fromJson "{" }}`:                    `proxy:1:4: fromJson: "{" is no JSON: `,
		`{{ fromYaml "a: [" }}`:                 `proxy:1:4: fromYaml: "a: [": line 1: no YAML: `,
		`{{ regexMatch "(" "" }}`:               `proxy:1:4: regexMatch: error parsing regexp: `,
		`{{ printf "%p" 1 }}`:                   `proxy:1:4: printf: the verb %p is not to be had in the format "%p"`,
		`{{ printf "%d" "x" }}`:                 `proxy:1:4: printf: the format "%d" does not fit the arguments`,
		`{{ toJson . }}`:                        `proxy:1:4: toJson: the data as a whole cannot be encoded`,
		`{{ lt nil 1 }}`:                        `proxy:1:4: lt: nil is null or missing; want a number or a text`,
		`{{ lt true false }}`:                   `proxy:1:4: lt: true is true; want a number or a text`,
		`{{ (dict "a" .Spec).a.Nope | quote }}`: `proxy:1:20: (dict "a" .Spec).a.Nope: there is no field Nope`,
		"{{ print .Values.text }}":              `proxy:1:4: print .Values.text holds U+E000 or U+E001, which templates must not place unquoted`,
		`{{ define "a" }}{{ .x.y.z }}{{ end }}` + "\n" + `{{ template "a" (dict "x" 1) }}`: `proxy:1:20: .x.y.z: 1 has no field y`,
	}
	for text, want := range tests {
		d := shop()
		d.Values["text"] = "\ue000"
		_, _, err := compiled(t, text).Render(d)
		r := refusal(t, err)
		if r.Reason != reason.TemplateFailed || r.Path != "templates[proxy]" || !strings.HasPrefix(r.Detail, want) {
			t.Errorf("%s: got %v %q %q, want %q", text, r.Reason, r.Path, r.Detail, want)
		}
	}
}
