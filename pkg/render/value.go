// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// The values that templates meet: nil, bool, string, int, int64, float64, json.Number, lists, maps,
// pointers to structs of the data, and pointers to scalars in them.

// view is a value of the data as templates meet it. A struct is handed on by reference, and the
// structs that stand for a scalar as that scalar.
func view(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Interface:
		return view(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Struct {
			return view(v.Elem())
		}
	case reflect.Struct:
		return viewStruct(v)
	case reflect.String:
		if v.Type() == reflect.TypeFor[json.Number]() {
			break
		}
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Float32, reflect.Float64:
		return v.Float()
	}
	if v.CanInt() {
		return v.Int()
	}
	if v.CanUint() && v.Uint() <= math.MaxInt64 {
		return int64(v.Uint())
	}
	return v.Interface()
}

func viewStruct(v reflect.Value) any {
	if !v.CanAddr() {
		held := reflect.New(v.Type()).Elem()
		held.Set(v)
		v = held
	}
	switch s := v.Addr().Interface().(type) {
	case *resource.Quantity:
		copied := *s // String keeps its result in the quantity
		return copied.String()
	case *intstr.IntOrString:
		if s.Type == intstr.Int {
			return int64(s.IntVal)
		}
		return s.StrVal
	case *metav1.Time:
		if s.IsZero() {
			return nil
		}
		return s.UTC().Format("2006-01-02T15:04:05Z")
	default:
		return s
	}
}

// member is a field of a struct or an entry of a map. What is null has every field: null. It is not
// ok where the value can have no such field.
func member(v any, name string) (any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case map[string]any:
		return v[name], true
	case map[string]string:
		if text, ok := v[name]; ok {
			return text, true
		}
		return nil, true
	}
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return nil, true
		}
		rv = rv.Elem()
	}
	switch {
	case rv.Kind() == reflect.Struct:
		return structMember(rv, name)
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		return view(rv.MapIndex(reflect.ValueOf(name).Convert(rv.Type().Key()))), true
	}
	return nil, false
}

func structMember(v reflect.Value, name string) (any, bool) {
	f, ok := v.Type().FieldByName(name)
	if !ok || !f.IsExported() {
		return nil, false
	}
	inner, err := v.FieldByIndexErr(f.Index)
	if err != nil { // an embedded pointer is nil
		return nil, true
	}
	return view(inner), true
}

func isStruct(v any) bool {
	t := reflect.TypeOf(v)
	return t != nil && t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// isNull tells whether a value is null; an empty list is not.
func isNull(v any) bool {
	if v == nil {
		return true
	}
	rv := reflect.ValueOf(v)
	return rv.Kind() == reflect.Pointer && rv.IsNil()
}

// scalar reduces a scalar to nil, bool, int64, float64 or string, and leaves all else as it is.
func scalar(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []any, map[string]any, map[string]string:
		return v
	case int:
		return int64(v)
	case json.Number:
		return number(string(v))
	}
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return nil
		}
		if rv.Elem().Kind() == reflect.Struct {
			return v
		}
		rv = rv.Elem()
	}
	switch rv.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return v
	}
	return view(rv)
}

func number(literal string) any {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(literal, 64); err == nil {
		return f
	}
	return literal
}

// scalarText is a scalar as text. It is not ok for null, for lists, objects and structs.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	}
	switch v := scalar(v).(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return floatText(v), true
	}
	return "", false
}

// floatText writes a float without an exponent where that stays short, so that a large whole number
// is still one to a YAML parser.
func floatText(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// truth is text/template's: null, zero and empty are false.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	case json.Number:
		return truth(number(string(v)))
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return rv.Len() > 0
	}
	return !rv.IsZero()
}

// describe names a value in a message, shortened.
func describe(v any) string {
	switch plain := scalar(v).(type) {
	case nil, bool, string, int64, float64, []any, map[string]any:
		return pod.Describe(plain)
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}

// sortedKeys are the keys of a map whose keys are strings.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
