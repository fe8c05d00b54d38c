// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// twins tell what becomes of the layer's items that share a key. Of a pod that comes again the layer
// must change nothing, so what a first pass makes of them has to be what a second one finds.
type twins struct {
	apart  map[any]int // how many the layer has, where its n-th item goes with base's n-th or comes new
	joined map[any]any // what all items of a key make together, base's only one among them
}

// twins decide by base: where it has several of a key, the layer's stay apart. Else they all merge into
// one, as in the API. That one is laid over until it stays what it is; if it never does, they stay apart
// here too.
func (r rules) twins(base, layer, have, order []any) (twins, error) {
	same := twins{map[any]int{}, map[any]any{}}
	ours, theirs := placesOf(have), placesOf(order)
	for j, key := range order {
		places := theirs[key]
		if len(places) < 2 || places[0] != j {
			continue
		}
		if len(ours[key]) > 1 {
			same.apart[key] = len(places)
			continue
		}
		if r.set {
			continue
		}
		var old any
		if len(ours[key]) == 1 {
			old = base[ours[key][0]]
		}
		value, err := r.settle(old, layer, places)
		if err != nil {
			return twins{}, err
		}
		if value == nil {
			same.apart[key] = len(places)
			continue
		}
		same.joined[key] = value
	}
	return same, nil
}

// placesOf is where each key stands.
func placesOf(of []any) map[any][]int {
	places := map[any][]int{}
	for i, key := range of {
		if key != nil {
			places[key] = append(places[key], i)
		}
	}
	return places
}

// rounds is how often items are laid over one before it is given up that they come to an end. What turns
// round and round is the order of lists in them: one has a before b, one b before c, one c before a.
const rounds = 4

// settle is the item with the layer's in those places over it, such that once more changes nothing; nil
// if there is no such end.
func (r rules) settle(old any, layer []any, places []int) (any, error) {
	value, err := r.layAll(old, layer, places)
	if err != nil {
		return nil, err
	}
	for range rounds {
		again, err := r.layAll(value, layer, places)
		if err != nil {
			return value, nil // a list that came new has an item without its key; no second time goes well
		}
		if pod.Equal(value, again) {
			if pod.Equal(old, value) {
				return old, nil
			}
			return value, nil
		}
		value = again
	}
	return nil, nil
}

func (r rules) layAll(value any, layer []any, places []int) (any, error) {
	for _, j := range places {
		var err error
		if value, err = patchMember(r.elem, "", value, layer[j]); err != nil {
			return nil, under(strconv.Itoa(j), err)
		}
	}
	return value, nil
}

// nth is the key of an item that is not the first of its own.
type nth struct {
	key any
	n   int
}

func isNth(key any) bool {
	_, ok := key.(nth)
	return ok
}

// numbered is the keys with those that stand apart told from each other. The first one's is the key
// itself, so that it is found as ever, and what base has more of than the layer goes by the layer's last:
// so it stays behind it, and is no other one the next time.
func (k keys) numbered(apart map[any]int) keys {
	if len(apart) == 0 {
		return k
	}
	out := keys{of: make([]any, 0, cap(k.of)), n: k.n}
	if k.first != nil {
		out.first = make(map[any]int, len(k.of))
	}
	count := map[any]int{}
	for _, key := range k.of {
		n := min(count[key], apart[key]-1)
		count[key]++
		if n > 0 {
			key = nth{key, n}
		}
		out = out.with(key)
	}
	return out
}
