// SPDX-License-Identifier: Apache-2.0

package pod

import "maps"

// Object is a member that is an object; nil when it is none.
func Object(m map[string]any, key string) map[string]any {
	o, _ := m[key].(map[string]any)
	return o
}

// Items is a member that is a list; nil when it is none.
func Items(m map[string]any, key string) []any {
	l, _ := m[key].([]any)
	return l
}

// Text is a member that is a text; empty when it is none.
func Text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// Named is the first object of a list that has the name; nil when there is none.
func Named(items []any, name string) map[string]any {
	if at := Place(items, name); at >= 0 {
		return items[at].(map[string]any)
	}
	return nil
}

// Place is where the first object of a list that has the name stands; -1 when there is none.
func Place(items []any, name string) int {
	for i, item := range items {
		if m, ok := item.(map[string]any); ok && m["name"] == name {
			return i
		}
	}
	return -1
}

// With is a copy of the object with one member set, or without it where the value is nil.
func With(m map[string]any, key string, value any) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	if value == nil {
		delete(out, key)
		return out
	}
	out[key] = value
	return out
}

// ContainerLists are the lists of a spec in which containers run.
var ContainerLists = [2]string{"containers", "initContainers"}
