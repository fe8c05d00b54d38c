// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"encoding/json"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// rules tell how a strategic merge patch lays one list over another.
type rules struct {
	elem *pod.Type
	key  string // that tells objects apart
	set  bool   // the items are told apart by themselves; without either the list is replaced whole
}

// rulesOf are the rules for a member of a map. The schema knows one list with a key that a strategic
// merge patch replaces whole, and names the key of a strategic merge patch first wherever it knows two.
func rulesOf(t *pod.Type, name string) rules {
	switch {
	case t == nil || t.Kind != pod.List:
		return rules{}
	case t.Set:
		return rules{elem: t.Elem, set: true}
	case len(t.MergeKeys) == 0 || name == "claims":
		return rules{elem: t.Elem}
	}
	return rules{elem: t.Elem, key: t.MergeKeys[0]}
}

// keyOf is what tells an item from others; nil if nothing does.
func (r rules) keyOf(item any) any {
	if r.key != "" {
		m, _ := item.(map[string]any)
		item = m[r.key]
	}
	if !isScalar(item) {
		return nil
	}
	return item
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, int64, bool, json.Number:
		return true
	}
	return false
}

func (r rules) merge(base, layer []any) ([]any, error) {
	if r.key == "" && !r.set {
		return replaced(base, layer), nil
	}
	marks, err := r.check(layer)
	if err != nil || len(layer) == 0 {
		return base, err
	}
	if marks.replace {
		return replaced(base, layer), nil
	}
	if marks.delete {
		base = r.without(base, layer)
	}
	return r.mergeItems(base, layer)
}

func replaced(base, layer []any) []any {
	out := cleanList(layer)
	if pod.Equal(base, out) {
		return base
	}
	return out
}

// marks tells which values of $patch the items of a list have.
type marks struct{ replace, delete bool }

// check finds the directives among the items of the layer, and the item that lacks its key.
func (r rules) check(layer []any) (found marks, err error) {
	for i, item := range layer {
		mark, marked := markOf(item)
		switch {
		case marked && mark == patchReplace:
			found.replace = true
			continue
		case marked && mark == patchDelete:
			found.delete = true
		case marked:
			return found, under(strconv.Itoa(i), under(markPatch,
				faultf("want %s or %s, got %s", patchReplace, patchDelete, pod.Describe(mark))))
		}
		if err := r.checkKey(item); err != nil {
			return found, under(strconv.Itoa(i), err)
		}
	}
	return found, nil
}

func markOf(item any) (mark any, marked bool) {
	m, _ := item.(map[string]any)
	mark, marked = m[markPatch]
	return mark, marked
}

func (r rules) checkKey(item any) error {
	if r.keyOf(item) != nil {
		return nil
	}
	if r.key == "" {
		return faultf("want a text, a number, true or false, got %s", pod.Describe(item))
	}
	if _, ok := item.(map[string]any); !ok {
		return faultf("want an object, got %s", pod.Describe(item))
	}
	return faultf("does not contain its merge key: %s", r.key)
}

// without is base less the items that the layer deletes.
func (r rules) without(base, layer []any) []any {
	gone := map[any]bool{}
	for _, item := range layer {
		if mark, marked := markOf(item); marked && mark == patchDelete {
			gone[r.keyOf(item)] = true
		}
	}
	rest := make([]any, 0, len(base))
	for _, item := range base {
		if key := r.keyOf(item); key == nil || !gone[key] {
			rest = append(rest, item)
		}
	}
	if len(rest) == len(base) {
		return base
	}
	return rest
}

// mergeItems joins each item of the layer that has no directive with the one of its key.
func (r rules) mergeItems(base, layer []any) ([]any, error) {
	var room [3][few]any
	have := newKeys(room[0][:0], len(base)+len(layer), len(layer))
	for _, item := range base {
		have = have.with(r.keyOf(item))
	}
	have.n = len(base)
	order, again := r.keysOf(newKeys(room[1][:0], len(layer), len(base)+2*len(layer)), layer)
	var same twins
	if again {
		var err error
		if same, err = r.twins(base, layer, have.of, order.of); err != nil {
			return nil, err
		}
		have, order = have.numbered(same.apart), order.numbered(same.apart)
	}
	items := append(room[2][:0], base...)
	for j, item := range layer {
		key := order.of[j]
		at := have.find(key)
		if key == nil || r.set && (at >= 0 || isNth(key)) {
			continue
		}
		var old any
		if at >= 0 {
			old = items[at]
		}
		value, err := r.join(old, item, same.joined[key])
		if err != nil {
			return nil, under(strconv.Itoa(j), err)
		}
		if at >= 0 {
			items[at] = value
			continue
		}
		items = append(items, value)
		have = have.with(key)
	}
	var places [few]int
	return inSequence(base, items, sequence(places[:0], &have, &have, &order)), nil
}

// keysOf adds the keys of the layer's items that have no directive, and tells whether one comes again.
func (r rules) keysOf(order keys, layer []any) (keys, bool) {
	again := false
	for _, item := range layer {
		var key any
		if _, marked := markOf(item); !marked {
			key = r.keyOf(item)
		}
		again = again || order.find(key) >= 0
		order = order.with(key)
	}
	return order, again
}

// join is an item of the layer over the one of its key, unless it is known what comes of the two.
func (r rules) join(old, item, known any) (any, error) {
	if known != nil {
		return known, nil
	}
	return patchMember(r.elem, "", old, item)
}

// sameList tells that two lists are one.
func sameList(a, b []any) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
