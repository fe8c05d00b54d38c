// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"reflect"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// Kind is what happened at a path.
type Kind uint8

// The kinds of a change.
const (
	// Added: a leaf or a whole item of a keyed list came. It goes again, whatever it holds by then.
	Added Kind = iota
	// Created: the parent of what was added came with it. It goes again if nothing is left in it.
	Created
	// Replaced: the value was Old; it is another one now, or none. Old comes back, beside the items
	// and members that others put there.
	Replaced
	// Removed: the item Old of a keyed list is gone from its Index. It comes back there.
	Removed
)

// Change is one difference between two trees. In Path, an RFC 6901 pointer, an item of a keyed list
// is named by its merge key, or keys joined with a slash, and an item of a set by itself, so that the
// path still holds when others add items: /spec/containers/app/ports/8080~1TCP.
type Change struct {
	Path  string
	Kind  Kind
	Old   any // of Replaced and Removed; never nil
	Index int // of Removed: where the item stood in its list
}

// Changes is what was done to before to make it after, so that Revert can undo it. Where null, an
// empty map or an empty list means the same as nothing, neither of them counts as a change. The
// changes come in a fixed order; their old values are shared with before.
//
// A union that came, such as a probe, and a member that came to one, such as another source of a
// volume, is added whole. A keyed list is restored whole if items that stay changed their order, or if
// it holds items without a key, or second ones of a key, that are not the same in both trees.
func Changes(t *pod.Type, before, after any) []Change {
	d := differ{path: make([]byte, 0, 64)}
	d.value(t, before, after)
	return d.changes
}

type differ struct {
	path    []byte   // of the value at hand
	keys    []string // a stack: the keys to visit of every map on the way
	changes []Change
}

func (d *differ) note(kind Kind, old any) {
	d.changes = append(d.changes, Change{Path: string(d.path), Kind: kind, Old: old})
}

func (d *differ) value(t *pod.Type, before, after any) {
	switch none := void(t, before); {
	case void(t, after):
		if !none {
			d.note(Replaced, before)
		}
		return
	case none:
		d.appear(t, after)
		return
	}
	switch after := after.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			d.maps(t, before, after)
			return
		}
	case []any:
		if before, ok := before.([]any); ok && keyed(t) {
			d.items(t, before, after)
			return
		}
	}
	if !pod.Equal(before, after) {
		d.note(Replaced, before)
	}
}

// appear notes a value where there was none: the parent, and below it all that came with it. A union
// is one thing: a default that the API server sets in it must not outlive the rest.
func (d *differ) appear(t *pod.Type, after any) {
	if t != nil && t.Union != nil {
		d.note(Added, nil)
		return
	}
	mark := len(d.changes)
	d.note(Created, nil)
	switch after := after.(type) {
	case map[string]any:
		d.maps(t, nil, after)
	case []any:
		if keyed(t) && allKeyed(t, after) {
			d.items(t, nil, after)
		}
	}
	if _, ok := after.(map[string]any); !ok && len(d.changes) == mark+1 {
		d.changes[mark].Kind = Added
	}
}

func (d *differ) maps(t *pod.Type, before, after map[string]any) {
	start, mark := len(d.keys), len(d.path)
	for k, v := range before {
		if !settled(v, after[k]) {
			d.keys = append(d.keys, k)
		}
	}
	for k, v := range after {
		if _, ok := before[k]; !ok && v != nil {
			d.keys = append(d.keys, k)
		}
	}
	end := len(d.keys)
	slices.Sort(d.keys[start:end])
	for i := start; i < end; i++ {
		k := d.keys[i]
		d.path = pod.AppendToken(d.path[:mark], k)
		if t != nil && t.Union[k] && before[k] == nil {
			d.note(Added, nil)
			continue
		}
		d.value(t.Field(k), before[k], after[k])
	}
	d.keys, d.path = d.keys[:start], d.path[:mark]
}

// items notes the items that are gone, and then, in their order, those that came and those that
// changed.
func (d *differ) items(t *pod.Type, before, after []any) {
	old, now := tally(t, before), tally(t, after)
	partners, regular := pair(old, now)
	mark := len(d.path)
	for i, name := range old.names {
		if regular && name != "" && now.count[name] == 0 {
			d.path = pod.AppendToken(d.path[:mark], name)
			d.note(Removed, before[i])
			d.changes[len(d.changes)-1].Index = i
		}
	}
	for j, name := range now.names {
		d.path = pod.AppendToken(d.path[:mark], name)
		if name != "" && old.count[name] == 0 {
			d.note(Added, nil)
		} else if regular && name != "" && !settled(before[partners[j]], after[j]) {
			d.value(t.Elem, before[partners[j]], after[j])
		}
	}
	d.path = d.path[:mark]
	if !regular {
		d.note(Replaced, before)
	}
}

// names are the tokens of a list's items, in order, empty for one that lacks its key.
type names struct {
	list  []any
	names []string
	count map[string]int
}

func tally(t *pod.Type, list []any) names {
	n := names{list, make([]string, len(list)), make(map[string]int, len(list))}
	for i, item := range list {
		n.names[i], _ = token(t, item)
		n.count[n.names[i]]++
	}
	return n
}

func allKeyed(t *pod.Type, list []any) bool {
	for _, item := range list {
		if _, ok := token(t, item); !ok {
			return false
		}
	}
	return true
}

// pair finds for each item of now that was there before its place in old. It is false unless those
// items stand in the same order in both, and all of them that a token does not name, because they
// lack it or are not the first to have it, are the same.
func pair(old, now names) (partners []int, regular bool) {
	partners = make([]int, len(now.names))
	first := make(map[string]bool, len(now.names))
	i := 0
	for j, name := range now.names {
		if name != "" && old.count[name] == 0 {
			continue
		}
		for i < len(old.names) && old.names[i] != "" && now.count[old.names[i]] == 0 {
			i++
		}
		if i == len(old.names) || old.names[i] != name {
			return nil, false
		}
		if (name == "" || first[name]) && !pod.Equal(old.list[i], now.list[j]) {
			return nil, false
		}
		first[name] = true
		partners[j] = i
		i++
	}
	for ; i < len(old.names); i++ {
		if name := old.names[i]; name == "" || now.count[name] > 0 {
			return nil, false
		}
	}
	return partners, true
}

// settled tells, at little cost, that two values are the same; it may miss that they are. Merge shares
// what it does not change.
func settled(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
