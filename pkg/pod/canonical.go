// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"fmt"
)

// Canonical is a value of the type as the API server writes it after it has read it: without null and
// the zero values that it leaves out, and with quantities in their shortest form. What the schema
// does not know stays as it is. The value is not changed; the result may share with it.
func Canonical(t *Type, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if item == nil || t != nil && t.Omitted[key] && Zero(item) {
				continue
			}
			out[key] = Canonical(t.Field(key), item)
		}
		return out
	case []any:
		var elem *Type
		if t != nil && t.Kind == List {
			elem = t.Elem
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Canonical(elem, item)
		}
		return out
	}
	if t == nil || t.Kind != Quantity {
		return value
	}
	return canonicalQuantity(value)
}

// canonicalQuantity leaves what is no quantity to whoever checks the value.
func canonicalQuantity(value any) any {
	switch value.(type) {
	case string, int64, json.Number:
	default:
		return value
	}
	q, err := ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return value
	}
	return q.String()
}

// Zero tells whether a value is the zero value of its kind, which the API leaves out where a field says
// so.
func Zero(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
