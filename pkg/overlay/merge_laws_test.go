// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func FuzzMerge(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		base, layer := a.pod(), b.pod()
		checkOracle(t, base, layer)
		checkMerge(t, base, layer)
		checkMerge(t, a.messy(base), b.messy(layer))
		checkMerge(t, b.messy(base), b.messy(layer))
	})
}

// checkOracle compares with strategic merge patch, which knows nothing of unions and has its own
// order.
func checkOracle(t *testing.T, base, layer map[string]any) {
	t.Helper()
	schema := pod.Schema()
	pruned := prune(schema, base, layer)
	raw, err := strategicpatch.StrategicMergePatch(pod.Encode(pruned), pod.Encode(layer), corev1.Pod{})
	if err != nil {
		t.Fatalf("oracle: %v\nbase  %s\nlayer %s", err, pod.Encode(pruned), pod.Encode(layer))
	}
	want, err := pod.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	got := Merge(schema, base, layer)
	if diff := cmp.Diff(sorted(schema, meaning(schema, want)), sorted(schema, meaning(schema, got))); diff != "" {
		t.Errorf("(-oracle +got)\n%s\nbase  %s\nlayer %s", diff, pod.Encode(base), pod.Encode(layer))
	}
	if _, changed := merge(schema, got, layer); changed {
		t.Errorf("a second merge does not give back its base\nbase  %s\nlayer %s", pod.Encode(base), pod.Encode(layer))
	}
	if faults := schema.Check(got); len(faults) > 0 {
		t.Errorf("the schema does not allow the result: %v", faults)
	}
}

// prune drops the members of base's unions of which the layer sets another.
func prune(t *pod.Type, base, layer any) any {
	switch layer := layer.(type) {
	case map[string]any:
		base, ok := base.(map[string]any)
		if !ok {
			return base
		}
		chosen := false
		for k := range layer {
			chosen = chosen || t.Union[k]
		}
		out := map[string]any{}
		for k, v := range base {
			if layer[k] != nil {
				out[k] = prune(t.Field(k), v, layer[k])
			} else if !chosen || !t.Union[k] {
				out[k] = v
			}
		}
		return out
	case []any:
		if !keyed(t) {
			return base
		}
		index := newIndex(t, layer, 0)
		out := []any{}
		for _, item := range base.([]any) {
			name, _ := token(t, item)
			if i := index.find(name); i >= 0 {
				item = prune(t.Elem, item, layer[i])
			}
			out = append(out, item)
		}
		return out
	}
	return base
}

// checkMerge holds for any trees.
func checkMerge(t *testing.T, base, layer any) {
	t.Helper()
	schema := pod.Schema()
	wasBase, wasLayer := string(pod.Encode(base)), string(pod.Encode(layer))
	got := Merge(schema, base, layer)
	if string(pod.Encode(base)) != wasBase || string(pod.Encode(layer)) != wasLayer {
		t.Fatal("an argument was changed")
	}
	if diff := cmp.Diff(got, Merge(schema, got, layer)); diff != "" {
		t.Errorf("merging twice is not merging once (-once +twice)\n%s\nbase  %s\nlayer %s", diff, wasBase, wasLayer)
	}
	containers := map[uintptr]bool{}
	eachContainer(layer, func(p uintptr) { containers[p] = true })
	eachContainer(got, func(p uintptr) {
		if containers[p] {
			t.Error("the result shares with the layer")
		}
	})
	checkSurvival(t, schema, base, layer, got)
	if layer != nil && hasNull(Merge(schema, map[string]any{}, layer)) {
		t.Errorf("a null of the layer is in the result: %s", wasLayer)
	}
}

// eachContainer visits the address of every map and list that holds something.
func eachContainer(v any, visit func(uintptr)) {
	switch v := v.(type) {
	case map[string]any:
		visit(reflect.ValueOf(v).Pointer())
		for _, item := range v {
			eachContainer(item, visit)
		}
	case []any:
		if len(v) > 0 {
			visit(reflect.ValueOf(v).Pointer())
		}
		for _, item := range v {
			eachContainer(item, visit)
		}
	}
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, item := range v {
			if hasNull(item) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if hasNull(item) {
				return true
			}
		}
	}
	return false
}

// checkSurvival holds if all of base that the layer does not mention is in the result, in place.
func checkSurvival(t *testing.T, s *pod.Type, base, layer, got any) {
	t.Helper()
	if layer == nil {
		if diff := cmp.Diff(base, got); diff != "" {
			t.Errorf("what the layer does not mention was changed:\n%s", diff)
		}
		return
	}
	switch base := base.(type) {
	case map[string]any:
		layer, ok := layer.(map[string]any)
		if !ok {
			return
		}
		for k, v := range base {
			if s != nil && s.Union[k] && layer[k] == nil {
				continue
			}
			checkSurvival(t, s.Field(k), v, layer[k], got.(map[string]any)[k])
		}
	case []any:
		layer, ok := layer.([]any)
		if !ok || !keyed(s) {
			return
		}
		first, index := newIndex(s, base, 0), newIndex(s, layer, 0)
		for i, item := range base {
			var over any
			if name, ok := token(s, item); ok && first.find(name) == i && index.find(name) >= 0 {
				if over = layer[index.find(name)]; count(s, layer, name) > 1 {
					continue // laid over one another first
				}
			}
			checkSurvival(t, s.Elem, item, over, got.([]any)[i])
		}
	}
}

func count(s *pod.Type, list []any, name string) int {
	n := 0
	for _, item := range list {
		if other, ok := token(s, item); ok && other == name {
			n++
		}
	}
	return n
}
