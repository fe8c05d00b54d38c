// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shaped is the way without reflection for the commonest shapes of functions, or nil.
func shaped(fn any) func(*run, []reflect.Value) (reflect.Value, error) {
	if body := shapedText(fn); body != nil {
		return body
	}
	if body := shapedAny(fn); body != nil {
		return body
	}
	return shapedMap(fn)
}

func shapedText(fn any) func(*run, []reflect.Value) (reflect.Value, error) {
	switch fn := fn.(type) {
	case func(string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String())), nil
		}
	case func(string, string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String(), in[1].String())), nil
		}
	case func(string, string) bool:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String(), in[1].String())), nil
		}
	case func(string, string, string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String(), in[1].String(), in[2].String())), nil
		}
	case func(string, string) []string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String(), in[1].String())), nil
		}
	case func(int, string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(int(in[0].Int()), in[1].String())), nil
		}
	}
	return nil
}

func shapedAny(fn any) func(*run, []reflect.Value) (reflect.Value, error) {
	switch fn := fn.(type) {
	case func(any) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(anyOf(in[0]))), nil
		}
	case func(...any) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(anys(in)...)), nil
		}
	case func(any, ...any) any:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return ofAny(fn(anyOf(in[0]), anys(in[1:])...)), nil
		}
	case func(any, any) any:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return ofAny(fn(anyOf(in[0]), anyOf(in[1]))), nil
		}
	case func(any, any) []any:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(anyOf(in[0]), anyOf(in[1]))), nil
		}
	case func(any) any:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return ofAny(fn(anyOf(in[0]))), nil
		}
	case func(string, any) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(in[0].String(), anyOf(in[1]))), nil
		}
	case func(any, string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(anyOf(in[0]), in[1].String())), nil
		}
	case func(...any) []any:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(anys(in)...)), nil
		}
	}
	return nil
}

// shapedMap is for the functions that dialects like to add.
func shapedMap(fn any) func(*run, []reflect.Value) (reflect.Value, error) {
	switch fn := fn.(type) {
	case func(map[string]string, string) bool:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(texts(in[0]), in[1].String())), nil
		}
	case func(map[string]string) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			return reflect.ValueOf(fn(texts(in[0]))), nil
		}
	case func(*metav1.ObjectMeta, string, any) string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			meta, _ := in[0].Interface().(*metav1.ObjectMeta)
			return reflect.ValueOf(fn(meta, in[1].String(), anyOf(in[2]))), nil
		}
	case func(...string) map[string]string:
		return func(_ *run, in []reflect.Value) (reflect.Value, error) {
			words := make([]string, len(in))
			for i, v := range in {
				words[i] = v.String()
			}
			return reflect.ValueOf(fn(words...)), nil
		}
	}
	return nil
}

func anys(in []reflect.Value) []any {
	if len(in) == 0 {
		return nil
	}
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = anyOf(v)
	}
	return out
}

func texts(v reflect.Value) map[string]string {
	if m, ok := v.Interface().(map[string]string); ok {
		return m
	}
	return v.Convert(reflect.TypeFor[map[string]string]()).Interface().(map[string]string)
}
