// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// pipe compiles a pipeline with what it declares or assigns.
func (c *foreignCompiler) pipe(n *parse.PipeNode) term {
	value := c.commands(n)
	if len(n.Decl) == 0 {
		return value
	}
	root := c.rooted(n)
	slots, undefined := c.bound(n)
	if undefined != nil {
		return undefined
	}
	for _, slot := range slots {
		c.roots[slot] = c.roots[slot] || root
	}
	return &termBind{value, slots}
}

// bound are the slots of the variables that a pipeline declares or assigns. The parser takes a
// variable of one branch for one of the next too, and then there is none.
func (c *foreignCompiler) bound(n *parse.PipeNode) (slots []int, undefined term) {
	for _, v := range n.Decl {
		if !n.IsAssign {
			continue
		}
		if undefined := c.undefined(v.Ident[0], int(v.Pos)); undefined != nil {
			return nil, undefined
		}
	}
	return c.targets(n), nil
}

// undefined is what becomes of a variable that is not in sight, or nil.
func (c *foreignCompiler) undefined(name string, at int) term {
	if slices.ContainsFunc(c.scope, func(v scoped) bool { return v.name == name }) {
		return nil
	}
	return &termFault{at, "undefined variable: " + name}
}

// operand is a term with its text, for messages.
type operand struct {
	term
	source string
}

// commands folds the commands of a pipeline: each is the last argument of the next.
func (c *foreignCompiler) commands(n *parse.PipeNode) term {
	var last *operand
	if !c.fold(n, func(cmd *parse.CommandNode, source string) { last = &operand{opened(c.command(cmd, last)), source} }) {
		return termConst{}
	}
	return last.term
}

// opened takes what a command gives out of its interface, where it may be in one.
func opened(t term) term {
	switch t.(type) {
	case termConst, *termFault:
		return t
	}
	return termOpened{t}
}

func (c *foreignCompiler) command(cmd *parse.CommandNode, final *operand) term {
	first := cmd.Args[0]
	at, more := start(first), len(cmd.Args) > 1 || final != nil
	switch n := first.(type) {
	case *parse.IdentifierNode:
		return c.call(n, cmd.Args[1:], final)
	case *parse.FieldNode, *parse.ChainNode:
		return c.fields(n, more)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			return c.fields(n, more)
		}
	case *parse.NilNode:
		return &termFault{at, "nil is not a command"}
	}
	if more {
		return &termFault{at, "can't give argument to non-function " + brief(first.String())}
	}
	return c.plain(first)
}

// plain compiles what stands alone and is no literal of a parameter's type.
func (c *foreignCompiler) plain(n parse.Node) term {
	at := start(n)
	switch n := n.(type) {
	case *parse.DotNode:
		return termDot{}
	case *parse.BoolNode:
		return termConst{reflect.ValueOf(n.True)}
	case *parse.StringNode:
		return termConst{reflect.ValueOf(n.Text)}
	case *parse.NumberNode:
		return ideal(n, at)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			return c.fields(n, false)
		}
		if undefined := c.undefined(n.Ident[0], at); undefined != nil {
			return undefined
		}
		return termVar{c.lookup(n.Ident[0], at)}
	case *parse.FieldNode, *parse.ChainNode:
		return c.fields(n, false)
	case *parse.PipeNode:
		return c.pipe(n)
	case *parse.IdentifierNode:
		return c.call(n, nil, nil)
	}
	c.find(reason.TemplateSyntax, at, "", brief(n.String())+" cannot be used here")
	return termConst{}
}

// fields compiles names that are read one out of the other. Arguments after them are for a method
// that takes some, which none may.
func (c *foreignCompiler) fields(n parse.Node, args bool) term {
	f := &termFields{at: start(n), args: args, may: c.source.Foreign.Method}
	var names []string
	switch n := n.(type) {
	case *parse.FieldNode:
		f.from, names = termDot{}, n.Ident
	case *parse.VariableNode:
		if undefined := c.undefined(n.Ident[0], f.at); undefined != nil {
			return undefined
		}
		f.from, f.base, names = termVar{c.lookup(n.Ident[0], f.at)}, n.Ident[0], n.Ident[1:]
	case *parse.ChainNode:
		if n.Node.Type() == parse.NodeNil {
			return &termFault{f.at, "indirection through explicit nil in " + brief(n.String())}
		}
		f.from, f.base, names = c.plain(n.Node), brief(n.Node.String()), n.Field
	}
	for _, name := range names {
		c.mention(name)
	}
	f.steps = make([]fieldStep, len(names))
	for i, name := range names {
		f.steps[i].name = name
	}
	return f
}

