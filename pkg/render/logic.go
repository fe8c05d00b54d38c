// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// logicFunctions compare, choose and stop.
var logicFunctions = []function{
	{name: "and", least: 1, most: -1, call: neverCalled, doc: "The first argument that is false, null, zero or empty, or else the last. It stops there."},
	{name: "or", least: 1, most: -1, call: neverCalled, doc: "The first argument that is not false, null, zero or empty, or else the last. It stops there."},
	{name: "not", least: 1, most: 1, light: true, plain: true, call: func(in input) (any, error) { return !truth(in.args[0]), nil }, doc: "true when the argument is false, null, zero or empty."},
	{name: "eq", least: 2, most: -1, plain: true, call: equal, doc: "true when the first argument equals any other. null equals only a literal nil; to compare a value that may be null with anything else is an error."},
	{name: "ne", least: 2, most: 2, plain: true, call: inverse(equal), doc: "true when the arguments differ. null is treated as by eq."},
	{name: "lt", least: 2, most: 2, plain: true, call: less, doc: "true when the first argument is less than the second: two numbers or two texts."},
	{name: "ge", least: 2, most: 2, plain: true, call: inverse(less), doc: "true when the first argument is not less than the second."},
	{name: "gt", least: 2, most: 2, plain: true, call: greater, doc: "true when the first argument is greater than the second."},
	{name: "le", least: 2, most: 2, plain: true, call: inverse(greater), doc: "true when the first argument is not greater than the second."},
	{name: "default", least: 1, most: 2, light: true, call: orDefault, doc: "The second argument, or the first where that is false, null, zero or empty."},
	{name: "coalesce", least: 0, most: -1, light: true, call: coalesce, doc: "The first argument that is not false, null, zero or empty."},
	{name: "ternary", least: 3, most: 3, light: true, call: ternary, doc: "The first argument where the third is true, otherwise the second."},
	{name: "empty", least: 1, most: 1, light: true, plain: true, call: func(in input) (any, error) { return !truth(in.args[0]), nil }, doc: "true when the argument is false, null, zero or empty."},
	{name: "all", least: 0, most: -1, light: true, plain: true, call: all(true), doc: "true when no argument is false, null, zero or empty."},
	{name: "any", least: 0, most: -1, light: true, plain: true, call: all(false), doc: "true when some argument is not false, null, zero or empty."},
	{name: "required", least: 2, most: 2, light: true, call: required, doc: "The second argument; where it is null or an empty text, rendering fails with the first as message."},
	{name: "fail", least: 1, most: 1, call: fail, doc: "Ends the rendering with the argument as message."},
	{name: "kindOf", least: 1, most: 1, light: true, call: func(in input) (any, error) { return kindOf(in.args[0]), nil }, doc: "The kind of the argument: string, bool, int64, float64, slice, map, ptr, or invalid for null."},
	{name: "kindIs", least: 2, most: 2, light: true, plain: true, call: kindIs, doc: "true when the second argument is of the kind that the first names."},
	{name: "typeOf", least: 1, most: 1, light: true, call: func(in input) (any, error) { return fmt.Sprintf("%T", scalar(in.args[0])), nil }, doc: "The Go type of the argument."},
	{name: "typeIs", least: 2, most: 2, light: true, plain: true, call: typeIs, doc: "true when the second argument has the Go type that the first names."},
	{name: "typeIsLike", least: 2, most: 2, light: true, plain: true, call: typeIsLike, doc: "As typeIs, and true for a pointer to that type too."},
	{name: "deepEqual", least: 2, most: 2, plain: true, call: deepEqual, doc: "true when the two arguments hold the same."},
}

// neverCalled stands for what the compiler turns into something other than a call.
func neverCalled(input) (any, error) { return nil, errors.New("cannot be called") }

func inverse(of func(input) (any, error)) func(input) (any, error) {
	return func(in input) (any, error) {
		v, err := of(in)
		b, _ := v.(bool)
		return !b, err
	}
}

