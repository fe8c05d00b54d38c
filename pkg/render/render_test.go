// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// compiled is a template without findings.
func compiled(tb testing.TB, text string, params ...config.Parameter) *Template {
	tb.Helper()
	t, findings := Compile(Source{Name: "proxy", Text: text, Params: params})
	if len(findings) > 0 {
		tb.Fatalf("findings: %v", findings)
	}
	return t
}

// shop is a pod in the namespace shop.
func shop() *Data {
	yes, user := true, int64(1000)
	return &Data{
		ObjectMeta: &metav1.ObjectMeta{
			Name: "web-7d9f-x2x1z", Namespace: "shop",
			Labels:      map[string]string{"app": "web"},
			Annotations: map[string]string{"example.com/level": "info"},
		},
		Spec: &corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user, RunAsNonRoot: &yes},
			Containers: []corev1.Container{
				{Name: "app", Image: "registry.example/app:1", Ports: []corev1.ContainerPort{{ContainerPort: 8080, Name: "http"}}},
				{Name: "admin", Image: "registry.example/admin:1"},
			},
		},
		DeploymentMeta: Meta{Name: "web", Namespace: "shop"},
		TypeMeta:       metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		Namespace:      Namespace{Name: "shop", Labels: map[string]string{"team": "a"}},
		Values:         map[string]any{},
		Revision:       "default",
		NativeSidecars: true,
	}
}

// rendered is the JSON of the layer that a template renders.
func rendered(tb testing.TB, t *Template, d *Data) string {
	tb.Helper()
	layer, _, err := t.Render(d)
	if err != nil {
		tb.Fatal(err)
	}
	return string(pod.Encode(layer.Tree))
}

// value is what an expression's text becomes as a YAML value of an annotation.
func value(tb testing.TB, action string, d *Data) (string, error) {
	tb.Helper()
	t, findings := Compile(Source{Name: "proxy", Text: "metadata: {annotations: {x: " + action + "}}"})
	if len(findings) > 0 {
		return "", findings[0]
	}
	layer, _, err := t.Render(d)
	if err != nil {
		return "", err
	}
	got, _ := layer.Tree["metadata"].(map[string]any)["annotations"].(map[string]any)["x"].(string)
	return got, nil
}

func refusal(tb testing.TB, err error) *reason.Refusal {
	tb.Helper()
	var r *reason.Refusal
	if !errors.As(err, &r) {
		tb.Fatalf("got %v (%T), want a refusal", err, err)
	}
	return r
}

func TestRenderReadsTheData(t *testing.T) {
	text := `
metadata:
  labels:
    mesh.example/workload: {{ .DeploymentMeta.Name | labelValue | quote }}
spec:
  containers:
  - name: proxy
    image: {{ .Values.image }}:{{ .Params.tag }}
    args:
    - --pod={{ .ObjectMeta.Name | quote }}
    {{- range $i, $c := .Spec.Containers }}
    - {{ printf "%d/%s" $i $c.Name | quote }}
    {{- range .Ports }}
    - --port={{ .ContainerPort }}
    {{- end }}
    {{- end }}
    env:
    {{- range $k, $v := .Namespace.Labels }}
    - {name: {{ $k | upper | quote }}, value: {{ $v | quote }}}
    {{- end }}
    {{- with .Values.missing.deeply }}
    workingDir: {{ . }}
    {{- end }}
    securityContext:
      runAsUser: {{ .Spec.SecurityContext.RunAsUser }}
      runAsNonRoot: {{ .Spec.SecurityContext.RunAsNonRoot }}
    {{- if .NativeSidecars }}
    restartPolicy: Always
    {{- end }}
`
	tmpl := compiled(t, text, config.Parameter{Name: "tag", Type: "enum"})
	d := shop()
	d.Values = map[string]any{"image": "registry.example/proxy"}
	d.Params = map[string]any{"tag": "v2"}
	want := `{"metadata":{"labels":{"mesh.example/workload":"web"}},"spec":{"containers":[{` +
		`"args":["--pod=\"web-7d9f-x2x1z\"","0/app","--port=8080","1/admin"],"env":[{"name":"TEAM","value":"a"}],` +
		`"image":"registry.example/proxy:v2","name":"proxy","restartPolicy":"Always",` +
		`"securityContext":{"runAsNonRoot":true,"runAsUser":1000}}]}}`
	if diff := cmp.Diff(want, rendered(t, tmpl, d)); diff != "" {
		t.Error(diff)
	}
	reads := Reads{ObjectMeta: true, Spec: true, DeploymentMeta: true, Namespace: true, Values: true, Params: true, NativeSidecars: true}
	if diff := cmp.Diff(reads, tmpl.Reads()); diff != "" {
		t.Errorf("reads: %s", diff)
	}
}

