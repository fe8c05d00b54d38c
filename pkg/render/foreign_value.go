// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// nothing is a null that is there, unlike the zero reflect.Value.
var nothing = reflect.Zero(reflect.TypeFor[any]())

// ofAny is a value out of an interface.
func ofAny(v any) reflect.Value {
	if v == nil {
		return nothing
	}
	return reflect.ValueOf(v)
}

// anyOf is a value as an interface.
func anyOf(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// reflected is the value that a function handed on as a reflect.Value.
func reflected(v reflect.Value) (reflect.Value, bool) {
	if v.IsValid() && v.Type() == reflect.TypeFor[reflect.Value]() {
		return v.Interface().(reflect.Value), true
	}
	return v, false
}

// dictionary is the commonest kind of a map, without a detour.
func dictionary(v reflect.Value) (map[string]any, bool) {
	if v.Kind() != reflect.Map || v.Type() != reflect.TypeFor[map[string]any]() {
		return nil, false
	}
	return v.Interface().(map[string]any), true
}

func sortedKeysOf(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// indirect follows pointers and interfaces to their end. What is null is a nil pointer or interface.
func indirect(v reflect.Value) (out reflect.Value, null bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// inside is what an interface holds, and anything else as it is.
func inside(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// holds is text/template's truth: null, zero and empty are false, and every struct is true.
func holds(v reflect.Value) bool {
	v = inside(v)
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Chan, reflect.Func, reflect.Pointer, reflect.UnsafePointer:
		return !v.IsNil()
	case reflect.Float32, reflect.Float64:
		return v.Float() != 0 // -0 is zero
	case reflect.Complex64, reflect.Complex128:
		return v.Complex() != 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// print writes a value as fmt does, through its String method where it has one.
func (r *run) print(v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		v, _ = indirect(v)
	}
	if !v.IsValid() {
		return r.write("<no value>")
	}
	switch v.Type() {
	case reflect.TypeFor[string]():
		return r.write(v.String())
	case reflect.TypeFor[int](), reflect.TypeFor[int64]():
		r.out = strconv.AppendInt(r.out, v.Int(), 10)
		return r.write("")
	case reflect.TypeFor[bool]():
		return r.write(strconv.FormatBool(v.Bool()))
	}
	v, err := printable(v)
	if err != nil {
		return err
	}
	if err := r.weigh(v, weightPrinted); err != nil {
		return err
	}
	r.out = fmt.Append(r.out, v.Interface())
	return r.write("")
}

// printable finds the method that prints a value, be it one of its pointer.
func printable(v reflect.Value) (reflect.Value, error) {
	switch {
	case spoken(v.Type()):
	case v.CanAddr() && spoken(reflect.PointerTo(v.Type())):
		return addressOf(v), nil
	case v.Kind() == reflect.Chan || v.Kind() == reflect.Func:
		return v, failed(-1, "", "can't print it: it is of type %s", v.Type())
	}
	return v, nil
}

// addressOf is a pointer to a value. A quantity keeps its text once it was asked for it, and so it is
// a copy that is asked.
func addressOf(v reflect.Value) reflect.Value {
	if v.Type() != reflect.TypeFor[resource.Quantity]() {
		return v.Addr()
	}
	held := reflect.New(v.Type())
	held.Elem().Set(v)
	return held
}

// spoken tells whether fmt asks the type itself for its text.
func spoken(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[error]()) || t.Implements(reflect.TypeFor[fmt.Stringer]())
}

// orderedKeys are a map's keys in the order in which text/template visits them.
func orderedKeys(m reflect.Value) ([]reflect.Value, error) {
	keys := m.MapKeys()
	if len(keys) < 2 {
		return keys, nil
	}
	kind := inside(keys[0]).Kind()
	for _, k := range keys {
		if inside(k).Kind() != kind {
			return nil, failed(-1, "", "the keys of a map of type %s have no order", m.Type())
		}
	}
	var order func(a, b reflect.Value) int
	switch k := inside(keys[0]); {
	case kind == reflect.String:
		order = func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	case k.CanInt():
		order = func(a, b reflect.Value) int { return cmp.Compare(a.Int(), b.Int()) }
	case k.CanUint():
		order = func(a, b reflect.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
	case k.CanFloat():
		order = func(a, b reflect.Value) int { return cmp.Compare(a.Float(), b.Float()) }
	case kind == reflect.Bool:
		order = func(a, b reflect.Value) int { return cmp.Compare(count01(a), count01(b)) }
	default:
		return nil, failed(-1, "", "the keys of a map of type %s have no order", m.Type())
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return order(inside(a), inside(b)) })
	return keys, nil
}

func count01(b reflect.Value) int {
	if b.Bool() {
		return 1
	}
	return 0
}
