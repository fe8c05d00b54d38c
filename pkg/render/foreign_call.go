// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"
)

// termCall calls a function. Where the last argument comes from a pipeline it is evaluated first, as
// it stands first.
type termCall struct {
	function *foreignFunction
	args     []operand
	wants    []reflect.Type // of the arguments; nil for any
	piped    bool
	at       int
}

func (t *termCall) add(arg term, want reflect.Type, source string) {
	if _, ready := arg.(termConst); ready {
		want = readyFor(arg.(termConst), want)
	}
	t.args = append(t.args, operand{arg, source})
	t.wants = append(t.wants, want)
}

// readyFor spares a constant of the right type the fitting.
func readyFor(c termConst, want reflect.Type) reflect.Type {
	if c.held.IsValid() && want != nil && c.held.Type().AssignableTo(want) {
		return nil
	}
	return want
}

func (t *termCall) value(r *run, dot reflect.Value) (reflect.Value, error) {
	mark := len(r.foreign.args)
	args, err := t.arguments(r, dot)
	var out reflect.Value
	if err == nil {
		out, err = t.call(r, args)
		err = blame(err, t.at, t.function.name)
	}
	r.foreign.args = r.foreign.args[:mark]
	return out, err
}

// arguments evaluates the arguments onto the run's stack, where they lie until the call is over.
func (t *termCall) arguments(r *run, dot reflect.Value) ([]reflect.Value, error) {
	mark := len(r.foreign.args)
	n := len(t.args)
	var last reflect.Value
	if t.piped {
		n--
		v, err := t.args[n].value(r, dot)
		if err != nil {
			return nil, err
		}
		last = v
	}
	for i, arg := range t.args[:n] {
		v, err := arg.value(r, dot)
		if err != nil {
			return nil, err
		}
		if v, err = fit(v, t.wants[i]); err != nil {
			return nil, t.blameArg(err, i)
		}
		r.foreign.args = append(r.foreign.args, v)
	}
	if t.piped {
		v, err := fit(last, t.wants[n])
		if err != nil {
			return nil, t.blameArg(err, n)
		}
		r.foreign.args = append(r.foreign.args, v)
	}
	return r.foreign.args[mark:], nil
}

func (t *termCall) blameArg(err error, i int) error {
	return blame(err, t.at, t.function.name+": "+t.args[i].source)
}

// call runs the function between the guards on what goes in and what comes out.
func (t *termCall) call(r *run, args []reflect.Value) (reflect.Value, error) {
	f := t.function
	if f.weight != weightNone {
		if err := t.charge(r, args); err != nil {
			return reflect.Value{}, err
		}
	}
	if err := r.charge(1); err != nil {
		return reflect.Value{}, err
	}
	out, err := f.guarded(r, args)
	if err != nil {
		return out, err
	}
	n, err := foreignSize(out)
	if err == nil && f.weight != weightNone {
		err = r.charge(n / bytesPerTick)
	}
	if err == nil && f.makes != makesNothing && r.template.changes {
		err = r.own(out, f.makes, 0)
	}
	return out, err
}

// charge bounds what goes into a function that looks at all of it, and charges for that.
func (t *termCall) charge(r *run, args []reflect.Value) error {
	price := 0
	for i, v := range args {
		n, err := foreignSize(v)
		if err != nil && plainTexts(v) {
			n, err = inside(v).Len(), nil
		}
		switch _, part := t.function.narrow[i]; {
		case err != nil:
		case part: // what is not read of it must make no difference here either
			err = r.charge(1 + itemsOf(v))
		case t.function.weight > weightOuter:
			err = r.weigh(v, t.function.weight)
		}
		if err != nil {
			return t.blameArg(err, i)
		}
		price += n / bytesPerTick
	}
	return r.charge(price)
}

// plainTexts tells a map of texts, as annotations are: a pod may have more of them than a template could
// make, and they are charged for by their weight.
func plainTexts(v reflect.Value) bool {
	v = inside(v)
	if v.Kind() != reflect.Map {
		return false
	}
	_, ok := textsOf(v)
	return ok
}

// itemsOf is how many items a list or a map has.
func itemsOf(v reflect.Value) int {
	switch v, _ = indirect(v); v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len()
	}
	return 0
}

// guarded calls the function, and turns a panic in it into an error.
func (f *foreignFunction) guarded(r *run, args []reflect.Value) (out reflect.Value, err error) {
	defer recovered(&err)
	if f.guard != nil {
		if err := f.guard(r, args); err != nil {
			return out, err
		}
	}
	return f.call(r, args)
}

// foreignSize is about how many bytes a value takes by itself, without the values in it. It is an
// error for a value above the bounds.
func foreignSize(v reflect.Value) (int, error) {
	v = inside(v)
	switch v.Kind() {
	case reflect.String:
		if v.Len() > MaxForeignText {
			return 0, tooMuch("a text of %d bytes; a function takes and makes at most %d", v.Len(), MaxForeignText)
		}
		return v.Len(), nil
	case reflect.Slice, reflect.Array, reflect.Map:
		return itemsSize(v.Len())
	}
	return 0, nil
}

func foreignTooMuch(bytes int) error {
	if bytes <= MaxForeignText {
		return nil
	}
	return tooMuch("the result would take more than %d bytes", MaxForeignText)
}
