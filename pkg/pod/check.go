// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Fault is a value that the schema does not allow.
type Fault struct {
	Pointer string // RFC 6901
	Detail  string
}

// Error tells the dotted path and the fault.
func (f Fault) Error() string { return Dotted(f.Pointer) + ": " + f.Detail }

// Check is what strict decoding of the value into the type would complain of: unknown fields and
// values of a wrong type, in the order of their paths. null is no fault: it stands for absent.
func (t *Type) Check(value any) []Fault {
	c := checker{}
	c.value(t, value)
	return c.faults
}

type checker struct {
	only   Kind // the one kind to check; zero for all
	path   []byte
	faults []Fault
	keys   []string // a stack: the keys of every map on the way, one allocation for all
}

func (c *checker) fault(kind Kind, format string, args ...any) {
	if c.only != 0 && c.only != kind {
		return
	}
	c.faults = append(c.faults, Fault{string(c.path), fmt.Sprintf(format, args...)})
}

func (c *checker) value(t *Type, value any) {
	if value == nil {
		return
	}
	switch t.Kind {
	case Any:
	case Struct, Map:
		m, ok := value.(map[string]any)
		if !ok {
			c.fault(t.Kind, "want an object, got %s", Describe(value))
			return
		}
		c.fields(t, m)
	case List:
		c.list(t, value)
	default:
		c.scalar(t.Kind, value)
	}
}

func (c *checker) fields(t *Type, m map[string]any) {
	start := len(c.keys)
	for k := range m {
		c.keys = append(c.keys, k)
	}
	end := len(c.keys)
	slices.Sort(c.keys[start:end])
	mark := len(c.path)
	for i := start; i < end; i++ {
		k := c.keys[i]
		c.path = AppendToken(c.path[:mark], k)
		field := t.Field(k)
		if field == nil {
			c.fault(Any, "unknown field")
			continue
		}
		c.value(field, m[k])
	}
	c.path, c.keys = c.path[:mark], c.keys[:start]
}

func (c *checker) list(t *Type, value any) {
	list, ok := value.([]any)
	if !ok {
		c.fault(List, "want a list, got %s", Describe(value))
		return
	}
	mark := len(c.path)
	for i, item := range list {
		c.path = strconv.AppendInt(append(c.path[:mark], '/'), int64(i), 10)
		c.value(t.Elem, item)
	}
	c.path = c.path[:mark]
}

func (c *checker) scalar(kind Kind, value any) {
	ok := false
	want := "a string"
	switch v := value.(type) {
	case string:
		ok = kind == String || kind == Time || kind == IntOrString
		if kind == Quantity {
			if err := CheckQuantity(v); err != nil {
				c.fault(kind, "%v", err)
			}
			return
		}
	case int64:
		small := v >= math.MinInt32 && v <= math.MaxInt32
		ok = kind == Int || kind == Quantity || small && (kind == Int32 || kind == IntOrString)
	case json.Number:
		ok = kind == Quantity && CheckQuantity(v.String()) == nil
	case bool:
		ok = kind == Bool
	}
	switch kind {
	case Int:
		want = "an integer"
	case Int32:
		want = "an integer of 32 bits"
	case Bool:
		want = "true or false"
	case Quantity:
		want = "a quantity"
	case IntOrString:
		want = "an integer or a string"
	}
	if !ok {
		c.fault(kind, "want %s, got %s", want, Describe(value))
	}
}

// Describe names a tree value for an error message, shortened.
func Describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		if len(v) > 40 {
			v = v[:40] + "…"
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(value)
}
