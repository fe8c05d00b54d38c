// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func FuzzLikeStrategicMerge(f *testing.F) {
	seeds(f)
	schema := withoutUnions(pod.Schema(), map[*pod.Type]*pod.Type{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		base, layer := a.spread(a.pod()), b.spread(b.pod())
		checkLikeOracle(t, schema, base, layer)
		checkLikeOracle(t, schema, base, b.patch(pod.Schema(), base, layer).(map[string]any))
		checkLikeOracle(t, schema, base, a.patch(pod.Schema(), base, base).(map[string]any))
		checkTwinsLikeOracle(t, schema, a.repeated(base), filled(b.repeated(layer)))
		checkTwinsLikeOracle(t, schema, base, filled(b.twins(schema, layer)))
		checkTwinsLikeOracle(t, schema, a.twins(schema, base), filled(layer))
		checkTwinsLikeOracle(t, schema, a.crew(), filled(b.crew()))
	})
}

// checkLikeOracle compares with strategic merge patch itself, which leaves nulls and directives in what
// comes new and knows no unions.
func checkLikeOracle(t *testing.T, schema *pod.Type, base, layer map[string]any) {
	t.Helper()
	want, refusal, panicked := oracle(base, layer)
	got, err := Strategic(schema, base, layer)
	if panicked {
		t.Fatalf("the generator made what the oracle cannot take\nbase  %s\nlayer %s", pod.Encode(base), pod.Encode(layer))
	}
	if (err != nil) != (refusal != nil) {
		t.Fatalf("got error %v, the oracle %v\nbase  %s\nlayer %s", err, refusal, pod.Encode(base), pod.Encode(layer))
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
		t.Errorf("(-oracle +got)\n%s\nbase  %s\nlayer %s", diff, pod.Encode(base), pod.Encode(layer))
	}
	if len(base) > 0 && hasDirective(got) {
		t.Errorf("a directive is left over\nbase  %s\nlayer %s\ngot   %s", pod.Encode(base), pod.Encode(layer), pod.Encode(got))
	}
}

func oracle(base, layer map[string]any) (out any, err error, panicked bool) {
	defer func() { panicked = recover() != nil }()
	raw, err := strategicpatch.StrategicMergePatch(pod.Encode(base), pod.Encode(layer), corev1.Pod{})
	if err != nil {
		return nil, err, false
	}
	out, err = pod.Decode(raw)
	return out, err, false
}

func hasDirective(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if isDirective(k) || hasDirective(item) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if hasDirective(item) {
				return true
			}
		}
	}
	return false
}

func FuzzStrategic(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		base, layer := a.pod(), b.pod()
		checkLikeMerge(t, base, layer)
		base, layer = a.spread(base), b.spread(layer)
		checkPlain(t, base, layer)
		schema := pod.Schema()
		patch := b.patch(schema, base, layer)
		messy := b.messy(patch)
		for _, over := range []any{base, a.messy(base), patch, messy} {
			checkAny(t, over, layer)
			checkAny(t, over, patch)
			checkAny(t, over, messy)
			checkAny(t, over, map[string]any{"spec": messy})
		}
	})
}

// FuzzStrategicBytes takes whatever a stranger may write.
func FuzzStrategicBytes(f *testing.F) {
	for _, layer := range []string{
		`null`, `[]`, `1`, `{"$patch":"delete"}`, `{"spec":{"$retainKeys":[{}],"x":1}}`, `{"metadata":{"finalizers":[[],{},null]}}`,
		`{"spec":{"containers":[{"name":{"a":1}},{"name":[]}],"$setElementOrder/containers":[{"name":{}},1,null]}}`,
		`{"spec":{"$setElementOrder/":[],"$setElementOrder":1,"$deleteFromPrimitiveList/volumes":[{}],"tolerations":[{"$patch":{}}]}}`,
	} {
		f.Add([]byte(podText), []byte(layer))
		f.Add([]byte(layer), []byte(layer))
		f.Add([]byte(layer), []byte(podText))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		base, err := pod.Decode(first)
		if err != nil {
			return
		}
		if layer, err := pod.Decode(second); err == nil {
			checkAny(t, base, layer)
		}
	})
}

