// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"
)

// adapt makes a function of the table out of a Go function with one result, and perhaps an error.
func adapt(f function, fn any) (*function, error) {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return nil, fmt.Errorf("%s is no function", f.name)
	}
	t := v.Type()
	if n := t.NumOut(); n != 1 && (n != 2 || t.Out(1) != reflect.TypeFor[error]()) {
		return nil, fmt.Errorf("function %s must have one result, and perhaps an error", f.name)
	}
	if f.most == 0 {
		f.least, f.most = t.NumIn(), t.NumIn()
		if t.IsVariadic() {
			f.least, f.most = t.NumIn()-1, -1
		}
	}
	plain := adaptText(fn)
	if plain == nil {
		plain = func(in input) (any, error) { return callByReflection(in, v) }
	}
	guard := f.guard
	f.call = plain
	if guard != nil {
		f.call = func(in input) (any, error) {
			if err := guard(in); err != nil {
				return nil, err
			}
			return plain(in)
		}
	}
	return &f, nil
}

// adaptText is the way without reflection for the commonest shapes.
func adaptText(fn any) func(input) (any, error) {
	switch fn := fn.(type) {
	case func(string) string:
		return func(in input) (any, error) {
			a, err := in.text(0)
			if err != nil {
				return nil, err
			}
			return fn(a), nil
		}
	case func(string, string) string:
		return func(in input) (any, error) {
			w, err := in.words(0)
			if err != nil {
				return nil, err
			}
			return fn(w[0], w[1]), nil
		}
	case func(string, string) bool:
		return func(in input) (any, error) {
			w, err := in.words(0)
			if err != nil {
				return nil, err
			}
			return fn(w[0], w[1]), nil
		}
	}
	return nil
}

func callByReflection(in input, fn reflect.Value) (any, error) {
	t := fn.Type()
	args := make([]reflect.Value, len(in.args))
	for i := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = t.In(t.NumIn() - 1).Elem()
		}
		v, err := in.convert(i, want)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	out := fn.Call(args)
	if len(out) == 2 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	return view(out[0]), nil
}

// convert makes an argument fit a parameter.
func (in input) convert(i int, want reflect.Type) (reflect.Value, error) {
	switch want.Kind() {
	case reflect.Interface:
		if want.NumMethod() > 0 {
			break
		}
		return in.convertAny(i, want)
	case reflect.String:
		text, err := in.text(i)
		return reflect.ValueOf(text).Convert(want), err
	case reflect.Bool:
		b, err := in.boolean(i)
		return reflect.ValueOf(b).Convert(want), err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return in.convertInteger(i, want)
	case reflect.Float32, reflect.Float64:
		return in.convertFloat(i, want)
	}
	return in.convertOther(i, want)
}

// convertAny hands on anything, but to Sprig's functions scalars alone: some of them would walk
// through a list of lists without end.
func (in input) convertAny(i int, want reflect.Type) (reflect.Value, error) {
	v := scalar(in.args[i])
	if v == nil {
		return reflect.Zero(want), nil
	}
	if _, ok := scalarText(v); !ok && in.from.function.scalars {
		return reflect.Value{}, in.want(i, "a number, a text or a boolean")
	}
	return reflect.ValueOf(v), nil
}

func (in input) convertInteger(i int, want reflect.Type) (reflect.Value, error) {
	n, err := in.integer(i)
	if err != nil {
		return reflect.Value{}, err
	}
	if reflect.Zero(want).OverflowInt(int64(n)) {
		return reflect.Value{}, in.want(i, "a smaller number")
	}
	return reflect.ValueOf(n).Convert(want), nil
}

func (in input) convertFloat(i int, want reflect.Type) (reflect.Value, error) {
	switch v := scalar(in.args[i]).(type) {
	case int64:
		return reflect.ValueOf(v).Convert(want), nil
	case float64:
		return reflect.ValueOf(v).Convert(want), nil
	}
	return reflect.Value{}, in.want(i, "a number")
}

// convertOther hands on lists, dictionaries and structs of the data, by reference or by value.
func (in input) convertOther(i int, want reflect.Type) (reflect.Value, error) {
	v := reflect.ValueOf(in.args[i])
	switch {
	case !v.IsValid() && (want.Kind() == reflect.Pointer || want.Kind() == reflect.Slice || want.Kind() == reflect.Map):
		return reflect.Zero(want), nil
	case !v.IsValid():
		return reflect.Value{}, in.want(i, want.String())
	case v.Type().AssignableTo(want):
		return v, nil
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Type().AssignableTo(want):
		return v.Elem(), nil
	}
	switch want {
	case reflect.TypeFor[[]any]():
		list, err := in.items(i)
		return reflect.ValueOf(list), err
	case reflect.TypeFor[map[string]any]():
		m, err := in.dict(i)
		return reflect.ValueOf(m), err
	}
	return reflect.Value{}, in.want(i, want.String())
}
