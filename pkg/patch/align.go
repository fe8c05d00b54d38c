// SPDX-License-Identifier: Apache-2.0

package patch

// common counts the items that two lists share at the front and, of the rest, at the end.
func common(before, after []any) (head, tail int) {
	shorter := min(len(before), len(after))
	for head < shorter && same(before[head], after[head]) {
		head++
	}
	for tail < shorter-head && same(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	return head, tail
}

// align pairs the items that stay: pairs[j] is the index in before of the item that stands at j in
// after, or -1 for a new one. It is false where the items that stay have changed their order. The
// cost is linear, whatever the lists hold.
func align(before, after []any) (pairs []int, inOrder bool) {
	pairs = make([]int, len(after))
	for j := range pairs {
		pairs[j] = -1
	}
	if len(after) == 0 {
		return pairs, true
	}
	old, now := identify(before, after)
	if onlyAdds(pairs, old, now) || onlyRemoves(pairs, old, now) {
		return pairs, true
	}
	return pairs, byOccurrence(pairs, old, now)
}

// onlyAdds pairs every item of old, if all of them stay in order.
func onlyAdds(pairs, old, now []int) bool {
	i := 0
	for j, id := range now {
		pairs[j] = -1
		if i < len(old) && old[i] == id {
			pairs[j] = i
			i++
		}
	}
	return i == len(old)
}

// onlyRemoves pairs every item of now, if all of them were there in order.
func onlyRemoves(pairs, old, now []int) bool {
	j := 0
	for i, id := range old {
		if j < len(now) && now[j] == id {
			pairs[j] = i
			j++
		}
	}
	return j == len(now)
}

// byOccurrence pairs the n-th item of an identity with the n-th one.
func byOccurrence(pairs, old, now []int) bool {
	first := make([]int, len(old)+len(now)) // by identity: where the next one stands, plus one
	next := make([]int, len(old))
	for i := len(old) - 1; i >= 0; i-- {
		next[i] = first[old[i]]
		first[old[i]] = i + 1
	}
	last := -1
	for j, id := range now {
		p := first[id] - 1
		pairs[j] = p
		if p < 0 {
			continue
		}
		if p < last {
			return false
		}
		last, first[id] = p, next[p]
	}
	return true
}

// identity is what makes two items the same one: their name, or all that they hold.
type identity struct {
	named bool
	text  string
}

// identify numbers the identities of two lists, below the sum of their lengths.
func identify(before, after []any) (old, now []int) {
	names := make(map[string]uint8, len(before))
	seen(names, before, 1)
	seen(names, after, 2)
	numbers := make(map[identity]int, len(before))
	ids := make([]int, 0, len(before)+len(after))
	e := encoder{bare: true}
	for _, list := range [2][]any{before, after} {
		for _, item := range list {
			id := identity{true, name(item)}
			if id.text == "" || names[id.text]&twice != 0 {
				e.dst = e.dst[:0]
				e.value(item)
				id = identity{false, string(e.dst)}
			}
			number, known := numbers[id]
			if !known {
				number = len(numbers)
				numbers[id] = number
			}
			ids = append(ids, number)
		}
	}
	return ids[:len(before)], ids[len(before):]
}

// twice marks a name that one list holds more than once: it tells no items apart.
const twice = 4

// seen marks the names of a list with its bit.
func seen(names map[string]uint8, list []any, bit uint8) {
	for _, item := range list {
		n := name(item)
		if names[n]&bit != 0 {
			names[n] |= twice
		}
		names[n] |= bit
	}
}

// name is an item's name, or empty.
func name(item any) string {
	m, _ := item.(map[string]any)
	text, _ := m["name"].(string)
	return text
}

func named(item any) bool { return name(item) != "" }

func anyNamed(list []any) bool {
	for _, item := range list {
		if named(item) {
			return true
		}
	}
	return false
}

func survives(pairs []int) bool {
	for _, p := range pairs {
		if p >= 0 {
			return true
		}
	}
	return false
}
