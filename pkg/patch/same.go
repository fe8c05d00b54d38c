// SPDX-License-Identifier: Apache-2.0

package patch

import "reflect"

// same tells whether two values mean the same: a null member counts as an absent one.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && sameLists(a, b)
	}
	return !composite(b) && a == b
}

func sameMaps(a, b map[string]any) bool {
	if sharedMaps(a, b) {
		return true
	}
	extra := 0
	for k, v := range a {
		if v == nil {
			continue
		}
		if !same(v, b[k]) {
			return false
		}
		extra--
	}
	for _, v := range b {
		if v != nil {
			extra++
		}
	}
	return extra == 0
}

func sameLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	if sharedLists(a, b) {
		return true
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// settled tells, at little cost, that two values are the same; it may miss that they are.
func settled(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sharedMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && sharedLists(a, b)
	}
	return !composite(b) && a == b
}

func composite(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// sharedMaps tells that two maps are one and the same: a stage that changes a pod keeps what it does
// not touch.
func sharedMaps(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// sharedLists is sharedMaps for two lists of the same length.
func sharedLists(a, b []any) bool { return len(a) == 0 || &a[0] == &b[0] }
