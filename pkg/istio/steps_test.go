// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// treeOf is the tree of a YAML text.
func treeOf(t testing.TB, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	value, err := pod.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	tree, _ := value.(map[string]any)
	return tree
}

// runOn is a run whose templates have brought the pod as the text has it, ready for the finishing
// steps.
func runOn(t testing.TB, meshText, podText string) *run {
	t.Helper()
	return runOnTree(t, meshText, treeOf(t, podText))
}

func runOnTree(t testing.TB, meshText string, tree map[string]any) *run {
	t.Helper()
	m, err := mesh.Parse([]byte(meshText), config.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	return runIn(m, tree)
}

func runIn(m *mesh.Config, tree map[string]any) *run {
	head := &pod.Head{}
	if doc, err := pod.FromTree(tree); err == nil {
		head = doc.Head()
	}
	r := &run{
		Work: &inject.Work{Raw: tree, After: tree, Layers: map[string]any{}},
		d:    &dialect{config: Config{Mesh: m}, revision: "default", settings: settings{rewriteProbes: true}},
		head: head,
	}
	r.proxy = m.Proxy(nil, "", nil, head.Metadata.Annotations)
	r.own()
	return r
}

// variable is the value of a variable of the proxy.
func (r *run) variable(name string) (string, bool) {
	v := pod.Named(pod.Items(r.container(proxyName), "env"), name)
	return pod.Text(v, "value"), v != nil
}

func orderOf(tree map[string]any, list string) (out []string) {
	for _, item := range pod.Items(pod.Object(tree, "spec"), list) {
		c, _ := item.(map[string]any)
		out = append(out, pod.Text(c, "name"))
	}
	return out
}
