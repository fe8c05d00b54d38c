// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// seeds gives a fuzz target pairs of long inputs, so that a plain test run exercises its law too.
func seeds(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		pair := [2][]byte{}
		for i := range pair {
			pair[i] = make([]byte, random.IntN(400))
			for j := range pair[i] {
				pair[i][j] = byte(random.Uint32())
			}
		}
		f.Add(pair[0], pair[1])
	}
}

// source turns fuzz bytes into choices; when they run out, every choice is the first one.
type source struct{ data []byte }

func (s *source) below(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func pick[T any](s *source, from ...T) T { return from[s.below(len(from))] }

// often are the fields worth most of the choices.
var often = []string{
	"metadata", "spec", "labels", "annotations", "finalizers", "containers", "initContainers", "volumes",
	"imagePullSecrets", "env", "ports", "volumeMounts", "lifecycle", "preStop", "livenessProbe", "resources",
	"limits", "args", "valueFrom", "tolerations", "hostAliases", "securityContext", "capabilities",
}

// skipped are the fields in which the oracle follows other rules: its merge keys are fewer there.
var skipped = []string{"topologySpreadConstraints", "claims", "managedFields", "status"}

// pod is a partial pod that the schema allows: no nulls, no repeated keys, one member of a union.
func (s *source) pod() map[string]any {
	return s.value(pod.Schema(), 9).(map[string]any)
}

func (s *source) value(t *pod.Type, depth int) any {
	switch t.Kind {
	case pod.Struct:
		return s.fields(t, depth-1)
	case pod.Map:
		m := map[string]any{}
		for range s.below(4) {
			m[pick(s, "a", "b", "x.io/y", "~")] = s.value(t.Elem, depth-1)
		}
		return m
	case pod.List:
		return s.list(t, depth-1)
	case pod.Int, pod.Int32:
		return int64(s.below(4))
	case pod.Bool:
		return s.below(2) == 0
	case pod.Quantity:
		return pick(s, "1", "100m")
	case pod.IntOrString:
		return pick[any](s, int64(80), "http")
	case pod.Time:
		return "2020-01-01T00:00:00Z"
	}
	return pick(s, "x", "y", "", "z")
}

func (s *source) fields(t *pod.Type, depth int) map[string]any {
	m := map[string]any{}
	if depth <= 0 {
		return m
	}
	names := slices.Sorted(maps.Keys(t.Fields))
	names = slices.DeleteFunc(names, func(k string) bool { return t.Fields[k].Kind == pod.Any || slices.Contains(skipped, k) })
	hot := slices.DeleteFunc(slices.Clone(names), func(k string) bool { return !slices.Contains(often, k) })
	union := false
	for range 1 + s.below(4) {
		name := pick(s, names...)
		if len(hot) > 0 && s.below(4) > 0 {
			name = pick(s, hot...)
		}
		if t.Union[name] && union {
			continue
		}
		union = union || t.Union[name]
		if m[name] == nil {
			m[name] = s.value(t.Fields[name], depth)
		}
	}
	return m
}

func (s *source) list(t *pod.Type, depth int) []any {
	list := []any{}
	known := map[string]bool{}
	for range s.below(5) {
		item := s.value(t.Elem, depth)
		if m, ok := item.(map[string]any); ok && len(t.MergeKeys) > 0 {
			m[t.MergeKeys[0]] = pick(s, "a", "b/~", "c", "d")
			if t.MergeKeys[0] == "containerPort" {
				m["containerPort"] = int64(80 + s.below(4))
				delete(m, "protocol")
			}
		}
		if keyed(t) {
			name, ok := token(t, item)
			if !ok || known[name] {
				continue
			}
			known[name] = true
		}
		list = append(list, item)
	}
	return list
}

// messy is a copy of a tree as somebody might write it: with nulls, unknown fields, repeated items,
// items without a key, another order and values of another type.
func (s *source) messy(v any) any {
	switch s.below(24) {
	case 1:
		return nil
	case 2:
		return pick[any](s, "text", int64(7), map[string]any{}, []any{}, map[string]any{"u": map[string]any{"v": nil}}, []any{nil, "x"})
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = s.messy(v[k])
		}
		if s.below(4) == 1 {
			out[pick(s, "future", "", "name", "env")] = pick[any](s, nil, map[string]any{"a": int64(1)}, []any{"z"}, "x")
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			switch s.below(10) {
			case 1:
				out = append(out, s.messy(item))
			case 2:
				out = append(out, nil)
			case 3:
				out = slices.Insert(out, 0, s.messy(item))
				continue
			}
			out = append(out, s.messy(item))
		}
		return out
	}
	return v
}

// edited is a copy of a tree in which another writer changed some things.
func (s *source) edited(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return s.messy(v)
	}
	return Merge(pod.Schema(), s.messy(m), s.pod())
}

// meaning is a copy of a tree without what means nothing: null members, and empty maps and lists
// that the schema knows to be such.
func meaning(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if item = meaning(t.Field(k), item); !void(t.Field(k), item) {
				out[k] = item
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, meaning(elem(t), item))
		}
		return out
	}
	return v
}

func elem(t *pod.Type) *pod.Type {
	if t == nil || t.Kind != pod.List {
		return nil
	}
	return t.Elem
}

// sorted is a copy of a tree in which keyed lists stand in the order of their keys.
func sorted(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			out[k] = sorted(t.Field(k), item)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, sorted(elem(t), item))
		}
		if keyed(t) {
			slices.SortStableFunc(out, func(a, b any) int {
				x, _ := token(t, a)
				y, _ := token(t, b)
				return cmp.Compare(x, y)
			})
		}
		return out
	}
	return v
}
