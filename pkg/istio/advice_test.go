// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// injectedBy injects a pod with one template, and gives the result.
func injectedBy(t *testing.T, template, text string, f inject.Facts) (inject.Result, error) {
	t.Helper()
	c, err := Parse(filesOf(map[string]string{
		"config": "policy: enabled\ntemplates:\n  sidecar: |\n    " + strings.ReplaceAll(template, "\n", "\n    ") + "\n", "values": "{}",
	}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(c, lintOptions)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := pod.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	f.Namespace, f.Selected = "shop", true
	return e.Inject(doc, f)
}

func TestAdvice(t *testing.T) {
	const native = "spec: {initContainers: [{name: istio-proxy, image: a, restartPolicy: Always}]}"
	const classic = "spec: {containers: [{name: istio-proxy, image: a}]}"
	job := inject.Facts{Owner: &inject.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "once"}}
	const plain = "metadata: {name: a}\nspec: {containers: [{name: app, image: b}]}"
	long := strings.Repeat("a", 64)
	tests := map[string]struct {
		reason, template, pod string
		facts                 inject.Facts
		want                  []string
	}{
		"nothing":         {"a pod like any", classic, plain, inject.Facts{}, nil},
		"windows":         {"its node has no Linux", classic, "metadata: {name: a}\nspec: {os: {name: windows}, containers: [{name: app, image: b}]}", inject.Facts{}, []string{"INJ113 spec.os.name: the pod is bound to windows, and the proxy runs on Linux"}},
		"no proxy":        {"other templates may run there", "spec: {containers: [{name: agent, image: a}]}", "metadata: {name: a}\nspec: {os: {name: windows}, containers: [{name: app, image: b}]}", inject.Facts{}, nil},
		"job":             {"the proxy runs for ever", classic, plain, job, []string{"INJ204 spec.containers[istio-proxy]: no native sidecar: the Job will not complete while it runs"}},
		"job, native":     {"the kubelet ends the proxy", native, plain, job, nil},
		"pull secrets":    {"the first ones keep others out", "spec: {imagePullSecrets: [{name: mesh}]}", plain, inject.Facts{}, []string{"INJ205 spec.imagePullSecrets: added here, so the service account's own will not be"}},
		"pull secrets, 2": {"the pod has its own", "spec: {imagePullSecrets: [{name: mesh}]}", "metadata: {name: a}\nspec: {imagePullSecrets: [{name: b}], containers: [{name: app, image: b}]}", inject.Facts{}, nil},
		"long label":      {"the API server would not name the template", "metadata: {labels: {a: {{ .DeploymentMeta.Name }}}}", "metadata: {name: " + long + "}\nspec: {containers: [{name: app, image: b}]}", inject.Facts{}, []string{"INJ310 metadata.labels[a]: the API server will refuse it: must be no more than 63 bytes"}},
		"author's label":  {"it is not the template's", classic, "metadata: {name: a, labels: {a: " + long + "}}\nspec: {containers: [{name: app, image: b}]}", inject.Facts{}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := injectedBy(t, tc.template, tc.pod, tc.facts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range r.Warnings {
				got = append(got, w.Text())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !r.Decision.Inject {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// An annotation cannot bring YAML of its own, whatever the template's author forgot.
func TestSeveralLinesAreNotYAML(t *testing.T) {
	const smuggled = "metadata:\n  name: a\n  annotations: {a.example/image: \"b\\n  - {name: evil, image: c}\"}\nspec: {containers: [{name: app, image: b}]}"
	const of = "{{ index .ObjectMeta.Annotations `a.example/image` "
	tests := map[string]struct {
		reason, template string
		refused          bool
	}{
		"as it is": {"the second line becomes a container", "spec:\n  containers:\n  - name: istio-proxy\n    image: " + of + "}}", true},
		"quoted":   {"it is one text", "spec:\n  containers:\n  - name: istio-proxy\n    image: " + of + "| quote }}", false},
		"indented": {"a block takes every line", "metadata:\n  annotations:\n    b: |\n" + of + "| nindent 6 }}\n", false},
		"not read": {"it does no harm", "spec: {containers: [{name: istio-proxy, image: a}]}", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := injectedBy(t, tc.template, smuggled, inject.Facts{})
			if (err != nil) != tc.refused {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			const want = `annotation 'a.example/image': template "sidecar" writes it into YAML as it is, and it has several lines`
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if pod.Named(pod.Items(pod.Object(r.Tree, "spec"), "containers"), "evil") != nil {
				t.Errorf("%s: a container of the annotation's", tc.reason)
			}
		})
	}
}
