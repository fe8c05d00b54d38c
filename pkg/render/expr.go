// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// An expr has a value.
type expr interface {
	eval(r *run, dot any) (any, error)
}

type (
	constant struct{ value any }
	dotExpr  struct{}
	variable struct{ slot int }

	// field reads names, one out of the other.
	field struct {
		from   expr
		names  []string
		at     int
		source string
	}

	// apply calls a function. Where the last argument comes from a pipeline it is evaluated first,
	// as it stands first.
	apply struct {
		function *function
		args     []expr
		sources  []string // of the arguments
		piped    bool
		at       int
		slots    bool // the result is placed as it is, and pod-controlled text in it goes into slots
	}

	// either is and, or: it ends at the first value that decides.
	either struct {
		args  []expr
		piped bool
		until bool // the truth that decides: false for and
	}

	// bind puts a value into variables.
	bind struct {
		value expr
		slots []int
	}
)

func (c constant) eval(*run, any) (any, error) { return c.value, nil }

func (dotExpr) eval(_ *run, dot any) (any, error) { return dot, nil }

func (v variable) eval(r *run, _ any) (any, error) { return r.vars[r.base+v.slot], nil }

func (b *bind) eval(r *run, dot any) (any, error) {
	v, err := b.value.eval(r, dot)
	if err != nil {
		return nil, err
	}
	for _, slot := range b.slots {
		r.vars[r.base+slot] = v
	}
	return v, nil
}

func (f *field) eval(r *run, dot any) (any, error) {
	if err := r.charge(len(f.names)); err != nil {
		return nil, err
	}
	v, err := f.from.eval(r, dot)
	if err != nil {
		return nil, err
	}
	for _, name := range f.names {
		inner, ok := member(v, name)
		if !ok {
			return nil, f.missing(v, name)
		}
		v = inner
	}
	return v, nil
}

func (f *field) missing(v any, name string) *fault {
	if isStruct(v) {
		return failed(f.at, versionHint, "%s: there is no field %s", f.source, name)
	}
	return failed(f.at, "", "%s: %s has no field %s", f.source, describe(v), name)
}

// versionHint goes with a field that the data does not have.
const versionHint = "the template may be for another version of this program"

func (e *either) eval(r *run, dot any) (out any, err error) {
	args := e.args
	var final any
	if e.piped {
		args = args[:len(args)-1]
		if final, err = e.args[len(args)].eval(r, dot); err != nil {
			return nil, err
		}
	}
	for _, arg := range args {
		if err := r.charge(1); err != nil {
			return nil, err
		}
		if out, err = arg.eval(r, dot); err != nil || truth(out) == e.until {
			return out, err
		}
	}
	if e.piped {
		return final, nil
	}
	return out, nil
}

func (a *apply) eval(r *run, dot any) (any, error) {
	mark := len(r.args)
	args, err := a.arguments(r, dot)
	if err == nil {
		var out any
		if out, err = a.call(r, args); err == nil {
			r.args = r.args[:mark]
			return out, nil
		}
	}
	r.args = r.args[:mark]
	return nil, at(a.at, err)
}

// arguments evaluates the arguments onto the run's stack, where they lie until the call is over.
func (a *apply) arguments(r *run, dot any) ([]any, error) {
	mark := len(r.args)
	n := len(a.args)
	if a.piped {
		n--
	}
	var last any
	if a.piped {
		v, err := a.args[n].eval(r, dot)
		if err != nil {
			return nil, err
		}
		last = v
	}
	for _, arg := range a.args[:n] {
		v, err := arg.eval(r, dot)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, v)
	}
	if a.piped {
		r.args = append(r.args, last)
	}
	return r.args[mark:], nil
}

// call runs the function between the guards on what goes in and what comes out.
func (a *apply) call(r *run, args []any) (out any, err error) {
	price := 1
	for i, v := range args {
		n, err := size(v)
		if err != nil {
			return nil, a.named(err, a.sources[i])
		}
		if !a.function.light {
			price += n / bytesPerTick
		}
	}
	if err := r.charge(price); err != nil {
		return nil, err
	}
	slotting := r.slotting
	r.slotting = a.slots
	out, err = a.guarded(r, args)
	r.slotting = slotting
	if err != nil {
		return nil, a.named(err, "")
	}
	n, err := size(out)
	if err != nil {
		return nil, a.named(err, "")
	}
	if a.function.light {
		return out, nil
	}
	return out, r.charge(n / bytesPerTick)
}

// guarded turns a panic in a function into an error.
func (a *apply) guarded(r *run, args []any) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return a.function.call(input{r, a, args})
}

// named puts the function's name, and the argument's, before an error.
func (a *apply) named(err error, source string) error {
	name := a.function.name
	if source != "" {
		name += ": " + source
	}
	var f *fault
	if errors.As(err, &f) {
		if f.at < 0 {
			f.at, f.detail = a.at, name+": "+f.detail
		}
		return f
	}
	return &fault{why: reason.TemplateFailed, at: a.at, detail: name + ": " + err.Error()}
}
