// SPDX-License-Identifier: Apache-2.0

package reuse

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/workload"
	"github.com/pillion-dev/pillion/templates"
)

// tells is a configuration whose templates write down what differs between replicas.
const tells = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
defaultTemplates: [note, whole]
templates:
- name: note
  text: |
    spec:
      containers:
      - name: note
        image: registry.example/note:1
        env:
        - {name: NOTE, value: {{ index .ObjectMeta.Annotations "example.com/note" | default "none" | quote }}}
        - {name: POD, value: {{ .ObjectMeta.Name | default "none" | quote }}}
        volumeMounts:
        {{- range .Spec.Volumes }}
        - {name: {{ .Name | quote }}, mountPath: {{ printf "/of/%s" .Name | quote }}}
        {{- end }}
- name: whole
  text: |
    metadata:
      labels: {statefulset.kubernetes.io/pod-name: web-0}
    spec:
      hostname: {{ .Spec.Hostname | default "web-0" | quote }}
      volumes:
      - {name: kube-api-access-00000, emptyDir: {}}
      - {name: data, persistentVolumeClaim: {claimName: data-web-0}}
`

// asks is a template that answers a question about the pod, and writes down nothing else of it.
func asks(question string) string {
	return "{{- $meta := .ObjectMeta -}}\nspec:\n  containers:\n  - name: side\n    image: registry.example/side:1\n" +
		"    env: [{name: ANSWER, value: {{ if " + question + " }}\"yes\"{{ else }}\"no\"{{ end }}}]\n"
}

// questions read what differs between replicas, or what is known beside the pod, each in its way.
func questions() map[string]string {
	return map[string]string{
		"name":     `hasSuffix "-0" (.ObjectMeta.Name | default "")`,
		"uid":      `hasSuffix "1" (.ObjectMeta.UID | toString)`,
		"index":    `eq (index .ObjectMeta.Labels "apps.kubernetes.io/pod-index" | default "") "0"`,
		"labels":   `contains "web-0" (toJson .ObjectMeta.Labels)`,
		"notes":    `contains ":\"3" (toJson .ObjectMeta.Annotations)`,
		"metadata": `contains "web-0" (toJson $meta)`,
		"hostname": `eq (.Spec.Hostname | default "") "web-0"`,
		"affinity": `contains "node-1" (toJson .Spec.Affinity)`,
		"volumes":  `contains "aaaaa" (toJson .Spec.Volumes)`,
		"mounts":   `contains "aaaaa" (toJson .Spec.Containers)`,
		"claims":   `contains "data-web-0" (toJson .Spec.Volumes)`,
		"kind":     `eq .TypeMeta.Kind "Job"`,
		"workload": `eq .DeploymentMeta.Name "sum"`,
		"team":     `eq (index .Namespace.Labels "team" | default "") "a"`,
		"owners":   `contains "000001" (toJson .ObjectMeta.OwnerReferences)`,
	}
}

// bringers bring what differs between replicas, and read nothing of it.
func bringers() map[string]string {
	return map[string]string{
		"hostname":     "spec:\n  hostname: web-0\n",
		"claim":        "spec:\n  volumes: [{name: data, persistentVolumeClaim: {claimName: data-web-0}}]\n",
		"no claim":     "spec:\n  volumes: [{name: data, emptyDir: {}}]\n",
		"token volume": "spec:\n  volumes: [{name: kube-api-access-aaaaa, emptyDir: {}}]\n",
		"token mount":  "spec:\n  containers: [{name: app, volumeMounts: [{name: kube-api-access-aaaaa, mountPath: /a}]}]\n",
		"node": "spec:\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
			"[{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}]}}}\n",
		"label":      "metadata:\n  labels: {statefulset.kubernetes.io/pod-name: web-0}\n",
		"index":      "metadata:\n  labels: {batch.kubernetes.io/job-completion-index: \"3\"}\n",
		"annotation": "metadata:\n  annotations: {batch.kubernetes.io/job-completion-index: \"3\"}\n",
	}
}

// every touches all containers of the mesh's pods.
const every = `spec:
  containers:
  {{- range .Spec.Containers }}
  - name: {{ .Name | quote }}
    env: [{name: MESHED, value: "yes"}]
    volumeMounts: [{name: istio-podinfo, mountPath: /meshed}]
  {{- end }}
