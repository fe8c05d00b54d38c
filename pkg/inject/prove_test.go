// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestProve(t *testing.T) {
	const in = `{"metadata":{"labels":null},"spec":{"containers":[{"name":"app","image":"a","livenessProbe":null}]}}`
	label := patch.Op{Op: "add", Path: "/metadata/labels", Value: map[string]any{"a": "b"}}
	meant := func(change func(map[string]any)) map[string]any {
		tree, err := pod.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		m := tree.(map[string]any)
		m["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
		change(m["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any))
		return m
	}
	tests := map[string]struct {
		reason string
		tree   map[string]any
		ops    []patch.Op
		ok     bool
	}{
		"the same":      {"nothing is amiss", meant(func(map[string]any) {}), []patch.Op{label}, true},
		"a null less":   {"null and absent are the same to the API server", meant(func(c map[string]any) { delete(c, "livenessProbe") }), []patch.Op{label}, true},
		"another image": {"the patch lacks a change", meant(func(c map[string]any) { c["image"] = "b" }), []patch.Op{label}, false},
		"a new fault":   {"the pod would be none", nil, []patch.Op{{Op: "add", Path: "/spec/containers/0/image", Value: int64(1)}}, false},
		"no place":      {"the API server would reject the pod", nil, []patch.Op{{Op: "replace", Path: "/spec/volumes/0", Value: "x"}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := pod.Parse([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			if err := (Result{Tree: tc.tree, Patch: tc.ops}).Prove(doc); (err == nil) != tc.ok {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