// ideal is a number where no type is wanted: its form tells what it is.
func ideal(n *parse.NumberNode, at int) term {
	rune, hex := n.Text[0] == '\'', len(n.Text) > 2 && n.Text[0] == '0' && (n.Text[1] == 'x' || n.Text[1] == 'X') && !strings.ContainsAny(n.Text, "pP")
	switch {
	case n.IsComplex:
		return termConst{reflect.ValueOf(n.Complex128)}
	case n.IsFloat && !rune && !hex && strings.ContainsAny(n.Text, ".eEpP"):
		return termConst{reflect.ValueOf(n.Float64)}
	case n.IsInt:
		return termConst{reflect.ValueOf(int(n.Int64))}
	case n.IsUint:
		return &termFault{at, brief(n.Text) + " overflows int"}
	}
	return termConst{}
}

// call compiles a call of a function.
func (c *foreignCompiler) call(n *parse.IdentifierNode, nodes []parse.Node, final *operand) term {
	f := c.table[n.Ident]
	if f == nil {
		c.unknown(n, slices.Sorted(maps.Keys(c.table)))
		return termConst{}
	}
	count := len(nodes)
	if final != nil {
		count++
	}
	if count > maxArgs {
		c.find(reason.TemplateLimit, int(n.Pos), "", fmt.Sprintf("%s has %d arguments, and may have %d", n.Ident, count, maxArgs))
		return termConst{}
	}
	c.changes = c.changes || f.changes
	out := &termCall{function: f, piped: final != nil, at: int(n.Pos)}
	for i, node := range nodes {
		c.escape(c.rootedNode(node))
		out.add(c.argument(node, f.param(i)), f.param(i), brief(node.String()))
	}
	if final != nil {
		out.add(final.term, f.param(count-1), final.source)
	}
	if count < f.least || f.most >= 0 && count > f.most {
		return &termFault{out.at, fmt.Sprintf("wrong number of args for %s: it takes %s, not %d", n.Ident, f.arity(), count)}
	}
	if f.decides {
		return &termChoice{args: out.args, piped: out.piped, until: n.Ident == "or"}
	}
	return out
}

// argument compiles an argument for a parameter of a type; nil stands for any value at all. A
// literal becomes a constant of that type.
func (c *foreignCompiler) argument(n parse.Node, want reflect.Type) term {
	at := start(n)
	switch n.(type) {
	case *parse.NilNode:
		switch {
		case want == nil:
			return termConst{}
		case nullable(want):
			return termConst{reflect.Zero(want)}
		}
		return &termFault{at, fmt.Sprintf("cannot assign nil to %s", want)}
	case *parse.BoolNode, *parse.StringNode, *parse.NumberNode:
		if want == nil || want.Kind() == reflect.Interface && want.NumMethod() == 0 {
			return c.plain(n)
		}
		return literalOf(n, want)
	}
	return c.plain(n)
}

// literalOf is a literal as a constant of a type.
func literalOf(n parse.Node, want reflect.Type) term {
	v, fits := reflect.New(want).Elem(), false
	switch n := n.(type) {
	case *parse.BoolNode:
		if fits = want.Kind() == reflect.Bool; fits {
			v.SetBool(n.True)
		}
	case *parse.StringNode:
		if fits = want.Kind() == reflect.String; fits {
			v.SetString(n.Text)
		}
	case *parse.NumberNode:
		fits = setNumber(v, n)
	}
	if !fits {
		return &termFault{start(n), fmt.Sprintf("expected %s; found %s", want, brief(n.String()))}
	}
	return termConst{v}
}

func setNumber(v reflect.Value, n *parse.NumberNode) bool {
	switch {
	case v.CanInt() && n.IsInt:
		v.SetInt(n.Int64)
	case v.CanUint() && n.IsUint:
		v.SetUint(n.Uint64)
	case v.CanFloat() && n.IsFloat:
		v.SetFloat(n.Float64)
	case v.CanComplex() && n.IsComplex:
		v.SetComplex(n.Complex128)
	default:
		return false
	}
	return true
}
