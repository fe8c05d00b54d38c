// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"cmp"
	"slices"
	"strconv"
)

// checkOrder finds the item of a directive's order that orders nothing.
func (r rules) checkOrder(order []any) error {
	for i, item := range order {
		if err := r.checkKey(item); err != nil {
			return under(strconv.Itoa(i), err)
		}
	}
	return nil
}

// follows tells whether the layer's items stand in the order that a directive asks for.
func (r rules) follows(layer, order []any) error {
	if len(order) == 0 {
		return nil
	}
	next := 0
	for i, item := range layer {
		if _, marked := markOf(item); marked {
			continue
		}
		key := r.keyOf(item)
		for next < len(order) && r.keyOf(order[next]) != key {
			next++
		}
		if next == len(order) {
			return under(strconv.Itoa(i), faultf("stands in another order than %s says, or not in it", markOrder))
		}
		next++
	}
	return nil
}

// arrange gives the items of a merged list the order of a directive.
func (r rules) arrange(base, merged, order []any) ([]any, error) {
	if len(order) == 0 {
		return merged, nil
	}
	old := newKeys(nil, len(base), len(merged))
	for _, item := range base {
		old = old.with(r.keyOf(item))
	}
	old.n = len(base)
	have := newKeys(nil, len(merged), 0)
	for i, item := range merged {
		key := r.keyOf(item)
		if key == nil && r.key == "" {
			return nil, under(strconv.Itoa(i), faultf("%s cannot order what has no merge key", markOrder))
		}
		have = have.with(key)
	}
	wanted := newKeys(nil, len(order), len(merged))
	for _, item := range order {
		wanted = wanted.with(r.keyOf(item))
	}
	return inSequence(base, merged, sequence(nil, &have, &old, &wanted)), nil
}

// place is where an item stands, and what it is sorted by.
type place struct{ at, rank int }

func byRank(a, b place) int { return cmp.Compare(a.rank, b.rank) }

// sequence is the order of the items that have the keys: those that are in the wanted order keep it,
// the others, which are all in base, keep base's, and one of these goes before one of those where it
// did in base.
func sequence(buf []int, have, base, order *keys) []int {
	var room [2][few]place
	wanted, others := room[0][:0], room[1][:0]
	for i, key := range have.of {
		if rank := order.find(key); rank >= 0 {
			wanted = append(wanted, place{i, rank})
			continue
		}
		rank := i
		if key != nil {
			rank = base.place(key)
		}
		others = append(others, place{i, rank})
	}
	slices.SortStableFunc(wanted, byRank)
	slices.SortStableFunc(others, byRank)
	for _, item := range wanted {
		at := base.place(have.of[item.at])
		for len(others) > 0 && others[0].rank < at {
			buf, others = append(buf, others[0].at), others[1:]
		}
		buf = append(buf, item.at)
	}
	for _, item := range others {
		buf = append(buf, item.at)
	}
	return buf
}

// inSequence is the items in the sequence, or base if that is the same.
func inSequence(base, items []any, sequence []int) []any {
	same := len(base) == len(sequence)
	for i := 0; same && i < len(sequence); i++ {
		same = settled(base[i], items[sequence[i]])
	}
	if same {
		return base
	}
	out := make([]any, len(sequence))
	for i, at := range sequence {
		out[i] = items[at]
	}
	return out
}