// checkAny holds for any trees.
func checkAny(t *testing.T, base, layer any) {
	t.Helper()
	wasBase, wasLayer := string(pod.Encode(base)), string(pod.Encode(layer))
	got, err := Strategic(pod.Schema(), base, layer)
	if string(pod.Encode(base)) != wasBase || string(pod.Encode(layer)) != wasLayer {
		t.Fatalf("an argument was changed\nbase  %s\nlayer %s", wasBase, wasLayer)
	}
	again, twice := Strategic(pod.Schema(), base, layer)
	if diff := cmp.Diff(got, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(twice) {
		t.Errorf("another result for the same: %v, %v\n%s\nbase  %s\nlayer %s", err, twice, diff, wasBase, wasLayer)
	}
	if fault, ok := err.(pod.Fault); err != nil && (!ok || fault.Pointer == "" || fault.Detail == "") {
		t.Errorf("an error without a place: %v", err)
	}
}

// checkPlain holds for pods and layers without nulls, directives and repeated keys.
func checkPlain(t *testing.T, base, layer map[string]any) {
	t.Helper()
	schema := pod.Schema()
	got, err := Strategic(schema, base, layer)
	if err != nil {
		t.Fatalf("%v\nbase  %s\nlayer %s", err, pod.Encode(base), pod.Encode(layer))
	}
	again, err := Strategic(schema, got, layer)
	if err != nil || !settled(got, again) {
		t.Errorf("a second time does not give back its base: %v\n%s\nbase  %s\nlayer %s", err, cmp.Diff(got, again), pod.Encode(base), pod.Encode(layer))
	}
	if pod.Equal(base, got) && !settled(base, got) {
		t.Errorf("nothing changes, but the result is not base\nbase  %s\nlayer %s", pod.Encode(base), pod.Encode(layer))
	}
	if faults := schema.Check(got); len(faults) > 0 {
		t.Errorf("the schema does not allow the result: %v", faults)
	}
	if place := twoMembers(schema, got); place != "" {
		t.Errorf("two members of a union in %s\nbase  %s\nlayer %s", place, pod.Encode(base), pod.Encode(layer))
	}
	checkUnknown(t, base, layer)
}

// checkLikeMerge holds for pods and layers in which every list has the same key for both.
func checkLikeMerge(t *testing.T, base, layer map[string]any) {
	t.Helper()
	schema := pod.Schema()
	got, err := Strategic(schema, base, layer)
	if err != nil {
		t.Fatal(err)
	}
	want := Merge(schema, base, layer)
	if diff := cmp.Diff(sorted(schema, meaning(schema, want)), sorted(schema, meaning(schema, got))); diff != "" {
		t.Errorf("but for the order it is not Merge (-merge +got)\n%s\nbase  %s\nlayer %s", diff, pod.Encode(base), pod.Encode(layer))
	}
}

// twoMembers is where a union has two members.
func twoMembers(t *pod.Type, v any) string {
	switch v := v.(type) {
	case map[string]any:
		n := 0
		for k, item := range v {
			if t != nil && t.Union[k] && item != nil {
				n++
			}
			if place := twoMembers(t.Field(k), item); place != "" {
				return k + "." + place
			}
		}
		if n > 1 {
			return string(pod.Encode(v))
		}
	case []any:
		for _, item := range v {
			if place := twoMembers(elem(t), item); place != "" {
				return place
			}
		}
	}
	return ""
}

// checkUnknown holds for layers that delete nothing: unknown fields of base are all there, each in its
// place, and change nothing else.
func checkUnknown(t *testing.T, base, layer any) {
	t.Helper()
	schema := withoutUnions(pod.Schema(), map[*pod.Type]*pod.Type{})
	marked := mark(schema, base)
	got, err := Strategic(schema, marked, layer)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Strategic(schema, base, layer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, unmark(got)); diff != "" {
		t.Errorf("unknown fields change the rest (-without +with)\n%s\nbase  %s\nlayer %s", diff, pod.Encode(base), pod.Encode(layer))
	}
	checkMarks(t, schema, base, got)
}

// mark is a copy of a tree with an unknown field in every object but those of atomic lists.
func mark(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		if t != nil && t.Kind == pod.Struct {
			out["future"] = map[string]any{"list": []any{int64(len(v))}}
		}
		for k, item := range v {
			if list, ok := item.([]any); ok {
				out[k] = markItems(rulesOf(t.Field(k), k), list)
				continue
			}
			out[k] = mark(t.Field(k), item)
		}
		return out
	}
	return v
}

func markItems(r rules, list []any) []any {
	out := []any{}
	for _, item := range list {
		if r.key != "" {
			item = mark(r.elem, item)
		}
		out = append(out, item)
	}
	return out
}

func unmark(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if k != "future" {
				out[k] = unmark(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, unmark(item))
		}
		return out
	}
	return v
}

// checkMarks finds for every object of base its marked one in the result.
func checkMarks(t *testing.T, schema *pod.Type, base, got any) {
	t.Helper()
	was, ok := base.(map[string]any)
	if !ok {
		return
	}
	m, _ := got.(map[string]any)
	if want := (map[string]any{"list": []any{int64(len(was))}}); schema.Kind == pod.Struct && !pod.Equal(want, m["future"]) {
		t.Errorf("an unknown field is lost: want %v, got %v", want, m["future"])
	}
	for k, v := range was {
		list, ok := v.([]any)
		if r := rulesOf(schema.Field(k), k); ok && r.key != "" {
			for _, item := range list {
				items, _ := m[k].([]any)
				checkMarks(t, r.elem, item, items[slices.IndexFunc(items, func(v any) bool { return r.keyOf(v) == r.keyOf(item) })])
			}
			continue
		}
		checkMarks(t, schema.Field(k), v, m[k])
	}
}
