// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"

	"github.com/Masterminds/sprig/v3"
)

// What Sprig's set, unset and merge change, they change in place, and the data is everybody's. So
// they get nothing but dictionaries that the template itself made, and copies of all others.

// own notes that a dictionary is the template's to change, or all that are in a value.
func (r *run) own(v reflect.Value, how makes, depth int) error {
	if depth > MaxDepth {
		return tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	v = inside(v)
	m, isDict := dictionary(v)
	if isDict && m != nil {
		if r.foreign.owned == nil {
			r.foreign.owned = map[uintptr]map[string]any{}
		}
		r.foreign.owned[v.Pointer()] = m // and so its address is not given to another
	}
	if how != makesAll {
		return nil
	}
	if err := r.charge(1); err != nil {
		return err
	}
	if isDict {
		for _, x := range m {
			if err := r.own(reflect.ValueOf(x), how, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	list, _ := anyIn(v).([]any)
	for _, x := range list {
		if err := r.own(reflect.ValueOf(x), how, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// anyIn is a list as it is, and nil for what is none.
func anyIn(v reflect.Value) any {
	if v.Kind() != reflect.Slice {
		return nil
	}
	return v.Interface()
}

// owns tells whether a dictionary is the template's to change.
func (r *run) owns(v reflect.Value) bool {
	_, ok := r.foreign.owned[v.Pointer()]
	return ok
}

func (r *run) mayChange(v reflect.Value) error {
	if v.IsNil() || r.owns(v) {
		return nil
	}
	return failed(-1, "the data cannot be changed; use deepCopy", "the dictionary is not one that the template made")
}

func foreignSet(r *run, in []reflect.Value) (reflect.Value, error) {
	if err := r.mayChange(in[0]); err != nil {
		return in[0], err
	}
	m, _ := dictionary(in[0])
	m[in[1].String()] = anyOf(in[2])
	return in[0], nil
}

func foreignUnset(r *run, in []reflect.Value) (reflect.Value, error) {
	if err := r.mayChange(in[0]); err != nil {
		return in[0], err
	}
	m, _ := dictionary(in[0])
	delete(m, in[1].String())
	return in[0], nil
}

// foreignMerge calls one of Sprig's merging functions, once there is nothing left in the arguments
// that it could change and the template does not own.
func foreignMerge(name string) func(*run, []reflect.Value) (reflect.Value, error) {
	theirs := reflect.ValueOf(sprig.TxtFuncMap()[name])
	return func(r *run, in []reflect.Value) (reflect.Value, error) {
		if err := r.mayChange(in[0]); err != nil {
			return in[0], err
		}
		args := make([]reflect.Value, len(in))
		for i, v := range in {
			m, _ := dictionary(v)
			taken, err := r.take(m, 0)
			if err != nil {
				return v, err
			}
			args[i] = reflect.ValueOf(taken)
		}
		if in[0].IsNil() {
			args[0] = reflect.ValueOf(map[string]any{})
		}
		out, err := result(theirs.Call(args))
		if err != nil {
			return out, err
		}
		return out, r.own(out, makesAll, 0)
	}
}

// take is a dictionary with nothing in it but what the template owns: itself where it does, with its
// values taken in place, or a copy.
func (r *run) take(m map[string]any, depth int) (map[string]any, error) {
	if depth > MaxDepth {
		return nil, tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	v := reflect.ValueOf(m)
	out := m
	if !r.owns(v) {
		out = make(map[string]any, len(m))
	}
	for key, x := range m {
		taken, err := r.takeAny(reflect.ValueOf(x), depth+1)
		if err != nil {
			return nil, err
		}
		out[key] = anyOf(taken)
	}
	return out, r.own(reflect.ValueOf(out), makesOuter, 0)
}

func (r *run) takeAny(v reflect.Value, depth int) (reflect.Value, error) {
	if err := r.charge(1); err != nil {
		return v, err
	}
	if m, ok := dictionary(v); ok {
		out, err := r.take(m, depth)
		return reflect.ValueOf(out), err
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Chan, reflect.Func:
		return v, failed(-1, "merge its fields, or toJson and fromJson of it", "a value of type %s cannot be merged", v.Type())
	case reflect.Map:
		return r.takeMap(v, depth)
	case reflect.Slice:
		return r.takeList(v, depth)
	}
	return v, nil
}

func (r *run) takeMap(v reflect.Value, depth int) (reflect.Value, error) {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for entry := v.MapRange(); entry.Next(); {
		x, err := r.takeItem(entry.Value(), depth)
		if err != nil {
			return v, err
		}
		out.SetMapIndex(entry.Key(), x)
	}
	return out, nil
}

func (r *run) takeList(v reflect.Value, depth int) (reflect.Value, error) {
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		x, err := r.takeItem(v.Index(i), depth)
		if err != nil {
			return v, err
		}
		out.Index(i).Set(x)
	}
	return out, nil
}

// takeItem is a value of a list or a map; a null stays one of its type.
func (r *run) takeItem(v reflect.Value, depth int) (reflect.Value, error) {
	if depth > MaxDepth {
		return v, tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	x, err := r.takeAny(inside(v), depth+1)
	if !x.IsValid() {
		return v, err
	}
	return x, err
}