func equal(in input) (any, error) {
	a := scalar(in.args[0])
	for i := 1; i < len(in.args); i++ {
		b := scalar(in.args[i])
		if a == nil || b == nil {
			if err := in.nullMeant(i); err != nil {
				return nil, err
			}
			if a == b {
				return true, nil
			}
			continue
		}
		order, err := in.compare(a, b, i)
		if err != nil || order == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// nullMeant is an error unless one side of a comparison says nil.
func (in input) nullMeant(i int) error {
	if in.from.sources[0] == "nil" || in.from.sources[i] == "nil" {
		return nil
	}
	null := 0
	if scalar(in.args[0]) != nil {
		null = i
	}
	return failed(in.from.at, "give it a default, or test it with if or eq nil", "%s: %s is null or missing, and cannot be compared", in.from.function.name, in.from.sources[null])
}

// compare is below zero, zero or above it. Booleans are equal or not, in no order.
func (in input) compare(a, b any, i int) (int, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			if a == b {
				return 0, nil
			}
			return 1, nil
		}
	case int64:
		if b, ok := b.(int64); ok {
			return order(a, b), nil
		}
		if b, ok := b.(float64); ok {
			return order(float64(a), b), nil
		}
	case float64:
		if b, ok := b.(float64); ok {
			return order(a, b), nil
		}
		if b, ok := b.(int64); ok {
			return order(a, float64(b)), nil
		}
	}
	return 0, failed(in.from.at, "", "%s: %s is %s and %s is %s, which cannot be compared",
		in.from.function.name, in.from.sources[0], describe(in.args[0]), in.from.sources[i], describe(in.args[i]))
}

func order[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func (in input) ordered() (int, error) {
	a, b := scalar(in.args[0]), scalar(in.args[1])
	if a == nil {
		return 0, in.want(0, "a number or a text")
	}
	if b == nil {
		return 0, in.want(1, "a number or a text")
	}
	if _, ok := a.(bool); ok {
		return 0, in.want(0, "a number or a text")
	}
	return in.compare(a, b, 1)
}

func less(in input) (any, error) {
	n, err := in.ordered()
	return n < 0, err
}

func greater(in input) (any, error) {
	n, err := in.ordered()
	return n > 0, err
}

func orDefault(in input) (any, error) {
	if last := in.args[len(in.args)-1]; truth(last) {
		return last, nil
	}
	return in.args[0], nil
}

func coalesce(in input) (any, error) {
	for _, v := range in.args {
		if truth(v) {
			return v, nil
		}
	}
	return nil, nil
}

func ternary(in input) (any, error) {
	yes, err := in.boolean(2)
	if err != nil || yes {
		return in.args[0], err
	}
	return in.args[1], nil
}

// all is true when every argument is true; all(false) is its counterpart, when some are.
func all(every bool) func(input) (any, error) {
	return func(in input) (any, error) {
		for _, v := range in.args {
			if truth(v) != every {
				return !every, nil
			}
		}
		return every, nil
	}
}

func required(in input) (any, error) {
	v := in.args[1]
	if !isNull(v) && v != "" {
		return v, nil
	}
	return fail(in)
}

func fail(in input) (any, error) {
	message, err := in.text(0)
	if err != nil {
		return nil, err
	}
	refused := failed(in.from.at, "", "%s", message)
	refused.why = reason.TemplateRefused // the template's own word about the pod, not a fault of it
	return nil, refused
}

func kindOf(v any) string {
	v = scalar(v)
	if v == nil {
		return "invalid"
	}
	return reflect.TypeOf(v).Kind().String()
}

func kindIs(in input) (any, error) {
	kind, err := in.text(0)
	return kind == kindOf(in.args[1]), err
}

func typeIs(in input) (any, error) {
	name, err := in.text(0)
	return name == fmt.Sprintf("%T", scalar(in.args[1])), err
}

func typeIsLike(in input) (any, error) {
	name, err := in.text(0)
	t := fmt.Sprintf("%T", scalar(in.args[1]))
	return name == t || "*"+name == t, err
}

// deepEqual compares what the two would be in JSON.
func deepEqual(in input) (any, error) {
	a, err := in.json(in.args[0])
	if err != nil {
		return nil, err
	}
	b, err := in.json(in.args[1])
	return string(a) == string(b), err
}
