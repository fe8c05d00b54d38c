// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// Foreign has a template follow text/template and Sprig to the letter, for templates that were
// written for those two: what a template renders is what text/template would render, values keep
// their Go types, and fields are looked for when the template runs, on any data. What stays is that
// a rendering is hermetic, bounded and the same each time, and that the data is never changed.
type Foreign struct {
	// Method tells whether a method without arguments may be called: one that only reads. The type
	// comes without pointers, whatever the receiver is. Where Method is nil, no method may be called.
	Method func(t reflect.Type, name string) bool

	// Makes names those of Source.Funcs whose result is made anew in each call, with all that is in
	// it, so that the template may change it with set and the like.
	Makes []string

	// Lookups names those of Source.Funcs that look for one item of what they are given, and so cost the
	// same whatever its size.
	Lookups []string

	// Main is what the template's own text is called among the templates that it defines; empty: its
	// name.
	Main string
}

// main is what the source's own text is called among its definitions.
func (s *Source) main() string {
	if s.Foreign != nil && s.Foreign.Main != "" {
		return s.Foreign.Main
	}
	return s.Name
}

// Text runs a template of a foreign dialect on any data, usually a pointer to a struct, and gives
// what it renders as it is. The error is a *reason.Refusal: TemplateRefused when the template itself
// says so by fail, TemplateFailed when it stops on this data, and TemplateLimit when it runs past a
// bound; one of them is the number of values that a YAML parser could make of the text.
func (t *Template) Text(data any) (text string, stats Stats, err error) { return t.text(data, nil) }

// text calls took, where it is not nil, before the run's space is given back.
func (t *Template) text(data any, took func(*run)) (text string, stats Stats, err error) {
	if t.script == nil {
		return "", Stats{}, errors.New("a template without Source.Foreign has no text of its own")
	}
	r := t.begin()
	defer t.end(r)
	defer func() {
		if p := recover(); p != nil {
			text, err = "", t.refusal(&fault{why: reason.TemplateFailed, at: -1, detail: fmt.Sprint("it panicked: ", p)})
		}
	}()
	if err := t.script.run(r, reflect.ValueOf(data)); err != nil {
		return "", r.stats(), t.refusal(err)
	}
	if structure(r.out) > maxStructure {
		return "", r.stats(), t.refusal(tooMuch("the template renders more than %d values", maxStructure))
	}
	if took != nil {
		took(r)
	}
	return string(r.out), r.stats(), nil
}

// MaxForeignText is the largest text that a function of a foreign template takes or makes: such
// templates place whole annotations, of which a pod may have 256 KiB.
const MaxForeignText = MaxOutput

// foreignRun is what changes while a foreign template runs.
type foreignRun struct {
	vars  []reflect.Value // the variables of all invoked templates
	args  []reflect.Value // the arguments of the calls that are being made
	owned map[uintptr]map[string]any

	pieces []Piece // of the output, that actions printed
}

// clear drops what would keep the data alive, and keeps the space.
func (f foreignRun) clear() foreignRun {
	clear(f.vars[:cap(f.vars)])
	clear(f.args[:cap(f.args)])
	return foreignRun{vars: f.vars[:0], args: f.args[:0], pieces: f.pieces[:0]}
}

func (f foreignRun) large() bool {
	return cap(f.vars) > keep/32 || cap(f.args) > keep/32 || cap(f.pieces) > keep/32
}

// script is a whole template of a foreign dialect: the main one or a defined one. Slot 0 of its
// variables is $.
type script struct {
	body acts
	vars int
}

func (s *script) run(r *run, dot reflect.Value) error {
	if r.depth == MaxDepth {
		return tooMuch("templates invoke each other more than %d deep", MaxDepth)
	}
	r.depth++
	f := &r.foreign
	base, mark := r.base, len(f.vars)
	r.base = mark
	for range s.vars {
		f.vars = append(f.vars, reflect.Value{})
	}
	f.vars[mark] = dot
	_, err := s.body.do(r, dot)
	clear(f.vars[mark:])
	f.vars, r.base = f.vars[:mark], base
	r.depth--
	return err
}

// foreign compiles a template of a foreign dialect.
func (c *compiler) foreign() *Template {
	f := &foreignCompiler{compiler: c, table: foreignFunctions(), scripts: map[string]*script{}}
	f.extend()
	if !c.fits() {
		return nil
	}
	trees, ok := c.parse()
	if !ok {
		return nil
	}
	main := f.compile(trees)
	return &Template{source: c.source, script: main, reads: f.reads, changes: f.changes, sight: look(&c.source, trees)}
}

// compile makes a script of every tree, as the native compiler makes blocks.
func (c *foreignCompiler) compile(trees map[string]*parse.Tree) *script {
	names := sortedNames(trees)
	for _, name := range names {
		c.scripts[name] = &script{}
	}
	for _, name := range names {
		s := c.scripts[name]
		c.scope, c.slots, c.root, c.roots = []scoped{{"$", 0}}, 1, true, map[int]bool{}
		s.body = c.list(trees[name].Root)
		s.vars = c.slots
	}
	c.readAll()
	return c.scripts[c.source.main()]
}
