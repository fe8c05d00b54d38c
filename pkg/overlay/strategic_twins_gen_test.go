// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// twins is a copy of a tree in whose keyed lists some items come again, as they are or as others do that
// have taken over their key.
func (s *source) twins(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if list, ok := v[k].([]any); ok {
				out[k] = s.twinItems(rulesOf(t.Field(k), k), list)
				continue
			}
			out[k] = s.twins(t.Field(k), v[k])
		}
		return out
	}
	return v
}

func (s *source) twinItems(r rules, list []any) []any {
	out := []any{}
	for _, item := range list {
		item = s.twins(r.elem, item)
		if m, ok := item.(map[string]any); ok && r.key != "" && s.below(3) == 1 {
			if key := r.keyOf(list[s.below(len(list))]); key != nil {
				m[r.key] = key
			}
		}
		out = append(out, item)
		if (r.key != "" || r.set) && s.below(5) == 1 {
			out = slices.Insert(out, s.below(len(out)), s.twins(r.elem, item))
		}
	}
	return out
}

// solid is a copy of a layer without nulls, directives, and items that lack their key.
func solid(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if list, ok := item.([]any); ok {
				out[k] = solidItems(rulesOf(t.Field(k), k), list)
			} else if item != nil && !isDirective(k) {
				out[k] = solid(t.Field(k), item)
			}
		}
		return out
	case []any:
		return solidItems(rules{elem: elem(t)}, v)
	}
	return v
}

func solidItems(r rules, list []any) []any {
	out := []any{}
	for _, item := range list {
		if (r.key != "" || r.set) && r.keyOf(item) == nil || item == nil {
			continue
		}
		out = append(out, solid(r.elem, item))
	}
	return out
}

// crew is a pod with few containers of few names, whose variables stand in any order.
func (s *source) crew() any {
	containers := []any{}
	for range s.below(5) {
		c := map[string]any{"name": pick(s, "c", "c", "d")}
		if s.below(6) > 0 {
			c["env"] = s.variables()
		}
		containers = append(containers, c)
	}
	return map[string]any{"spec": map[string]any{"containers": containers}}
}

func (s *source) variables() []any {
	list := []any{}
	for i := range s.below(6) {
		item := map[string]any{"name": pick(s, "A", "B", "C", "D")}
		if s.below(3) > 0 {
			item["value"] = pick(s, "x", "y", fmt.Sprint(i))
		}
		list = append(list, item)
	}
	return list
}

// rivals tells whether base and the layer may both have several items of a key somewhere, or base has
// something twice in a set: strategic merge patch drops the second.
func rivals(t *pod.Type, base, layer any) bool {
	was, _ := base.(map[string]any)
	now, _ := layer.(map[string]any)
	for k, v := range now {
		list, ok := v.([]any)
		if !ok {
			if rivals(t.Field(k), was[k], v) {
				return true
			}
			continue
		}
		r, old := rulesOf(t.Field(k), k), []any(nil)
		if r.key == "" && !r.set {
			continue
		}
		old, _ = was[k].([]any)
		ours, theirs := r.places(old), r.places(list)
		if r.set && len(list) > 0 && len(ours) < len(old) {
			return true
		}
		for key, places := range theirs {
			if len(ours[key]) > 1 && len(places) > 1 || r.itemsRival(old, list, ours[key], places) {
				return true
			}
		}
	}
	return false
}

func (r rules) itemsRival(base, layer []any, ours, theirs []int) bool {
	for _, i := range ours {
		for _, j := range theirs {
			if rivals(r.elem, base[i], layer[j]) {
				return true
			}
		}
	}
	return false
}

func (r rules) places(list []any) map[any][]int {
	of := []any{}
	for _, item := range list {
		of = append(of, r.keyOf(item))
	}
	return placesOf(of)
}

// quarrel tells whether two items of a key want the same things in lists of theirs in another order, or
// more than once.
func quarrel(t *pod.Type, layer any) bool {
	m, _ := layer.(map[string]any)
	for k, v := range m {
		list, ok := v.([]any)
		if !ok {
			if quarrel(t.Field(k), v) {
				return true
			}
			continue
		}
		r := rulesOf(t.Field(k), k)
		for _, places := range r.places(list) {
			for n, i := range places {
				for _, j := range places[:n] {
					if r.key != "" && itemsQuarrel(r.elem, list[i], list[j]) {
						return true
					}
				}
			}
		}
	}
	return false
}

func itemsQuarrel(t *pod.Type, a, b any) bool {
	other, _ := b.(map[string]any)
	for k, v := range a.(map[string]any) {
		r := rulesOf(t.Field(k), k)
		if r.key == "" && !r.set {
			continue
		}
		first, _ := v.([]any)
		second, _ := other[k].([]any)
		theirs := r.places(second)
		shared := false
		for key := range r.places(first) {
			shared = shared || theirs[key] != nil
		}
		if shared && (len(theirs) < len(second) || !slices.EqualFunc(first, second, func(x, y any) bool { return r.keyOf(x) == r.keyOf(y) })) {
			return true
		}
	}
	return false
}
