// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// foreignCompiler turns the parser's trees into acts and terms. What text/template finds out only
// when it gets there, such as a wrong number of arguments, stays an error of the rendering here.
type foreignCompiler struct {
	*compiler
	table   map[string]*foreignFunction
	scripts map[string]*script
	changes bool // calls a function that changes a dictionary

	root    bool         // the dot may be the data as a whole
	roots   map[int]bool // the slots that may hold the data as a whole, of the script being compiled
	escapes bool         // the data as a whole is handed to a function or printed
}

// extend adds the source's own functions to the table.
func (c *foreignCompiler) extend() {
	if len(c.source.Funcs) == 0 {
		return
	}
	c.table = maps.Clone(c.table)
	for _, name := range slices.Sorted(maps.Keys(c.source.Funcs)) {
		f, err := foreignOf(name, c.source.Funcs[name])
		if err != nil {
			c.find(reason.TemplateFunctionUnknown, -1, "", err.Error())
			continue
		}
		f.weight, f.narrow = weightMade, c.source.Narrow[name]
		if slices.Contains(c.source.Foreign.Lookups, name) {
			f.weight = weightNone
		}
		if slices.Contains(c.source.Foreign.Makes, name) {
			f.makes = makesAll
		}
		c.table[name] = f
	}
}

// readAll notes that all of the data is read, where a template hands it on as a whole.
func (c *foreignCompiler) readAll() {
	if c.escapes {
		v := reflect.ValueOf(&c.reads).Elem()
		for i := range v.NumField() {
			v.Field(i).SetBool(true)
		}
	}
}

func (c *foreignCompiler) list(nodes *parse.ListNode) acts {
	if nodes == nil {
		return nil
	}
	out := make(acts, 0, len(nodes.Nodes))
	for _, n := range nodes.Nodes {
		if a := c.act(n); a != nil {
			out = append(out, a)
		}
	}
	return out
}

func (c *foreignCompiler) act(n parse.Node) act {
	switch n := n.(type) {
	case *parse.TextNode:
		return actText(n.Text)
	case *parse.ActionNode:
		value := c.pipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			return &actBind{value}
		}
		c.escape(c.rooted(n.Pipe))
		return &actPrint{value: value, at: int(n.Pos), source: brief(n.Pipe.String())}
	case *parse.IfNode:
		return c.branch(&n.BranchNode, false)
	case *parse.WithNode:
		return c.branch(&n.BranchNode, true)
	case *parse.RangeNode:
		return c.loop(&n.BranchNode)
	case *parse.TemplateNode:
		i := &actInvoke{name: n.Name, script: c.scripts[n.Name], at: int(n.Pos)}
		if n.Pipe != nil {
			i.with = c.pipe(n.Pipe)
		}
		return i
	case *parse.BreakNode:
		return actJump(breaks)
	case *parse.ContinueNode:
		return actJump(continues)
	case *parse.CommentNode:
		return nil
	}
	c.find(reason.TemplateSyntax, int(n.Position()), "", brief(n.String())+" cannot be used here")
	return nil
}

func (c *foreignCompiler) branch(n *parse.BranchNode, with bool) act {
	b := &actBranch{with: with, at: int(n.Pos)}
	c.nested(n.Pos, func() {
		b.cond = c.pipe(n.Pipe)
		c.nested(n.Pos, func() {
			root := c.root
			if with {
				c.root = c.rooted(n.Pipe)
			}
			b.yes = c.list(n.List)
			c.root = root
		})
		b.other = c.list(n.ElseList)
	})
	return b
}

func (c *foreignCompiler) loop(n *parse.BranchNode) act {
	source := n.Pipe.String()
	if len(n.Pipe.Decl) > 0 {
		_, source, _ = strings.Cut(source, "= ")
	}
	l := &actRange{key: -1, value: -1, at: int(n.Pos), source: brief(source)}
	c.nested(n.Pos, func() {
		l.over = c.commands(n.Pipe)
		slots, undefined := c.bound(n.Pipe)
		if undefined != nil {
			l.over = undefined
		}
		switch len(slots) {
		case 1:
			l.value = slots[0]
		case 2:
			l.key, l.value = slots[0], slots[1]
		}
		c.nested(n.Pos, func() {
			root := c.root
			c.root = false
			l.body = c.list(n.List)
			c.root = root
		})
		l.other = c.list(n.ElseList)
	})
	return l
}

// rooted tells whether a pipeline's value may be the data as a whole.
func (c *foreignCompiler) rooted(n *parse.PipeNode) bool {
	return len(n.Cmds) == 1 && len(n.Cmds[0].Args) == 1 && c.rootedNode(n.Cmds[0].Args[0])
}

func (c *foreignCompiler) rootedNode(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.DotNode:
		return c.root
	case *parse.VariableNode:
		return len(n.Ident) == 1 && (n.Ident[0] == "$" || c.undefined(n.Ident[0], 0) == nil && c.roots[c.lookup(n.Ident[0], 0)])
	case *parse.PipeNode:
		return c.rooted(n)
	}
	return false
}

func (c *foreignCompiler) escape(root bool) { c.escapes = c.escapes || root }
