// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"reflect"
	"slices"
)

// An act is a statement of a foreign template.
type act interface {
	do(r *run, dot reflect.Value) (flow, error)
}

type (
	acts []act

	actText string

	// actPrint writes a value.
	actPrint struct {
		value  term
		at     int
		source string
	}
	// actBind is a pipeline that only binds variables.
	actBind struct{ value term }

	actBranch struct {
		with       bool
		cond       term
		yes, other acts
		at         int
	}
	actRange struct {
		over        term
		key, value  int // slots; below zero where not bound
		body, other acts
		at          int
		source      string
	}
	actInvoke struct {
		name   string
		script *script // nil where no such template is defined
		with   term    // nil: there is no dot
		at     int
	}
	actJump flow
)

func (l acts) do(r *run, dot reflect.Value) (flow, error) {
	for _, a := range l {
		if err := r.charge(1); err != nil {
			return next, err
		}
		if f, err := a.do(r, dot); err != nil || f != next {
			return f, err
		}
	}
	return next, nil
}

func (a actText) do(r *run, _ reflect.Value) (flow, error) { return next, r.write(string(a)) }

func (a actJump) do(*run, reflect.Value) (flow, error) { return flow(a), nil }

func (a *actBind) do(r *run, dot reflect.Value) (flow, error) {
	_, err := a.value.value(r, dot)
	return next, err
}

func (a *actPrint) do(r *run, dot reflect.Value) (flow, error) {
	v, err := a.value.value(r, dot)
	if err != nil {
		return next, err
	}
	since := len(r.out)
	err = r.print(v)
	r.printed(since)
	return next, blame(err, a.at, a.source)
}

func (a *actBranch) do(r *run, dot reflect.Value) (flow, error) {
	v, err := a.cond.value(r, dot)
	if err != nil {
		return next, err
	}
	if !holds(v) {
		return a.other.do(r, dot)
	}
	if a.with {
		dot = v
	}
	return a.yes.do(r, dot)
}

func (a *actInvoke) do(r *run, dot reflect.Value) (flow, error) {
	if a.script == nil {
		return next, failed(a.at, "add {{ define }} for it", "template %q is not defined", a.name)
	}
	var inner reflect.Value
	if a.with != nil {
		v, err := a.with.value(r, dot)
		if err != nil {
			return next, err
		}
		inner = v
	}
	return next, at(a.at, a.script.run(r, inner))
}

func (a *actRange) do(r *run, dot reflect.Value) (flow, error) {
	v, err := a.over.value(r, dot)
	if err != nil {
		return next, err
	}
	a.bind(r, v, v)
	over, _ := indirect(v)
	n, err := a.iterate(r, over)
	if err != nil || n > 0 {
		return next, at(a.at, err)
	}
	return a.other.do(r, dot)
}

func (a *actRange) bind(r *run, key, value reflect.Value) {
	if a.key >= 0 {
		r.foreign.vars[r.base+a.key] = key
	}
	if a.value >= 0 {
		r.foreign.vars[r.base+a.value] = value
	}
}

// iterate runs the body on each item and returns how many there were.
func (a *actRange) iterate(r *run, over reflect.Value) (int, error) {
	switch kind := over.Kind(); {
	case kind == reflect.Invalid:
		return 0, nil
	case kind == reflect.Slice || kind == reflect.Array:
		return a.each(r, over.Len(), func(i int) (key, value reflect.Value) {
			if a.key >= 0 {
				key = reflect.ValueOf(i)
			}
			return key, over.Index(i)
		})
	case kind == reflect.Map:
		return a.eachEntry(r, over)
	case over.CanInt(), over.CanUint():
		return a.eachNumber(r, over)
	}
	return 0, failed(a.at, "", "range can't iterate over %s: it is %s", a.source, typeText(over))
}

func (a *actRange) eachEntry(r *run, over reflect.Value) (int, error) {
	if err := r.charge(over.Len() / 8); err != nil {
		return 0, err
	}
	if m, ok := dictionary(over); ok {
		keys := sortedKeysOf(m)
		return a.each(r, len(keys), func(i int) (key, value reflect.Value) {
			return reflect.ValueOf(keys[i]), ofAny(m[keys[i]])
		})
	}
	if m, ok := textsOf(over); ok {
		keys := slices.Sorted(maps.Keys(m))
		return a.each(r, len(keys), func(i int) (key, value reflect.Value) {
			return reflect.ValueOf(keys[i]), reflect.ValueOf(m[keys[i]])
		})
	}
	keys, err := orderedKeys(over)
	if err != nil {
		return 0, err
	}
	return a.each(r, len(keys), func(i int) (key, value reflect.Value) { return keys[i], over.MapIndex(keys[i]) })
}

func (a *actRange) eachNumber(r *run, over reflect.Value) (int, error) {
	if a.key >= 0 {
		return 0, failed(a.at, "", "can't use %s to iterate over more than one variable: it is a number", a.source)
	}
	n := 0
	switch {
	case over.CanUint():
		n = int(min(over.Uint(), MaxTicks+1))
	default:
		n = int(min(max(over.Int(), 0), MaxTicks+1))
	}
	return a.each(r, n, func(i int) (key, value reflect.Value) {
		return key, reflect.ValueOf(i).Convert(over.Type())
	})
}

func (a *actRange) each(r *run, n int, item func(int) (key, value reflect.Value)) (int, error) {
	for i := range n {
		if err := r.charge(1); err != nil {
			return i, err
		}
		key, value := item(i)
		a.bind(r, key, value)
		f, err := a.body.do(r, value)
		if err != nil || f == breaks {
			return i + 1, err
		}
	}
	return n, nil
}
