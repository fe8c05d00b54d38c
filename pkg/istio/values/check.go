// SPDX-License-Identifier: Apache-2.0

package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
)

// checker compares values with the types that they should have. It never writes to them.
type checker struct {
	origin config.Origin
	faults config.Errors
}

func (c *checker) fault(path, detail string) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, config.Error{File: c.origin.File, Line: c.origin.First, Field: path, Detail: detail})
	}
}

// value checks one value; null fits everywhere.
func (c *checker) value(path string, want reflect.Type, value any, depth int) {
	switch {
	case value == nil:
		return
	case depth > maxDepth:
		c.fault(path, fmt.Sprintf("more than %d maps and lists in each other", maxDepth))
		return
	}
	switch v := value.(type) {
	case map[string]any:
		c.object(path, want, v, depth)
	case []any:
		c.list(path, want, v, depth)
	default:
		if word, ok := fits(want, value); !ok {
			c.fault(path, "want "+word+", got "+describe(value))
		}
	}
}

func (c *checker) object(path string, want reflect.Type, object map[string]any, depth int) {
	field := func(string) reflect.Type { return anything }
	switch want.Kind() {
	case reflect.Struct:
		field = func(key string) reflect.Type { return fieldOf(want, key) }
	case reflect.Map:
		field = func(string) reflect.Type { return want.Elem() }
	case reflect.Interface:
	default:
		c.fault(path, "want "+word(want)+", got a map")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		c.value(strings.TrimPrefix(path+"."+key, "."), field(key), object[key], depth+1)
	}
}

func (c *checker) list(path string, want reflect.Type, list []any, depth int) {
	item := anything
	switch want.Kind() {
	case reflect.Slice:
		item = want.Elem()
	case reflect.Interface:
	default:
		c.fault(path, "want "+word(want)+", got a list")
		return
	}
	for i, v := range list {
		c.value(path+"["+strconv.Itoa(i)+"]", item, v, depth+1)
	}
}

// anything is the type of what is not known.
var anything = reflect.TypeFor[any]()

// fieldOf is the type of a field by its name in JSON.
func fieldOf(want reflect.Type, key string) reflect.Type {
	for i := range want.NumField() {
		if want.Field(i).Tag.Get("json") == key {
			return want.Field(i).Type
		}
	}
	return anything
}

// fits tells whether a string, a boolean or a number is what is wanted, and what that is. A number
// may stand in quotes, as anywhere in the JSON form of protocol buffers; a string must.
func fits(want reflect.Type, value any) (string, bool) {
	switch want.Kind() {
	case reflect.Interface:
		return "", true
	case reflect.String:
		_, ok := value.(string)
		return word(want), ok
	case reflect.Bool:
		_, ok := value.(bool)
		return word(want), ok
	case reflect.Int64:
		f, ok := number(value)
		return word(want), ok && f == math.Trunc(f) && f >= math.MinInt32 && f <= math.MaxUint32
	case reflect.Float64:
		_, ok := number(value)
		return word(want), ok
	}
	return word(want), false
}

func number(value any) (float64, bool) {
	var f float64
	switch v := value.(type) {
	case float64:
		return v, true
	case string:
		return f, v != "null" && json.Unmarshal([]byte(v), &f) == nil
	}
	return 0, false
}

func word(want reflect.Type) string {
	switch want.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "an integer of 32 bits"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "a map"
}

// describe says what a value is, shortened.
func describe(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		if len(v) > 40 {
			v = v[:40] + "…"
		}
		return "the string " + strconv.Quote(v)
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'f', -1, 64)
	}
	return "null"
}
