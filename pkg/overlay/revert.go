// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// Revert undoes changes in a tree: Revert(t, after, Changes(t, before, after)) means the same as
// before, and what others added to after in the meantime stays, unless it stands inside something
// that was added whole. A change whose place is gone is passed over. The order of the changes does
// not matter.
//
// The tree is not changed; the result shares with it, and with the old values, what is not undone. It
// is an error if a path is no JSON pointer or a kind is none.
func Revert(t *pod.Type, after any, changes []Change) (any, error) {
	root := &node{}
	for _, c := range changes {
		if err := root.put(c); err != nil {
			return nil, err
		}
	}
	out, _ := root.undo(t, after)
	return out, nil
}

// node is a place in a tree and what is to be undone there.
type node struct {
	kids    map[string]*node
	added   int // how many items of this name
	created bool
	old     any // if replaced
	removed []Change
}

// put notes a change at its place below the node.
func (n *node) put(c Change) error {
	if !jsontext.Pointer(c.Path).IsValid() {
		return fmt.Errorf("revert a change: %q is no JSON pointer", c.Path)
	}
	for token := range jsontext.Pointer(c.Path).Tokens() {
		kid := n.kids[token]
		if kid == nil {
			kid = &node{}
			if n.kids == nil {
				n.kids = map[string]*node{}
			}
			n.kids[token] = kid
		}
		n = kid
	}
	switch c.Kind {
	case Added:
		n.added++
	case Created:
		n.created = true
	case Replaced:
		n.old = c.Old
	case Removed:
		n.removed = append(n.removed, c)
	default:
		return fmt.Errorf("revert a change at %s: %d is no kind", c.Path, c.Kind)
	}
	return nil
}

// undo is the value as it was; nil stands for none. What stands deeper goes first, so that a parent
// is seen without it.
func (n *node) undo(t *pod.Type, value any) (out any, changed bool) {
	if n.added > 0 {
		return n.old, true
	}
	out, changed = n.inside(t, value)
	if n.created && hollow(t, out) {
		out, changed = nil, true
	}
	if n.old != nil {
		out, changed = restore(t, out, n.old), true
	}
	return out, changed
}

// inside undoes what the kids say.
func (n *node) inside(t *pod.Type, value any) (any, bool) {
	if len(n.kids) == 0 {
		return value, false
	}
	switch value := value.(type) {
	case map[string]any:
		return n.members(t, value)
	case []any:
		if keyed(t) {
			return n.items(t, value), true
		}
	}
	return value, false
}

func (n *node) members(t *pod.Type, m map[string]any) (any, bool) {
	out, copied := m, false
	for k, kid := range n.kids {
		value, changed := kid.undo(t.Field(k), m[k])
		if !changed || value == nil && m[k] == nil {
			continue
		}
		if !copied {
			out, copied = maps.Clone(m), true
		}
		if out[k] = value; value == nil {
			delete(out, k)
		}
	}
	return out, copied
}

func (n *node) items(t *pod.Type, list []any) []any {
	out := make([]any, 0, len(list))
	here, met := map[string]bool{}, map[string]int{}
	for _, item := range list {
		name, ok := token(t, item)
		kid := n.kids[name]
		if !ok || kid == nil {
			out = append(out, item)
			continue
		}
		if met[name]++; met[name] <= kid.added {
			continue
		}
		if !here[name] && kid.added == 0 {
			item, _ = kid.undo(t.Elem, item)
		}
		here[name] = true
		if item != nil {
			out = append(out, item)
		}
	}
	return insert(out, n.gone(here))
}

// gone lists the removed items that are not here, in the order of their places.
func (n *node) gone(here map[string]bool) []Change {
	var gone []Change
	for name, kid := range n.kids {
		if !here[name] {
			gone = append(gone, kid.removed...)
		}
	}
	slices.SortStableFunc(gone, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Path, b.Path))
	})
	return gone
}

// insert puts the items back, each at its place or, where the list is too short, at its end.
func insert(list []any, gone []Change) []any {
	if len(gone) == 0 {
		return list
	}
	out := make([]any, 0, len(list)+len(gone))
	for _, c := range gone {
		if n := min(c.Index-len(out), len(list)); n > 0 {
			out, list = append(out, list[:n]...), list[n:]
		}
		out = append(out, c.Old)
	}
	return append(out, list...)
}

// hollow tells that nothing is left in a parent.
func hollow(t *pod.Type, value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for k, member := range v {
			if !void(t.Field(k), member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

// restore is the old value, beside what others have put there since.
func restore(t *pod.Type, now, old any) any {
	switch old := old.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			return restoreMembers(t, now, old)
		}
	case []any:
		if now, ok := now.([]any); ok && keyed(t) {
			return restoreItems(t, now, old)
		}
	}
	return old
}

func restoreMembers(t *pod.Type, now, old map[string]any) any {
	out := maps.Clone(now)
	for k, v := range old {
		if v != nil {
			out[k] = restore(t.Field(k), now[k], v)
		}
	}
	out, _ = choose(t, out, old, true)
	return out
}

// restoreItems is the old list, followed by the items of a key that it does not know.
func restoreItems(t *pod.Type, now, old []any) []any {
	known := newIndex(t, old, len(now))
	out := slices.Clip(old)
	for _, item := range now {
		if name, ok := token(t, item); ok && known.find(name) < 0 {
			out = append(out, item)
		}
	}
	return out
}
