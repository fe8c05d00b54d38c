// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// missingValues warns of the places where a template writes a value that is not there: it renders
// "<no value>" in its stead, or "<nil>" by way of a function that prints. What stands under a condition that reads a missing value is passed over, since
// that is how templates ask whether a value is there.
func (d *dialect) missingValues() []inject.Finding {
	var out []inject.Finding
	for _, t := range d.config.Templates {
		tree := parse.New(t.Name)
		tree.Mode = parse.SkipFuncCheck
		if d.templates[t.Name] == nil {
			continue // it is no template
		}
		if _, err := tree.Parse(t.Text, "", "", map[string]*parse.Tree{}); err != nil || tree.Root == nil {
			continue
		}
		s := search{values: d.config.Values, rooted: true}
		s.list(tree.Root)
		for _, m := range s.found {
			at := t.Origin.At(m.line)
			out = append(out, inject.Finding{
				Reason: reason.TemplateFailed, Template: t.Name, Path: m.path, File: at.File, Line: at.Line,
				Detail: "there is no such value, and the template writes " + m.written + " in its place",
				Hint:   fmt.Sprintf("give the values %s, or write {{ %s | default ... }}", strings.TrimPrefix(m.path, ".Values."), m.path),
			})
		}
	}
	return out
}

// search goes through a template for values that are written and missing.
type search struct {
	values map[string]any
	rooted bool // dot is the template's whole data
	found  []missingValue
}

type missingValue struct {
	path    string
	line    int
	written string
}

func (s *search) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			s.action(n)
		case *parse.IfNode:
			s.branch(&n.BranchNode, s.rooted)
		case *parse.WithNode:
			s.branch(&n.BranchNode, false)
		case *parse.RangeNode:
			s.branch(&n.BranchNode, false)
		}
	}
}

// branch goes through what a condition guards, unless it asks for a value that is missing.
func (s *search) branch(n *parse.BranchNode, rooted bool) {
	was := s.rooted
	if !s.asks(n.Pipe) {
		s.rooted = rooted
		s.list(n.List)
	}
	s.rooted = was
	s.list(n.ElseList)
}

// action is one that writes a value as it is, or hands it to a function that prints it.
func (s *search) action(n *parse.ActionNode) {
	if len(n.Pipe.Decl) > 0 {
		return // a variable is most often asked for before it is written
	}
	if len(n.Pipe.Cmds) == 1 && len(n.Pipe.Cmds[0].Args) == 1 {
		s.note(n.Pipe.Cmds[0].Args[0], n.Line, "<no value>")
	}
	s.prints(n.Pipe, n.Line)
}

// prints goes through the calls of functions that print what they are given. A fallback of default, or of
// any other function, may be meant for the value that is missing.
func (s *search) prints(p *parse.PipeNode, line int) {
	for _, c := range p.Cmds {
		name, _ := c.Args[0].(*parse.IdentifierNode)
		printer := name != nil && slices.Contains([]string{"annotation", "print", "printf", "println"}, name.Ident)
		for _, arg := range c.Args {
			if inner, ok := arg.(*parse.PipeNode); ok {
				s.prints(inner, line)
			}
			if printer {
				s.note(arg, line, "<nil>")
			}
		}
	}
}

// note takes up a value that is missing.
func (s *search) note(n parse.Node, line int, written string) {
	if path := s.path(n); path != nil && s.misses(path) {
		s.found = append(s.found, missingValue{".Values." + strings.Join(path, "."), line, written})
	}
}

// asks tells whether a pipeline reads a value that is missing.
func (s *search) asks(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.PipeNode:
		return slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return s.asks(c) })
	case *parse.CommandNode:
		return slices.ContainsFunc(n.Args, s.asks)
	case *parse.ChainNode:
		return s.asks(n.Node)
	}
	path := s.path(n)
	return path != nil && s.misses(path)
}

// path is the path of a value below the values; nil for anything else.
func (s *search) path(n parse.Node) []string {
	var names []string
	switch n := n.(type) {
	case *parse.FieldNode:
		if !s.rooted {
			return nil
		}
		names = n.Ident
	case *parse.VariableNode:
		if n.Ident[0] != "$" {
			return nil
		}
		names = n.Ident[1:]
	}
	if len(names) < 2 || names[0] != "Values" {
		return nil
	}
	return names[1:]
}

// misses tells whether a map on the way has no such key. A null there is an error of its own when the
// template is run.
func (s *search) misses(path []string) bool {
	var value any = s.values
	for _, name := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return false
		}
		if value, ok = m[name]; !ok {
			return true
		}
	}
	return false
}
