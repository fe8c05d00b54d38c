// SPDX-License-Identifier: Apache-2.0

package patch

import "slices"

// Between is the patch that turns before into after, or nil where they mean the same.
//
// A member that is null means the same as one that is absent, so neither is turned into the other,
// and nothing is ever added below a parent that is missing or null: the whole parent is. Items of a
// list that have a name of their own in it are compared by name and patched inside; every other item
// is compared as a whole. Where the items that stay change their order, or nothing of a list without
// names stays, the whole list is replaced. So a remove tells of something that is gone.
//
// The operations apply in sequence and come in a fixed order. Their values are shared with after.
func Between(before, after map[string]any) []Op {
	d := differ{path: make([]byte, 0, 64)}
	d.maps(before, after)
	return d.ops
}

type differ struct {
	path []byte   // of the value at hand
	keys []string // a stack: the keys to visit of every map on the way
	ops  []Op
}

func (d *differ) op(op string, value any) {
	d.ops = append(d.ops, Op{Op: op, Path: string(d.path), Value: value})
}

// item is op for the item at an index of the list at hand.
func (d *differ) item(index int, op string, value any) {
	mark := len(d.path)
	d.path = appendIndex(d.path, index)
	d.op(op, value)
	d.path = d.path[:mark]
}

func (d *differ) maps(before, after map[string]any) {
	if sharedMaps(before, after) {
		return
	}
	start, mark := len(d.keys), len(d.path)
	for k, v := range after {
		if !settled(before[k], v) {
			d.keys = append(d.keys, k)
		}
	}
	for k, v := range before {
		if _, kept := after[k]; !kept && v != nil {
			d.keys = append(d.keys, k)
		}
	}
	end := len(d.keys)
	slices.Sort(d.keys[start:end])
	for i := start; i < end; i++ {
		k := d.keys[i]
		d.path = appendToken(d.path[:mark], k)
		value, kept := after[k]
		switch old := before[k]; {
		case !kept:
			d.op(opRemove, nil)
		case old == nil:
			d.op(opAdd, value)
		default:
			d.value(old, value)
		}
	}
	d.keys, d.path = d.keys[:start], d.path[:mark]
}

func (d *differ) value(before, after any) {
	switch after := after.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			d.maps(before, after)
			return
		}
	case []any:
		if before, ok := before.([]any); ok {
			d.lists(before, after)
			return
		}
	}
	if !same(before, after) {
		d.op(opReplace, after)
	}
}

func (d *differ) lists(before, after []any) {
	head, tail := common(before, after)
	gone, come := before[head:len(before)-tail], after[head:len(after)-tail]
	if len(gone) == 0 {
		d.gap(head, nil, come)
		return
	}
	pairs, inOrder := align(gone, come)
	if !inOrder || head+tail == 0 && !survives(pairs) && !anyNamed(gone) {
		d.op(opReplace, after)
		return
	}
	at, i, j := head, 0, 0
	for k, p := range pairs {
		if p < 0 {
			continue
		}
		at = d.gap(at, gone[i:p], come[j:k])
		mark := len(d.path)
		d.path = appendIndex(d.path, at)
		d.value(gone[p], come[k])
		d.path = d.path[:mark]
		at, i, j = at+1, p+1, k+1
	}
	d.gap(at, gone[i:], come[j:])
}

// gap patches a run of items of which none stays, and is the index behind it. An item without a name
// may take the place of another; a named one never does, for that would read as a new name for it.
func (d *differ) gap(at int, gone, come []any) int {
	for len(gone) > 0 && len(come) > 0 && !named(gone[0]) && !named(come[0]) {
		d.item(at, opReplace, come[0])
		at, gone, come = at+1, gone[1:], come[1:]
	}
	for range gone {
		d.item(at, opRemove, nil)
	}
	for _, item := range come {
		d.item(at, opAdd, item)
		at++
	}
	return at
}
