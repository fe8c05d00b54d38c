// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestOwnMayBeWrittenTo(t *testing.T) {
	tree := treeOf(t, `
metadata: {name: a, annotations: {k: v}, labels: {l: v}}
spec: {containers: [{name: app}], initContainers: [{name: first}]}`)
	was := pod.Clone(tree)
	r := runOnTree(t, "", tree)
	if diff := cmp.Diff(was, r.After); diff != "" {
		t.Errorf("the copy differs: %s", diff)
	}
	metadata, spec := pod.Object(r.After, "metadata"), pod.Object(r.After, "spec")
	r.After["new"], metadata["new"], spec["new"] = true, true, true
	r.annotations()["new"], pod.Object(metadata, "labels")["new"] = "x", "x"
	for _, list := range pod.ContainerLists {
		items := pod.Items(spec, list)
		items[0].(map[string]any)["new"] = true
		items[0] = nil
	}
	if diff := cmp.Diff(was, tree); diff != "" {
		t.Errorf("the pod that came in was written to: %s", diff)
	}
}

func TestOwnMakesWhatIsMissing(t *testing.T) {
	cases := map[string]string{
		"no metadata":         `{spec: {}}`,
		"null metadata":       `{metadata: null}`,
		"null maps":           `{metadata: {annotations: null, labels: null}}`,
		"metadata that is no": `{metadata: [1]}`,
		"items that are none": `{spec: {containers: [1, null, text], initContainers: {}}}`,
		"nothing at all":      `null`,
	}
	for name, text := range cases {
		r := runOn(t, "", text)
		if r.annotations() == nil || pod.Object(pod.Object(r.After, "metadata"), "labels") == nil {
			t.Errorf("%s: got %v", name, r.After)
		}
	}
}
