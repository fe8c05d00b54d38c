// SPDX-License-Identifier: Apache-2.0

// Package overlay lays one pod tree over another by the merge keys of the pod's schema, and records
// what a change did in a form from which it can be undone later, around what others did meanwhile.
package overlay

import (
	"maps"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// Merge is base with layer laid over it; t is their schema, nil where there is none.
//
//   - A scalar or an atomic list of the layer wins.
//   - Structs and maps merge member by member. In a union, such as the source of a volume, a member
//     of the layer drops the others of base.
//   - A list with merge keys keeps base's items first, in their order; the layer's items merge into
//     the first of the same key or follow in theirs. One without its key follows too, unless an equal
//     one is there. A set gains what it lacks.
//   - null in the layer means absent, at any depth, and so does an item of a list that is null, or
//     that holds nothing where it must have a key. An empty map or list adds nothing where base has
//     none, but an empty struct does: emptyDir: {} is a volume's source.
//   - What base holds beyond that survives as it is: unknown fields, nulls, second items of a key.
//
// Neither argument is changed. The result shares with base all that the layer does not change, and
// is base itself where it changes nothing; it shares nothing with the layer. So from here on base and
// the result are read only.
func Merge(t *pod.Type, base, layer any) any {
	out, _ := merge(t, base, layer)
	return out
}

// merge tells too whether the result is another value than base.
func merge(t *pod.Type, base, layer any) (out any, changed bool) {
	switch layer := layer.(type) {
	case nil:
		return base, false
	case map[string]any:
		old, ok := base.(map[string]any)
		merged, changed := mergeMaps(t, old, layer)
		if base == nil && void(t, merged) {
			return nil, false
		}
		return merged, changed || !ok
	case []any:
		old, ok := base.([]any)
		if !ok {
			old = []any{}
		}
		merged, changed := mergeLists(t, old, layer)
		if base == nil && void(t, merged) {
			return nil, false
		}
		return merged, changed || !ok
	}
	switch base.(type) {
	case map[string]any, []any:
		return layer, true
	}
	return layer, base != layer
}

// mergeMaps copies base when the first member changes.
func mergeMaps(t *pod.Type, base, layer map[string]any) (map[string]any, bool) {
	out, copied := base, base == nil
	if copied {
		out = make(map[string]any, len(layer))
	}
	for k, v := range layer {
		if v == nil {
			continue
		}
		value, changed := merge(t.Field(k), base[k], v)
		if !changed {
			continue
		}
		if !copied {
			out, copied = cloneRoom(base, len(layer)), true
		}
		out[k] = value
	}
	return choose(t, out, layer, copied)
}

// choose drops the other members of a union if the layer sets one.
func choose(t *pod.Type, out, layer map[string]any, copied bool) (map[string]any, bool) {
	if t == nil || !chooses(t, layer) {
		return out, copied
	}
	for k := range t.Union {
		if out[k] == nil || layer[k] != nil {
			continue
		}
		if !copied {
			out, copied = maps.Clone(out), true
		}
		delete(out, k)
	}
	return out, copied
}

func chooses(t *pod.Type, layer map[string]any) bool {
	if t.Union == nil {
		return false
	}
	for k, v := range layer {
		if v != nil && t.Union[k] {
			return true
		}
	}
	return false
}

func cloneRoom(m map[string]any, more int) map[string]any {
	out := make(map[string]any, len(m)+more)
	maps.Copy(out, m)
	return out
}

// foldable tells that an empty value of the type means the same as none. An empty struct does not:
// its presence is its meaning.
func foldable(t *pod.Type) bool {
	return t != nil && (t.Kind == pod.Map || t.Kind == pod.List)
}

// void tells that a value means the same as none.
func void(t *pod.Type, value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return foldable(t) && allNull(v)
	case []any:
		return foldable(t) && len(v) == 0
	}
	return false
}

func allNull(m map[string]any) bool {
	for _, v := range m {
		if v != nil {
			return false
		}
	}
	return true
}
