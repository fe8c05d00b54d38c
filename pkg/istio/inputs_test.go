// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// A directive may name an item of the pod's by what replicas differ in, and leaves no trace in a pod without
// that item.
func TestDirectivesAreNotReused(t *testing.T) {
	const side = "spec:\n  containers: [{name: side, image: registry.example/side:1}]\n"
	tests := map[string]struct {
		template      string
		first, second string // names of volumes
		reused        bool
	}{
		"none":    {side, "fghij", "aaaaa", true},
		"deletes": {side + "  volumes: [{name: kube-api-access-aaaaa, $patch: delete}]\n", "fghij", "aaaaa", false},
		"orders":  {side + "  $setElementOrder/volumes: [{name: d}, {name: kube-api-access-aaaaa}, {name: e}]\n  volumes: [{name: d, emptyDir: {}}]\n", "fghij", "aaaaa", false},
	}
	m, err := mesh.Parse(nil, config.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := Config{Policy: policyEnabled, DefaultTemplates: []string{"a"}, Templates: []Template{{Name: "a", Text: tt.template}}, Values: map[string]any{}, Mesh: m}
			var got [2]inject.Result
			for i, size := range []int64{0, 1 << 20} {
				e, err := New(c, inject.Options{Reuse: size})
				if err != nil {
					t.Fatal(err)
				}
				for _, token := range []string{tt.first, tt.second} {
					raw := strings.ReplaceAll(`{"spec":{"containers":[{"name":"app","image":"a"}],"volumes":[{"name":"e","emptyDir":{}},{"name":"kube-api-access-TOKEN","emptyDir":{}}]}}`, "TOKEN", token)
					doc, err := pod.Parse([]byte(raw))
					if err != nil {
						t.Fatal(err)
					}
					if got[i], err = e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(string(got[0].JSON()), string(got[1].JSON())); diff != "" || got[1].Reused != tt.reused {
				t.Errorf("reused %t, want %t; (-without +with reuse) %s", got[1].Reused, tt.reused, diff)
			}
		})
	}
}
