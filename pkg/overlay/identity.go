// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"encoding/json"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// keyed tells that the items of a list are told apart by a key of theirs, or by themselves in a set.
func keyed(t *pod.Type) bool {
	return t != nil && t.Kind == pod.List && (t.Set || len(t.MergeKeys) > 0)
}

// token names an item of a keyed list: its merge keys, joined with a slash, or itself in a set. It is
// false for an item that lacks its key. A port without a protocol is a TCP port.
func token(t *pod.Type, item any) (string, bool) {
	if t.Set {
		return scalar(item)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	name := ""
	for i, key := range t.MergeKeys {
		value := m[key]
		if value == nil && key == "protocol" {
			value = "TCP"
		}
		part, ok := scalar(value)
		if !ok {
			return "", false
		}
		if i > 0 {
			part = name + "/" + part
		}
		name = part
	}
	return name, true
}

// scalar is the text of a value that may be a key; an empty one is none.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, v != ""
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), v != ""
	}
	return "", false
}

// blank tells that an item without a key holds nothing at all.
func blank(item any) bool {
	switch v := item.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		for _, member := range v {
			if member != nil && member != "" {
				return false
			}
		}
		return true
	}
	return false
}

// index finds the first item of a token in a list. Short lists are searched, long ones mapped.
type index struct {
	t     *pod.Type
	list  []any
	known map[string]int
}

// short is the length up to which a search beats a map.
const short = 12

// newIndex is the index of a list that may grow by more items.
func newIndex(t *pod.Type, list []any, more int) index {
	x := index{t: t, list: list}
	if len(list)+more <= short {
		return x
	}
	x.known = make(map[string]int, len(list))
	for i := range list {
		x.note(i)
	}
	return x
}

func (x *index) note(i int) {
	name, ok := token(x.t, x.list[i])
	if _, twice := x.known[name]; ok && !twice {
		x.known[name] = i
	}
}

// own makes the list one that may be written to, with room for more items.
func (x *index) own(more int) {
	list := make([]any, len(x.list), len(x.list)+more)
	copy(list, x.list)
	x.list = list
}

// add appends an item.
func (x *index) add(item any) {
	x.list = append(x.list, item)
	if x.known != nil {
		x.note(len(x.list) - 1)
	}
}

// find is the place of the first item with the token, or -1.
func (x *index) find(name string) int {
	if x.known != nil {
		if i, ok := x.known[name]; ok {
			return i
		}
		return -1
	}
	for i, item := range x.list {
		if other, ok := token(x.t, item); ok && other == name {
			return i
		}
	}
	return -1
}
