// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/param"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/render"
	"github.com/pillion-dev/pillion/templates"
)

// needs are the annotations without which a template refuses every pod.
var needs = map[string]map[string]string{
	"vault-agent": {"vault.pillion.dev/secrets": "db.json=secret/data/shop/db"},
	"sql-proxy":   {"sql.pillion.dev/instances": "example:europe-west1:shop"},
}

// brings are the containers of each template, with ordinary sidecars.
var brings = map[string][]string{
	"log-shipper": {"fluent-bit"},
	"otel-agent":  {"otel-agent"},
	"vault-agent": {"vault-agent", "vault-agent-init"},
	"sql-proxy":   {"cloud-sql-proxy"},
}

// samples are the shapes of pods on which the templates are tried.
var samples = map[string]string{
	"the least pod": `
spec: {containers: [{name: app, image: "registry.example/app:1"}]}`,
	"a pod as the API server sends it": `
metadata: {generateName: web-7d9f5c6b8d-, labels: {app: web}, annotations: {kubectl.kubernetes.io/default-container: app}}
spec:
  serviceAccountName: web
  initContainers: [{name: migrate, image: "registry.example/migrate:1"}]
  containers:
  - {name: helper, image: "registry.example/helper:1"}
  - {name: app, image: "registry.example/app:1"}`,
	"a pod that mentions the sidecars first": `
spec:
  containers:
  - {name: fluent-bit, image: auto}
  - {name: otel-agent, image: auto}
  - {name: vault-agent, image: auto}
  - {name: cloud-sql-proxy, image: auto}
  - {name: app, image: "registry.example/app:1"}`,
}

// tried is a template, compiled.
type tried struct {
	config.Template
	code   *render.Template
	params param.Set
}

func load(t *testing.T) config.Config {
	t.Helper()
	c, err := config.Parse(templates.Files())
	if err != nil {
		t.Fatalf("the built-in configuration is refused:\n%v", err)
	}
	return c
}

func compile(t *testing.T) map[string]tried {
	t.Helper()
	out := map[string]tried{}
	for _, c := range load(t).Templates {
		code, findings := render.Compile(render.Source{Name: c.Name, File: c.File, Text: c.Text, Params: c.Parameters})
		for _, f := range findings {
			t.Errorf("%v (%s)", f, f.Hint)
		}
		set, faults := param.New(c)
		for _, f := range faults {
			t.Errorf("%s: %s: %s (%s)", c.Name, f.Field, f.Detail, f.Hint)
		}
		out[c.Name] = tried{c, code, set}
	}
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// ask is a rendering to be made.
type ask struct {
	sample      string
	native      bool
	annotations map[string]string
	instead     map[string]any // of parameters, past all their bounds
}

// layer renders the template; the error is the refusal of the parameters or of the template.
func (c tried) layer(t *testing.T, a ask) (map[string]any, error) {
	t.Helper()
	if a.sample == "" {
		a.sample = samples["the least pod"]
	}
	raw, err := yaml.YAMLToJSON([]byte(a.sample))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := pod.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	typed, err := pod.Typed(tree)
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(needs[c.Name])
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, typed.Annotations)
	maps.Copy(all, a.annotations)
	typed.Annotations = all
	values, refusal := c.params.Resolve(all, nil)
	if refusal != nil {
		return nil, refusal
	}
	data := &render.Data{
		ObjectMeta: &typed.ObjectMeta, Spec: &typed.Spec, NativeSidecars: a.native,
		DeploymentMeta: render.Meta{Name: "web", Namespace: "shop"},
		Namespace:      render.Namespace{Name: "shop"},
		Params:         map[string]any{},
	}
	for _, v := range values {
		data.Params[v.Name] = v.Value
	}
	maps.Copy(data.Params, a.instead)
	layer, _, err := c.code.Render(data)
	return layer.Tree, err
}

// must is layer where nothing may be refused.
func (c tried) must(t *testing.T, a ask) map[string]any {
	t.Helper()
	tree, err := c.layer(t, a)
	if err != nil {
		t.Fatalf("template %s: %v", c.Name, err)
	}
	return tree
}

func object(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

func objects(m map[string]any, key string) []map[string]any {
	var out []map[string]any
	list, _ := m[key].([]any)
	for _, item := range list {
		out = append(out, item.(map[string]any))
	}
	return out
}

func containers(tree map[string]any) []map[string]any {
	spec := object(tree, "spec")
	return slices.Concat(objects(spec, "initContainers"), objects(spec, "containers"))
}

// brought are the containers that have an image; the others add to the pod's own.
func brought(tree map[string]any) []map[string]any {
	return slices.DeleteFunc(containers(tree), func(c map[string]any) bool { return c["image"] == nil })
}

// everyWay calls f for every template on every sample, with native sidecars and without.
func everyWay(t *testing.T, f func(t *testing.T, c tried, a ask)) {
	all := compile(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, sample := range slices.Sorted(maps.Keys(samples)) {
			for native, text := range map[bool]string{true: "native", false: "ordinary"} {
				t.Run(name+"/"+text+"/"+sample, func(t *testing.T) { f(t, all[name], ask{sample: samples[sample], native: native}) })
			}
		}
	}
}
