// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// spread adds the lists that a pod of the generator lacks because Merge has other keys there.
func (s *source) spread(tree map[string]any) map[string]any {
	spec, ok := tree["spec"].(map[string]any)
	if !ok {
		return tree
	}
	var list []any
	for i, key := range []string{"zone", "node", "rack"} {
		if s.below(2) == 0 {
			list = append(list, map[string]any{"topologyKey": key, "maxSkew": int64(s.below(3)), "whenUnsatisfiable": pick(s, "x", "y"), "minDomains": int64(i)})
		}
	}
	if list != nil {
		spec["topologySpreadConstraints"] = list
	}
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		if s.below(3) == 0 {
			c.(map[string]any)["resources"] = map[string]any{"claims": []any{map[string]any{"name": pick(s, "a", "b"), "request": "r"}}}
		}
	}
	return tree
}

// patch is a layer for the base with nulls and directives in it, such that the directives of one map
// do not depend on their order.
func (s *source) patch(t *pod.Type, base, layer any) any {
	m, ok := layer.(map[string]any)
	if !ok {
		return layer
	}
	old, _ := base.(map[string]any)
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch v := m[k].(type) {
		case map[string]any:
			out[k] = s.patch(t.Field(k), old[k], v)
		case []any:
			was, _ := old[k].([]any)
			out[k] = s.patchList(rulesOf(t.Field(k), k), was, v)
			s.directList(rulesOf(t.Field(k), k), k, was, out)
		default:
			out[k] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(old)) {
		if s.below(16) == 1 && !slices.Contains(identifying, k) {
			out[k] = nil
		}
	}
	switch s.below(24) {
	case 1:
		out[markPatch] = pick[any](s, patchReplace, patchReplace, patchDelete, patchDelete, patchDelete, "merge", map[string]any{})
	case 2, 3, 4:
		s.retain(old, out)
	}
	return out
}

// identifying are the fields that a null must not delete.
var identifying = []string{"name", "containerPort", "mountPath", "devicePath", "ip", "uid", "topologyKey", "metadata", "spec"}

func (s *source) patchList(r rules, base, layer []any) []any {
	out := []any{}
	for _, item := range layer {
		var old any
		if at := slices.IndexFunc(base, func(b any) bool { return r.keyOf(b) == r.keyOf(item) }); r.key != "" && at >= 0 {
			old = base[at]
		}
		if m, ok := item.(map[string]any); ok {
			item = s.patch(r.elem, old, m)
			if v := item.(map[string]any); r.key != "" {
				delete(v, markPatch) // in an item it speaks of the list
			}
		}
		out = append(out, item)
	}
	if r.key == "" {
		return out
	}
	switch s.below(12) { // a directive comes first: an order that ends before one is a fault to the oracle
	case 1:
		out = slices.Insert(out, 0, any(map[string]any{markPatch: patchReplace}))
	case 2, 3:
		if len(base) > 0 {
			key := r.keyOf(base[s.below(len(base))])
			out = slices.Insert(out, 0, any(map[string]any{markPatch: patchDelete, r.key: key}))
		}
	case 4:
		out = slices.Insert(out, 0, any(map[string]any{markPatch: pick(s, "merge", "x"), r.key: "a"}))
	case 5:
		out = append(out, map[string]any{"value": "no key"})
	}
	return out
}

// directList puts directives for a list beside it.
func (s *source) directList(r rules, name string, base []any, m map[string]any) {
	layer := m[name].([]any)
	if items := slices.DeleteFunc(slices.Clone(base), func(v any) bool { _, ok := v.(string); return !ok || slices.Contains(layer, v) }); len(items) > 0 && s.below(3) == 1 {
		m[markRemove+"/"+name] = items[:1+s.below(len(items))]
	}
	if s.below(4) != 1 || !orderable(r, base, layer) {
		return
	}
	var order []any
	add := func(key any) {
		var item any = key
		if r.key != "" {
			item = map[string]any{r.key: key}
		}
		if key != nil && !slices.ContainsFunc(order, func(v any) bool { return pod.Equal(v, item) }) {
			order = append(order, item)
		}
	}
	for i := range max(len(base), len(layer)) {
		if i < len(base) && s.below(2) == 0 {
			if key := r.keyOf(base[i]); !slices.ContainsFunc(layer, func(v any) bool { return r.keyOf(v) == key }) {
				add(key)
			}
		}
		if i < len(layer) {
			if _, marked := markOf(layer[i]); !marked {
				add(r.keyOf(layer[i]))
			}
		}
	}
	if len(order) == 0 {
		return
	}
	if s.below(8) == 1 {
		slices.Reverse(order)
	}
	m[markOrder+"/"+name] = order
	if s.below(16) == 1 && len(base) > 0 {
		delete(m, name)
	}
}

// orderable leaves out what the oracle cannot order: objects without a merge key, and a list from
// which it deletes in place while it takes the order from there.
func orderable(r rules, base, layer []any) bool {
	if r.key != "" {
		return !slices.ContainsFunc(layer, func(v any) bool { mark, _ := markOf(v); return mark == patchDelete })
	}
	return !slices.ContainsFunc(slices.Concat(base, layer), func(v any) bool { return !isScalar(v) })
}

func (s *source) retain(base, m map[string]any) {
	list := []any{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(k, "$") && s.below(64) != 1 {
			list = append(list, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(base)) {
		if s.below(2) == 1 || slices.Contains(identifying, k) {
			list = append(list, k)
		}
	}
	m[markRetain] = list
}

// repeated is a copy of a tree in whose lists some objects come again.
func (s *source) repeated(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = s.repeated(v[k])
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, s.repeated(item))
			if _, ok := item.(map[string]any); ok && s.below(3) == 1 {
				out = slices.Insert(out, s.below(len(out)), pod.Clone(item))
			}
		}
		return out
	}
	return v
}

// filled is a copy of a tree without its empty lists: to the oracle they too bring the items of a key
// together.
func filled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if list, ok := item.([]any); !ok || len(list) > 0 {
				out[k] = filled(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, filled(item))
		}
		return out
	}
	return v
}

// plain is a copy of a tree without nulls, directives and what they mark.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if isDirective(k) || item == nil {
				continue
			}
			if mark, marked := markOf(item); marked && mark != nil {
				continue
			}
			out[k] = plain(item)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if mark, marked := markOf(item); !marked || mark == nil {
				out = append(out, plain(item))
			}
		}
		return out
	}
	return v
}

// withoutUnions is a copy of a schema in which nothing excludes another.
func withoutUnions(t *pod.Type, known map[*pod.Type]*pod.Type) *pod.Type {
	if t == nil || known[t] != nil {
		return known[t]
	}
	out := new(pod.Type)
	*out = *t
	known[t] = out
	out.Union = nil
	out.Elem = withoutUnions(t.Elem, known)
	if t.Fields != nil {
		out.Fields = map[string]*pod.Type{}
		for k, f := range t.Fields {
			out.Fields[k] = withoutUnions(f, known)
		}
	}
	return out
}