`

// shop is a namespace with what the shipped templates ask for.
func shop() inject.Facts {
	return inject.Facts{Namespace: "shop", Selected: true, NamespaceAnnotations: map[string]string{
		"vault.pillion.dev/role": "shop", "vault.pillion.dev/secrets": "db=secret/data/shop/db", "sql.pillion.dev/instances": "shop:north:db",
	}}
}

// configurations compile engines of both dialects.
func configurations(tb testing.TB) map[string]func(int64) (*inject.Engine, error) {
	tb.Helper()
	all := func(c *config.Config) {
		c.DefaultTemplates = nil
		for _, t := range c.Templates {
			c.DefaultTemplates = append(c.DefaultTemplates, t.Name)
		}
	}
	named := func(text string) map[string][]byte { return map[string][]byte{"config.yaml": []byte(text)} }
	none := func(*config.Config) {}
	out := map[string]func(int64) (*inject.Engine, error){
		"shipped":     native(tb, templates.Files(), none),
		"shipped all": native(tb, templates.Files(), all),
		"old nodes":   native(tb, templates.Files(), func(c *config.Config) { all(c); c.NativeSidecars = config.NativeOff }),
		"tells":       native(tb, named(tells), none),
		"mesh":        mesh(tb, config.NativeAuto, "sidecar"),
		"old mesh":    mesh(tb, config.NativeOff, "sidecar"),
		"mesh twice":  mesh(tb, config.NativeAuto, "sidecar", "every"),
	}
	small := func(name, text string) {
		one := "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\ndefaultTemplates: [one]\ntemplates:\n- {name: one, text: " + strconv.Quote(text) + "}\n"
		out[name] = native(tb, named(one), none)
		if !strings.Contains(text, ".Namespace") { // which is no data of the other dialect
			out["mesh "+name] = meshOf(tb, text)
		}
	}
	for name, question := range questions() {
		small("asks for "+name, asks(question))
	}
	for name, text := range bringers() {
		small("brings "+name, text)
	}
	return out
}

func native(tb testing.TB, files map[string][]byte, change func(*config.Config)) func(int64) (*inject.Engine, error) {
	tb.Helper()
	c, err := config.Parse(files)
	if err != nil {
		tb.Fatal(err)
	}
	change(&c)
	return func(reuse int64) (*inject.Engine, error) {
		return inject.New(c, inject.Options{OwnNamespace: "pillion-system", Reuse: reuse})
	}
}

func mesh(tb testing.TB, native string, defaults ...string) func(int64) (*inject.Engine, error) {
	tb.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"istio-sidecar-injector.yaml", "istio.yaml"} {
		files[name] = read(tb, "../../docs/examples/istio/"+name)
	}
	c, err := istio.Parse(files)
	if err != nil {
		tb.Fatal(err)
	}
	c.NativeSidecars, c.DefaultTemplates = native, defaults
	c.Templates = append(c.Templates, istio.Template{Name: "every", Text: every})
	return func(reuse int64) (*inject.Engine, error) {
		return istio.New(c, inject.Options{Revision: "default", Reuse: reuse})
	}
}

// meshOf has one template.
func meshOf(tb testing.TB, text string) func(int64) (*inject.Engine, error) {
	tb.Helper()
	raw, err := json.Marshal(map[string]any{"policy": "enabled", "defaultTemplates": []string{"one"}, "templates": map[string]string{"one": text}})
	if err != nil {
		tb.Fatal(err)
	}
	c, err := istio.Parse(map[string][]byte{"config": raw, "values": []byte("{}")})
	if err != nil {
		tb.Fatal(err)
	}
	return func(reuse int64) (*inject.Engine, error) {
		return istio.New(c, inject.Options{Revision: "default", Reuse: reuse})
	}
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// typical is the pod that the benchmarks measure.
func typical(tb testing.TB) []byte { return read(tb, "../bench/typical.json") }

// goldenPods are the pods of all golden files.
func goldenPods(tb testing.TB) [][]byte {
	tb.Helper()
	paths, err := filepath.Glob("../golden/*/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatal("there are no golden files", err)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range archive.Files {
			for _, raw := range podsOf(f) {
				seen[string(raw)] = true
			}
		}
	}
	var out [][]byte
	for _, raw := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, []byte(raw))
	}
	return out
}

// podsOf are the pods in a section; a section of another kind has none.
func podsOf(f txtar.File) (out [][]byte) {
	switch f.Name {
	case "in.yaml", "out.yaml":
		stream, err := workload.Read(f.Data)
		if err != nil {
			return nil
		}
		for _, p := range stream.Pods() {
			out = append(out, p.JSON())
		}
	case "request.json":
		var review struct {
			Request struct{ Object json.RawMessage }
		}
		if json.Unmarshal(f.Data, &review) == nil && bytes.HasPrefix(review.Request.Object, []byte("{")) {
			out = append(out, review.Request.Object)
		}
	}
	return out
}
