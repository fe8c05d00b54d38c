// SPDX-License-Identifier: Apache-2.0

package overlay

import "github.com/pillion-dev/pillion/pkg/pod"

// Covers tells whether all of want is in have. Items of keyed lists are looked up by key, in any
// order, and both may hold more than is wanted: what the API server and others have added since.
// Other lists must have the same length, and cover each other item by item.
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
	x := newIndex(t, have, 0)
	for _, item := range want {
		name, ok := token(t, item)
		if !ok {
			continue // nothing can be said of an item without a key
		}
		i := x.find(name)
		if i < 0 || !Covers(t.Elem, have[i], item) {
			return false
		}
	}
	return true
}

func itemType(t *pod.Type) *pod.Type {
	if t == nil {
		return nil
	}
	return t.Elem
}
