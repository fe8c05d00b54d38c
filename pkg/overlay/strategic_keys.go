// SPDX-License-Identifier: Apache-2.0

package overlay

// few is the length of a list up to which its merge needs no memory but the result's.
const few = 64

// searches is how many comparisons of keys a map has to save.
const searches = 2048

// keys are those of a list's items, nil for one that has none.
type keys struct {
	of    []any
	first map[any]int // where a key is first, if there is much to look up
	n     int         // how many of the items were there from the start
}

// newKeys has room for some keys, in buf if they fit, and is made for that many searches.
func newKeys(buf []any, room, lookups int) keys {
	k := keys{of: buf}
	if room > cap(buf) {
		k.of = make([]any, 0, room)
	}
	if room*lookups > searches {
		k.first = make(map[any]int, room)
	}
	return k
}

// with is the keys and one more. A value, so that what it was made in may stay on the stack.
func (k keys) with(key any) keys {
	k.of = append(k.of, key)
	if _, twice := k.first[key]; k.first != nil && key != nil && !twice {
		k.first[key] = len(k.of) - 1
	}
	return k
}

// find is where a key is first, or -1.
func (k *keys) find(key any) int {
	if key == nil {
		return -1
	}
	if k.first != nil {
		if i, ok := k.first[key]; ok {
			return i
		}
		return -1
	}
	for i, other := range k.of {
		if other == key {
			return i
		}
	}
	return -1
}

// place is where a key was first from the start, or -1.
func (k *keys) place(key any) int {
	if i := k.find(key); i < k.n {
		return i
	}
	return -1
}
