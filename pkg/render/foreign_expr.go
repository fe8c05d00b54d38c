// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// A term has a value: one that reflection gives, so that it keeps its type and where it lies. The
// zero one is that of a key which is missing, "no value"; a null that is there is a nil interface.
type term interface {
	value(r *run, dot reflect.Value) (reflect.Value, error)
}

type (
	termConst struct{ held reflect.Value }
	termDot   struct{}
	termVar   struct{ slot int }

	// termFault is what text/template would stop at, if it came there.
	termFault struct {
		at     int
		detail string
	}

	// termOpened takes a value out of its interface.
	termOpened struct{ of term }

	// termBind puts a value into variables.
	termBind struct {
		of    term
		slots []int
	}

	// termChoice is and, or: it ends at the first value that decides.
	termChoice struct {
		args  []operand
		piped bool
		until bool // the truth that decides: false for and
	}
)

func (t termConst) value(*run, reflect.Value) (reflect.Value, error) { return t.held, nil }

func (termDot) value(_ *run, dot reflect.Value) (reflect.Value, error) { return dot, nil }

func (t termVar) value(r *run, _ reflect.Value) (reflect.Value, error) {
	return r.foreign.vars[r.base+t.slot], nil
}

func (t *termFault) value(*run, reflect.Value) (reflect.Value, error) {
	return reflect.Value{}, failed(t.at, "", "%s", t.detail)
}

func (t termOpened) value(r *run, dot reflect.Value) (reflect.Value, error) {
	v, err := t.of.value(r, dot)
	if v.Kind() == reflect.Interface && v.NumMethod() == 0 {
		v = v.Elem()
	}
	return v, err
}

func (t *termBind) value(r *run, dot reflect.Value) (reflect.Value, error) {
	v, err := t.of.value(r, dot)
	if err != nil {
		return v, err
	}
	for _, slot := range t.slots {
		r.foreign.vars[r.base+slot] = v
	}
	return v, nil
}

func (t *termChoice) value(r *run, dot reflect.Value) (out reflect.Value, err error) {
	args := t.args
	var final reflect.Value
	if t.piped {
		args = args[:len(args)-1]
		if final, err = t.args[len(args)].value(r, dot); err != nil {
			return out, err
		}
	}
	for _, arg := range args {
		if err := r.charge(1); err != nil {
			return out, err
		}
		if out, err = arg.value(r, dot); err != nil || holds(out) == t.until {
			return out, err
		}
	}
	if t.piped {
		return final, nil
	}
	return out, nil
}

// fit makes a value fit a parameter as text/template does: by assignment, out of an interface, and
// by way of one pointer. The error says what is wrong with the value.
func fit(v reflect.Value, want reflect.Type) (reflect.Value, error) {
	if want == nil {
		return v, nil
	}
	if !v.IsValid() {
		if nullable(want) {
			return reflect.Zero(want), nil
		}
		return v, missingFor(want)
	}
	if v.Type() == want || v.Type().AssignableTo(want) {
		return v, nil
	}
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, missingFor(want)
		}
		if v = v.Elem(); v.Type().AssignableTo(want) {
			return v, nil
		}
	}
	switch {
	case v.Kind() == reflect.Pointer && v.Type().Elem().AssignableTo(want):
		if v.IsNil() {
			return v, missingFor(want)
		}
		return v.Elem(), nil
	case v.CanAddr() && reflect.PointerTo(v.Type()).AssignableTo(want):
		return v.Addr(), nil
	}
	return v, failed(-1, "", "wrong type for value; expected %s; got %s", want, v.Type())
}

func missingFor(want reflect.Type) error {
	return failed(-1, "give it a value, or a default", "it is null or missing; expected %s", want)
}

// nullable tells whether nil fits a type.
func nullable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
		return true
	}
	return false
}

// blame gives an error its place, and says what it is about, unless it knows already.
func blame(err error, at int, source string) error {
	if err == nil {
		return nil
	}
	f, ok := err.(*fault)
	if !ok {
		return failed(at, "", "%s: %v", source, err)
	}
	if f.at < 0 && f.why != reason.TemplateRefused {
		f.detail = source + ": " + f.detail
	}
	if f.at < 0 {
		f.at = at
	}
	return f
}

// typeText names a value's type in a message.
func typeText(v reflect.Value) string {
	if !v.IsValid() {
		return "no value"
	}
	if v.Kind() == reflect.String {
		return "the text " + describe(v.String())
	}
	return fmt.Sprint("of type ", v.Type())
}
