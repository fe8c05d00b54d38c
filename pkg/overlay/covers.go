// SPDX-License-Identifier: Apache-2.0

package overlay

import "github.com/pillion-dev/pillion/pkg/pod"

// Covers tells whether all of want is in have; every tree covers itself. Items of keyed lists are looked
// up by key, in any order, and both may hold more than is wanted: what the API server and others have
// added since. Where items share a key, as variables may, the n-th of want is the n-th of have; a set
// has no use for a second one. Other lists must have the same length, and cover each other item by item.
func Covers(t *pod.Type, have, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		m, ok := have.(map[string]any)
		if !ok && len(want) == 0 {
			return void(t, want) // an empty struct is a value: emptyDir
		}
		for k, v := range want {
			if !Covers(t.Field(k), m[k], v) {
				return false
			}
		}
		return true
	case []any:
		list, ok := have.([]any)
		if !ok && have != nil {
			return false
		}
		if keyed(t) {
			return coversItems(t, list, want)
		}
		if len(list) != len(want) {
			return false
		}
		for i := range want {
			if !Covers(itemType(t), list[i], want[i]) {
				return false
			}
		}
		return true
	}
	return pod.Equal(have, want)
}

func coversItems(t *pod.Type, have, want []any) bool {
	x := newTurns(t, have)
	for _, item := range want {
		name, ok := token(t, item)
		if !ok {
			continue // nothing can be said of an item without a key
		}
		i := x.take(name)
		if i < 0 || !Covers(t.Elem, have[i], item) {
			return false
		}
	}
	return true
}

// turns gives out the items of a list by their tokens, those of one token in turn. Short lists are
// searched, long ones mapped.
type turns struct {
	t     *pod.Type
	list  []any
	taken [short]bool    // of a short list
	first map[string]int // the next item to give out of each token
	next  []int          // the one after it, or -1
}

func newTurns(t *pod.Type, list []any) turns {
	x := turns{t: t, list: list}
	if len(list) <= short {
		return x
	}
	x.first, x.next = make(map[string]int, len(list)), make([]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		name, ok := token(t, list[i])
		if !ok {
			continue
		}
		x.next[i] = -1
		if later, ok := x.first[name]; ok {
			x.next[i] = later
		}
		x.first[name] = i
	}
	return x
}

// take is the place of the next item with the token, or -1. The items of a set are there for good.
func (x *turns) take(name string) int {
	if x.first != nil {
		i, ok := x.first[name]
		if !ok {
			return -1
		}
		if i >= 0 && !x.t.Set {
			x.first[name] = x.next[i]
		}
		return i
	}
	for i, item := range x.list {
		if other, ok := token(x.t, item); ok && other == name && !x.taken[i] {
			x.taken[i] = !x.t.Set
			return i
		}
	}
	return -1
}

func itemType(t *pod.Type) *pod.Type {
	if t == nil {
		return nil
	}
	return t.Elem
}
