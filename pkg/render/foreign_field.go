// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Masterminds/sprig/v3"
)

// termFields reads names, one out of the other: fields, keys, and methods that may be called.
type termFields struct {
	from  term
	base  string // the text of from; empty for the dot
	steps []fieldStep
	at    int
	args  bool // the last name has arguments
	may   func(t reflect.Type, name string) bool
}

// fieldStep is a name with what it was found to be the last time: the same place of a template meets
// the same type again and again.
type fieldStep struct {
	name string
	last atomic.Pointer[access]
}

// access tells what a name is in a type.
type access struct {
	t         reflect.Type
	addressed bool // the value lies where its pointer's methods can be called
	kind      accessKind
	index     []int // of the field
	method    int
}

type accessKind uint8

const (
	accessNone accessKind = iota
	accessField
	accessHidden // a field without a capital letter
	accessKey
	accessMethod
	accessForbidden // a method that may not be called
	accessNil       // the field of a pointer that is nil
)

func (f *termFields) value(r *run, dot reflect.Value) (reflect.Value, error) {
	if err := r.charge(len(f.steps)); err != nil {
		return reflect.Value{}, err
	}
	v, err := f.from.value(r, dot)
	for i := 0; i < len(f.steps) && err == nil && v.IsValid(); i++ {
		v, err = f.step(v, i)
	}
	return v, err
}

// path is the text of the names before the one at i.
func (f *termFields) path(i int) string {
	var b strings.Builder
	b.WriteString(f.base)
	for j := range i {
		b.WriteByte('.')
		b.WriteString(f.steps[j].name)
	}
	if b.Len() == 0 {
		return "."
	}
	return brief(b.String())
}

func (f *termFields) fault(i int, hint, format string, args ...any) error {
	return failed(f.at, hint, "%s: %s", f.path(i+1), fmt.Sprintf(format, args...))
}

func (f *termFields) null(i int, t reflect.Type) error {
	return f.fault(i, "give it a value, or read the field only inside if or with", "nil pointer evaluating %s.%s: %s is null", t, f.steps[i].name, f.path(i))
}

// lackHint says why a value may lack a field: one of a struct is missing for all data, one of anything else
// for this value alone.
func lackHint(v reflect.Value) string {
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer {
		return versionHint + ", or for other objects than pods"
	}
	return "the value before it is " + describe(v.Interface()) + ": give it fields, or read it only where it has some"
}

func (f *termFields) step(from reflect.Value, i int) (reflect.Value, error) {
	v, null := indirect(from)
	if null && v.Kind() == reflect.Interface {
		return v, f.null(i, from.Type())
	}
	name, args := f.steps[i].name, f.args && i == len(f.steps)-1
	if m, ok := dictionary(v); ok && !args {
		if x, found := m[name]; found {
			return ofAny(x), nil
		}
		return reflect.Value{}, nil
	}
	a := f.steps[i].access(v, f.may)
	switch {
	case a.kind == accessNone:
		return v, f.fault(i, lackHint(v), "can't evaluate field %s in type %s", name, from.Type())
	case a.kind == accessNil:
		return v, f.null(i, from.Type())
	case a.kind == accessHidden:
		return v, f.fault(i, "", "%s is an unexported field of type %s", name, from.Type())
	case a.kind == accessForbidden || a.kind == accessMethod && args:
		return v, f.fault(i, "only methods without arguments that do nothing but read may be called", "the method %s of type %s may not be called", name, from.Type())
	case args:
		return v, f.fault(i, "", "%s is not a method but has arguments", name)
	case a.kind == accessKey:
		return v.MapIndex(reflect.ValueOf(name)), nil
	case a.kind == accessField:
		out, err := v.FieldByIndexErr(a.index)
		if err != nil {
			return v, f.fault(i, "", "%v", err)
		}
		return out, nil
	}
	out, err := callMethod(v, a)
	if err != nil {
		return v, f.fault(i, "", "error calling %s: %v", name, err)
	}
	return out, nil
}

// access finds out what the name is for a value that is neither an interface nor a pointer, unless a
// nil one.
func (s *fieldStep) access(v reflect.Value, may func(reflect.Type, string) bool) *access {
	if a := s.last.Load(); a != nil && a.t == v.Type() && a.addressed == v.CanAddr() {
		return a
	}
	a := &access{t: v.Type(), addressed: v.CanAddr()}
	a.find(s.name, may)
	s.last.Store(a)
	return a
}

// find looks for a method first, as text/template does.
func (a *access) find(name string, may func(reflect.Type, string) bool) {
	owner := a.t
	if a.addressed && owner.Kind() != reflect.Pointer {
		owner = reflect.PointerTo(owner)
	}
	if m, ok := owner.MethodByName(name); ok {
		a.kind, a.method = accessForbidden, m.Index
		if mayCall(owner, m, may) {
			a.kind = accessMethod
		}
		return
	}
	switch a.t.Kind() {
	case reflect.Struct:
		if field, ok := a.t.FieldByName(name); ok {
			a.kind, a.index = accessField, field.Index
			if !field.IsExported() {
				a.kind = accessHidden
			}
		}
	case reflect.Map:
		if reflect.TypeFor[string]().AssignableTo(a.t.Key()) {
			a.kind = accessKey
		}
	case reflect.Pointer:
		a.kind = accessNil
		if elem := a.t.Elem(); elem.Kind() == reflect.Struct {
			if _, ok := elem.FieldByName(name); !ok {
				a.kind = accessNone
			}
		}
	}
}

// mayCall tells whether a method takes nothing, gives a result and perhaps an error, and was allowed.
func mayCall(owner reflect.Type, m reflect.Method, may func(reflect.Type, string) bool) bool {
	if m.Type.NumIn() != 1 || !results(m.Type) {
		return false
	}
	for owner.Kind() == reflect.Pointer {
		owner = owner.Elem()
	}
	if owner == versionType() {
		return true
	}
	return may != nil && may(owner, m.Name)
}

// results tells whether a function's results are those of a template's.
func results(t reflect.Type) bool {
	return t.NumOut() == 1 || t.NumOut() == 2 && t.Out(1) == reflect.TypeFor[error]()
}

// versionType is what Sprig's semver gives, which is of no use without its methods.
var versionType = sync.OnceValue(func() reflect.Type {
	return reflect.TypeOf(sprig.TxtFuncMap()["semver"]).Out(0).Elem()
})

// callMethod calls a method of a value that lies behind a pointer, or of a nil pointer.
func callMethod(v reflect.Value, a *access) (out reflect.Value, err error) {
	defer recovered(&err)
	if a.addressed && v.Kind() != reflect.Pointer {
		v = addressOf(v)
	}
	return result(v.Method(a.method).Call(nil))
}

// result is what a call by reflection gave.
func result(out []reflect.Value) (reflect.Value, error) {
	if len(out) == 2 && !out[1].IsNil() {
		return out[0], out[1].Interface().(error)
	}
	if v, ok := reflected(out[0]); ok {
		return v, nil
	}
	return out[0], nil
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}