func TestRenderNothing(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "space": "\n  \n", "comment": "# nothing\n", "null": "---\n", "action": "{{ if false }}spec: {}{{ end }}"} {
		if got := rendered(t, compiled(t, text), shop()); got != "{}" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// Law: the same data gives the same bytes and the same number of steps, whatever was rendered before
// or is being rendered beside it.
func TestRenderIsDeterministic(t *testing.T) {
	text := "metadata:\n  annotations:\n" +
		"{{ range $k, $v := .ObjectMeta.Labels }}    a.{{ $k | quote }}: {{ $v | quote }}\n{{ end }}" +
		"    keys: {{ keys .ObjectMeta.Labels .Values | join \",\" | quote }}\n    json: {{ toJson .ObjectMeta.Labels | quote }}\n    yaml: {{ toYaml .Values | quote }}\n"
	text = strings.ReplaceAll(text, "    a.", "    ")
	tmpl := compiled(t, text)
	pods := make([]*Data, 8)
	want := make([]string, len(pods))
	ticks := make([]int, len(pods))
	for i := range pods {
		pods[i] = shop()
		pods[i].Values = map[string]any{"z": int64(1), "b": "x", "c": nil}
		pods[i].ObjectMeta.Labels = map[string]string{}
		for j := range 3 + i {
			pods[i].ObjectMeta.Labels[string(rune('z'-j))] = strings.Repeat("x", i)
		}
		layer, stats, err := tmpl.Render(pods[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i], ticks[i] = string(pod.Encode(layer.Tree)), stats.Ticks
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := range 200 {
				i := (n + worker) % len(pods)
				layer, stats, err := tmpl.Render(pods[i])
				if err != nil || string(pod.Encode(layer.Tree)) != want[i] || stats.Ticks != ticks[i] {
					t.Errorf("pod %d: got %v after %d ticks and %v, want %s after %d", i, layer.Tree, stats.Ticks, err, want[i], ticks[i])
					return
				}
			}
		})
	}
	group.Wait()
}

// A failed rendering leaves nothing behind for the next one.
func TestRenderAfterAFailure(t *testing.T) {
	tmpl := compiled(t, `{{ $x := 1 }}{{ with .Values.fail }}{{ $x = 2 }}spec: {{ .ObjectMeta | quote }}{{ fail (print . (list $x | len)) }}{{ end }}spec: {hostname: {{ .ObjectMeta.Name | quote }}}`)
	broken := shop()
	broken.Values["fail"] = "x"
	for range 3 {
		if _, _, err := tmpl.Render(broken); err == nil {
			t.Fatal("want a failure")
		}
		if got, want := rendered(t, tmpl, shop()), `{"spec":{"hostname":"web-7d9f-x2x1z"}}`; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestFunctionTable(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Functions() {
		if names[f.Name] || absent(f.Name) != "" {
			t.Errorf("%s is listed twice, or as left out", f.Name)
		}
		names[f.Name] = true
		if !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: %q is no sentence", f.Name, f.Doc)
		}
	}
	for _, must := range []string{"quote", "squote", "toYaml", "toJson", "fromJson", "fromYaml", "indent", "nindent", "required", "default", "labelValue", "annotation", "printf", "len", "index", "and", "or"} {
		if !names[must] {
			t.Errorf("there is no %s", must)
		}
	}
}

// params are parameters of the given names and types.
func params(pairs ...string) []config.Parameter {
	var out []config.Parameter
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, config.Parameter{Name: pairs[i], Type: pairs[i+1]})
	}
	return out
}
