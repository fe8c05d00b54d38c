// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"reflect"
	"slices"
)

// A statement is what stands between the text: it writes, binds variables, or runs others.
type statement interface {
	exec(r *run, dot any) (flow, error)
}

// flow tells what a statement asks of the loop around it.
type flow uint8

const (
	next flow = iota
	breaks
	continues
)

type (
	// block is a whole template: the main one or a defined one. Slot 0 of its variables is $.
	block struct {
		name string
		body list
		vars int
	}
	list []statement

	literal string

	// output writes a value. Its text is inert where every special character in it is known to be
	// quoted or from the configuration.
	output struct {
		value  expr
		at     int
		source string
		marks  bool // the value may hold marks of slots
	}
	// silent is a pipeline that only binds variables.
	silent struct{ value expr }

	branch struct {
		with       bool
		cond       expr
		yes, other list
	}
	loop struct {
		over        expr
		key, value  int // slots; below zero where not bound
		body, other list
		at          int
		source      string
	}
	invoke struct {
		block *block
		with  expr // nil: dot is null
		at    int
	}
	jump flow
)

func (b *block) exec(r *run, dot any) error {
	if r.depth == MaxDepth {
		return tooMuch("templates invoke each other more than %d deep", MaxDepth)
	}
	r.depth++
	base, mark := r.base, len(r.vars)
	r.base = mark
	for range b.vars {
		r.vars = append(r.vars, nil)
	}
	r.vars[mark] = dot
	_, err := b.body.exec(r, dot)
	clear(r.vars[mark:])
	r.vars, r.base = r.vars[:mark], base
	r.depth--
	return err
}

func (l list) exec(r *run, dot any) (flow, error) {
	for _, s := range l {
		if err := r.charge(1); err != nil {
			return next, err
		}
		if f, err := s.exec(r, dot); err != nil || f != next {
			return f, err
		}
	}
	return next, nil
}

func (l literal) exec(r *run, _ any) (flow, error) { return next, r.write(string(l)) }

func (j jump) exec(*run, any) (flow, error) { return flow(j), nil }

func (s *silent) exec(r *run, dot any) (flow, error) {
	_, err := s.value.eval(r, dot)
	return next, err
}

func (o *output) exec(r *run, dot any) (flow, error) {
	v, err := o.value.eval(r, dot)
	if err != nil {
		return next, err
	}
	text, ok := scalarText(v)
	switch {
	case ok:
	case isNull(v):
		return next, failed(o.at, "give it a value, or place it by way of default, with or if", "%s is null or missing", o.source)
	default:
		return next, failed(o.at, "toYaml and toJson place objects and lists", "%s is %s, which cannot be placed as text", o.source, describe(v))
	}
	if !o.marks && !r.template.source.Bare && marked(text) {
		return next, failed(o.at, "", "%s holds U+E000 or U+E001, which templates must not place unquoted", o.source)
	}
	return next, r.write(text)
}

func (b *branch) exec(r *run, dot any) (flow, error) {
	v, err := b.cond.eval(r, dot)
	if err != nil {
		return next, err
	}
	if !truth(v) {
		return b.other.exec(r, dot)
	}
	if b.with {
		dot = v
	}
	return b.yes.exec(r, dot)
}

func (i *invoke) exec(r *run, dot any) (flow, error) {
	var inner any
	if i.with != nil {
		v, err := i.with.eval(r, dot)
		if err != nil {
			return next, err
		}
		inner = v
	}
	return next, at(i.at, i.block.exec(r, inner))
}

// at gives a fault its place, unless it has one.
func at(pos int, err error) error {
	if f, ok := err.(*fault); ok && f.at < 0 && f.line == 0 {
		f.at = pos
	}
	return err
}

func (l *loop) exec(r *run, dot any) (flow, error) {
	over, err := l.over.eval(r, dot)
	if err != nil {
		return next, err
	}
	l.bind(r, over, over)
	n, err := l.iterate(r, over)
	if err != nil || n > 0 {
		return next, at(l.at, err)
	}
	return l.other.exec(r, dot)
}

func (l *loop) bind(r *run, key, value any) {
	if l.key >= 0 {
		r.vars[r.base+l.key] = key
	}
	if l.value >= 0 {
		r.vars[r.base+l.value] = value
	}
}

// iterate runs the body on each item and returns how many there were.
func (l *loop) iterate(r *run, over any) (int, error) {
	switch v := over.(type) {
	case []any:
		return l.each(r, len(v), func(i int) (any, any) { return i, v[i] })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		return l.each(r, len(keys), func(i int) (any, any) { return keys[i], v[keys[i]] })
	case map[string]string:
		keys := slices.Sorted(maps.Keys(v))
		return l.each(r, len(keys), func(i int) (any, any) { return keys[i], v[keys[i]] })
	}
	switch v := scalar(over).(type) {
	case nil:
		return 0, nil
	case int64:
		if l.key >= 0 {
			return 0, failed(l.at, "", "%s is a number, and a range over a number has one variable", l.source)
		}
		return l.each(r, int(v), func(i int) (any, any) { return nil, int64(i) })
	}
	switch rv := reflect.ValueOf(over); rv.Kind() {
	case reflect.Slice, reflect.Array:
		return l.each(r, rv.Len(), func(i int) (any, any) { return i, view(rv.Index(i)) })
	case reflect.Map:
		keys := sortedKeys(rv)
		return l.each(r, len(keys), func(i int) (any, any) { return keys[i].String(), view(rv.MapIndex(keys[i])) })
	}
	return 0, failed(l.at, "", "%s is %s, and range takes a list, an object or a number", l.source, describe(over))
}

func (l *loop) each(r *run, n int, item func(int) (key, value any)) (int, error) {
	if err := r.charge(min(n, MaxTicks) / 8); err != nil {
		return 0, err
	}
	for i := range n {
		if err := r.charge(1); err != nil {
			return i, err
		}
		key, value := item(i)
		l.bind(r, key, value)
		f, err := l.body.exec(r, value)
		if err != nil || f == breaks {
			return i + 1, err
		}
	}
	return n, nil
}
