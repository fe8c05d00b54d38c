// SPDX-License-Identifier: Apache-2.0

package overlay

import "github.com/pillion-dev/pillion/pkg/pod"

func mergeLists(t *pod.Type, base, layer []any) (out []any, changed bool) {
	if keyed(t) {
		return mergeItems(t, base, layer, merge)
	}
	var elem *pod.Type
	if t != nil && t.Kind == pod.List {
		elem = t.Elem
	}
	out = make([]any, 0, len(layer))
	for _, item := range layer {
		if value := Merge(elem, nil, item); value != nil {
			out = append(out, value)
		}
	}
	if pod.Equal(base, out) {
		return base, false
	}
	return out, true
}

// mergeItems joins each item of the layer with the first of its key. It copies base when the first item
// changes or is added.
func mergeItems(t *pod.Type, base, layer []any, join func(t *pod.Type, base, layer any) (any, bool)) ([]any, bool) {
	x := newIndex(t, base, len(layer))
	var keyless map[string]bool
	copied := false
	for k, item := range layer {
		name, ok := token(t, item)
		at := -1
		if ok {
			at = x.find(name)
		}
		var old any
		if at >= 0 {
			old = x.list[at]
		}
		value, changed := join(t.Elem, old, item)
		if !ok {
			if keyless == nil {
				keyless = keylessOf(t, base)
			}
			changed = !blank(value) && fresh(keyless, value)
		}
		if !changed {
			continue
		}
		if !copied {
			x.own(len(layer) - k)
			copied = true
		}
		if at < 0 {
			x.add(value)
			continue
		}
		x.list[at] = value
	}
	return x.list, copied
}

// keylessOf collects the items that lack their key, by all that they hold.
func keylessOf(t *pod.Type, list []any) map[string]bool {
	known := map[string]bool{}
	for _, item := range list {
		if _, ok := token(t, item); !ok {
			known[string(pod.Encode(item))] = true
		}
	}
	return known
}

// fresh tells whether a value is not known yet, and makes it known.
func fresh(known map[string]bool, value any) bool {
	text := string(pod.Encode(value))
	if known[text] {
		return false
	}
	known[text] = true
	return true
}
