// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"reflect"
)

func truthOf(of func([]reflect.Value) (bool, error)) func(*run, []reflect.Value) (reflect.Value, error) {
	return func(_ *run, in []reflect.Value) (reflect.Value, error) {
		is, err := of(in)
		return reflect.ValueOf(is), err
	}
}

func opposite(of func([]reflect.Value) (bool, error)) func([]reflect.Value) (bool, error) {
	return func(in []reflect.Value) (bool, error) {
		is, err := of(in)
		return !is && err == nil, err
	}
}

// basic is the one kind that stands for all of its sizes; Invalid stands for all that is not basic.
func basic(v reflect.Value) reflect.Kind {
	switch {
	case v.CanInt():
		return reflect.Int64
	case v.CanUint():
		return reflect.Uint64
	case v.CanFloat():
		return reflect.Float64
	case v.CanComplex():
		return reflect.Complex128
	case v.Kind() == reflect.Bool || v.Kind() == reflect.String:
		return v.Kind()
	}
	return reflect.Invalid
}

// foreignEqual is true when the first argument equals any other.
func foreignEqual(in []reflect.Value) (bool, error) {
	if len(in) == 1 {
		return false, failed(-1, "", "missing argument for comparison")
	}
	a := inside(in[0])
	for _, b := range in[1:] {
		if is, err := same(a, inside(b)); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

func same(a, b reflect.Value) (bool, error) {
	kind := basic(a)
	switch other := basic(b); {
	case kind != other && whole(kind) && whole(other):
		return compareWhole(a, b) == 0, nil
	case kind != other && (!a.IsValid() || !b.IsValid()):
		return false, nil
	case kind != other:
		return false, incomparable(a, b)
	case kind == reflect.Bool:
		return a.Bool() == b.Bool(), nil
	case kind == reflect.Complex128:
		return a.Complex() == b.Complex(), nil
	case kind == reflect.Float64:
		return a.Float() == b.Float(), nil
	case kind == reflect.String:
		return a.String() == b.String(), nil
	case whole(kind):
		return compareWhole(a, b) == 0, nil
	}
	return sameOther(a, b)
}

// sameOther compares what is not basic: with null, or by Go's own equality.
func sameOther(a, b reflect.Value) (bool, error) {
	if a.Kind() != b.Kind() && a.IsValid() && b.IsValid() {
		return false, incomparable(a, b)
	}
	if isNil(a) || isNil(b) {
		return isNil(a) == isNil(b), nil
	}
	if !b.Type().Comparable() {
		return false, failed(-1, "", "non-comparable type %s", b.Type())
	}
	return a.Interface() == b.Interface(), nil
}

func incomparable(a, b reflect.Value) error {
	return failed(-1, "", "incompatible types for comparison: %v and %v", a.Type(), b.Type())
}

// isNil tells whether a value is no value, or the nil of its type.
func isNil(v reflect.Value) bool {
	return !v.IsValid() || nullable(v.Type()) && v.IsNil()
}

func whole(k reflect.Kind) bool { return k == reflect.Int64 || k == reflect.Uint64 }

// compareWhole compares two whole numbers, be they signed or not.
func compareWhole(a, b reflect.Value) int {
	switch {
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanUint():
		return -compareWhole(b, a)
	case a.Int() < 0:
		return -1
	}
	return cmp.Compare(uint64(a.Int()), b.Uint())
}

func foreignLess(in []reflect.Value) (bool, error) {
	a, b := inside(in[0]), inside(in[1])
	kind, other := basic(a), basic(b)
	switch {
	case kind == reflect.Invalid || other == reflect.Invalid:
		return false, failed(-1, "", "invalid type for comparison: one of the two is %s", typeText(pickValue(kind == reflect.Invalid, a, b)))
	case whole(kind) && whole(other):
		return compareWhole(a, b) < 0, nil
	case kind != other:
		return false, incomparable(a, b)
	case kind == reflect.Float64:
		return a.Float() < b.Float(), nil
	case kind == reflect.String:
		return a.String() < b.String(), nil
	}
	return false, failed(-1, "", "invalid type for comparison: there is no order of type %s", a.Type())
}

func pickValue(first bool, a, b reflect.Value) reflect.Value {
	if first {
		return a
	}
	return b
}

func foreignLessOrEqual(in []reflect.Value) (bool, error) {
	if is, err := foreignLess(in); is || err != nil {
		return is, err
	}
	return foreignEqual(in)
}

// foreignIndex looks into maps by key and into lists and texts by number, one after the other.
func foreignIndex(_ *run, in []reflect.Value) (reflect.Value, error) {
	v := inside(in[0])
	if !v.IsValid() {
		return v, failed(-1, "give it a value, or read it only inside if or with", "index of untyped nil")
	}
	for _, key := range in[1:] {
		var null bool
		if v, null = indirect(v); null {
			return v, failed(-1, "give it a value, or read it only inside if or with", "index of nil pointer")
		}
		var err error
		if v, err = at1(v, inside(key)); err != nil {
			return v, err
		}
	}
	return v, nil
}

func at1(v, key reflect.Value) (reflect.Value, error) {
	switch v.Kind() {
	case reflect.Map:
		return entryOf(v, key)
	case reflect.Array, reflect.Slice, reflect.String:
	default:
		return v, failed(-1, "", "can't index what is %s", typeText(v))
	}
	if !whole(basic(key)) {
		return v, failed(-1, "", "cannot index a list with what is %s", typeText(key))
	}
	if compareWhole(key, reflect.ValueOf(0)) < 0 || compareWhole(key, reflect.ValueOf(v.Len())) >= 0 {
		return v, failed(-1, "", "index out of range: %v", key)
	}
	if key.CanUint() {
		return v.Index(int(key.Uint())), nil
	}
	return v.Index(int(key.Int())), nil
}

// entryOf is an entry of a map, or the zero value of its type.
func entryOf(m, key reflect.Value) (reflect.Value, error) {
	want := m.Type().Key()
	switch {
	case !key.IsValid() && nullable(want):
		key = reflect.Zero(want)
	case !key.IsValid():
		return m, failed(-1, "", "the key is null; should be of type %s", want)
	case key.Type().AssignableTo(want):
	case whole(basic(key)) && whole(basic(reflect.Zero(want))):
		key = key.Convert(want)
	default:
		return m, failed(-1, "", "the key is %s; should be of type %s", typeText(key), want)
	}
	if texts, ok := textsOf(m); ok {
		return reflect.ValueOf(texts[key.String()]), nil
	}
	if x := m.MapIndex(key); x.IsValid() {
		return x, nil
	}
	return reflect.Zero(m.Type().Elem()), nil
}

// textsOf is a map of texts, without a detour.
func textsOf(m reflect.Value) (map[string]string, bool) {
	if m.Type() != reflect.TypeFor[map[string]string]() {
		return nil, false
	}
	return m.Interface().(map[string]string), true
}
