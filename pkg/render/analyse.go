// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// shape is what is known of a value before the template runs.
type shape struct {
	tainted bool         // may hold text that a pod controls
	typ     reflect.Type // of the data, without its pointer; nil where unknown
	params  bool         // the parameters as a whole
}

// join is the shape of a value that has one shape or the other.
func (s shape) join(o shape) shape {
	out := shape{tainted: s.tainted || o.tainted, params: s.params && o.params}
	if s.typ == o.typ {
		out.typ = s.typ
	}
	return out
}

// analysis runs a template on shapes in place of values, until the shapes of the variables and of
// the invoked templates' dots no longer change, and then once more to report.
type analysis struct {
	c       *compiler
	params  map[string]string // the types of the declared parameters
	known   map[local]shape
	block   *block
	dots    map[*block]shape
	changed bool
	report  bool
}

// local is a variable: a slot of a block.
type local struct {
	block *block
	slot  int
}

// maxPasses bounds the search for stable shapes; real templates need two or three.
const maxPasses = 50

// analyse reports unknown fields, and text that a pod controls outside the quoting functions. It
// also marks the quoting calls whose text goes into slots.
func (c *compiler) analyse(main *block) {
	a := &analysis{c: c, params: map[string]string{}, known: map[local]shape{}, dots: map[*block]shape{}}
	for _, p := range c.source.Params {
		a.params[p.Name] = p.Type
	}
	root := shape{tainted: true, typ: reflect.TypeFor[Data]()}
	a.dots[main] = root
	for pass := 0; ; pass++ {
		a.changed = false
		a.pass()
		if !a.changed {
			break
		}
		if pass == maxPasses {
			c.find(reason.TemplateLimit, -1, "let the variables and the templates depend less on each other", "the template is too entangled to be checked")
			return
		}
	}
	a.report = true
	a.pass()
}

// pass visits every template that is invoked from somewhere, in the order of their names.
func (a *analysis) pass() {
	for _, name := range slices.Sorted(maps.Keys(a.c.blocks)) {
		b := a.c.blocks[name]
		dot, invoked := a.dots[b]
		if !invoked {
			continue
		}
		a.block = b
		a.set(0, dot)
		a.list(b.body, dot)
	}
}

func (a *analysis) set(slot int, s shape) {
	at := local{a.block, slot}
	before, known := a.known[at]
	if known {
		s = s.join(before)
	}
	if !known || s != before {
		a.known[at], a.changed = s, true
	}
}

func (a *analysis) list(l list, dot shape) {
	for _, s := range l {
		a.statement(s, dot)
	}
}

func (a *analysis) statement(s statement, dot shape) {
	switch s := s.(type) {
	case *output:
		a.output(s, dot)
	case *silent:
		a.expr(s.value, dot)
	case *branch:
		inner := dot
		if cond := a.expr(s.cond, dot); s.with {
			inner = cond
		}
		a.list(s.yes, inner)
		a.list(s.other, dot)
	case *loop:
		a.loop(s, dot)
	case *invoke:
		inner := shape{}
		if s.with != nil {
			inner = a.expr(s.with, dot)
		}
		before, known := a.dots[s.block]
		if known {
			inner = inner.join(before)
		}
		if !known || inner != before {
			a.dots[s.block], a.changed = inner, true
		}
	}
}

func (a *analysis) loop(s *loop, dot shape) {
	over := a.expr(s.over, dot)
	key, elem := shape{tainted: over.tainted}, shape{tainted: over.tainted}
	if over.typ != nil {
		switch over.typ.Kind() {
		case reflect.Slice:
			key.tainted = false
			elem = typed(over.tainted, over.typ.Elem())
		case reflect.Map:
			elem = typed(over.tainted, over.typ.Elem())
		}
	}
	if s.key >= 0 {
		a.set(s.key, key)
	}
	if s.value >= 0 {
		a.set(s.value, elem)
	}
	a.list(s.body, elem)
	a.list(s.other, dot)
}

// typed is the shape of a value of the data: a number or a boolean holds no text.
func typed(tainted bool, t reflect.Type) shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return shape{typ: t}
	case reflect.Interface:
		t = nil
	}
	return shape{tainted: tainted, typ: t}
}

// output refuses text that a pod controls, unless a quoting function comes last.
func (a *analysis) output(o *output, dot shape) {
	s := a.expr(o.value, dot)
	if !s.tainted || a.c.source.Bare {
		return
	}
	if call := quoting(o.value); call != nil {
		if a.report {
			call.slots, o.marks = true, true
		}
		return
	}
	if a.report {
		a.c.find(reason.TemplateUnquoted, o.at, "write {{ "+o.source+" | quote }}", fmt.Sprintf("{{ %s }} places text that a pod controls into YAML", o.source))
	}
}

// quoting is the call of a quoting function that an expression ends with, indented or not.
func quoting(e expr) *apply {
	call, ok := e.(*apply)
	if !ok {
		return nil
	}
	if call.function.quotes {
		return call
	}
	if call.function.layout {
		return quoting(call.args[len(call.args)-1])
	}
	return nil
}

func (a *analysis) expr(e expr, dot shape) shape {
	switch e := e.(type) {
	case dotExpr:
		return dot
	case variable:
		return a.known[local{a.block, e.slot}]
	case *bind:
		s := a.expr(e.value, dot)
		for _, slot := range e.slots {
			a.set(slot, s)
		}
		return s
	case *field:
		return a.field(e, a.expr(e.from, dot))
	case *either:
		return a.any(e.args, dot)
	case *apply:
		s := a.any(e.args, dot)
		return shape{tainted: s.tainted && !e.function.plain}
	}
	return shape{}
}

func (a *analysis) any(args []expr, dot shape) shape {
	if len(args) == 0 {
		return shape{}
	}
	out := a.expr(args[0], dot)
	for _, arg := range args[1:] {
		out = out.join(a.expr(arg, dot))
	}
	return out
}
