// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// pipe compiles a pipeline with what it declares or assigns.
func (c *compiler) pipe(n *parse.PipeNode) expr {
	value := c.commands(n)
	if len(n.Decl) == 0 {
		return value
	}
	return &bind{value, c.targets(n)}
}

// targets are the slots of the variables that a pipeline declares or assigns.
func (c *compiler) targets(n *parse.PipeNode) []int {
	var slots []int
	for _, v := range n.Decl {
		if n.IsAssign {
			slots = append(slots, c.lookup(v.Ident[0], int(v.Pos)))
			continue
		}
		slots = append(slots, c.declare(v.Ident[0]))
	}
	return slots
}

// piece is an operand with its text, for messages.
type piece struct {
	value  expr
	source string
}

// fold visits the commands of a pipeline in their order, each with the text of the pipeline so far, for
// messages. It is false, and a finding, where the pipeline is nested too deep.
func (c *compiler) fold(n *parse.PipeNode, visit func(cmd *parse.CommandNode, source string)) bool {
	if c.nesting == maxNesting {
		c.find(reason.TemplateLimit, int(n.Pos), "", fmt.Sprintf("the template is nested more than %d deep", maxNesting))
		return false
	}
	c.nesting++
	source := ""
	for i, cmd := range n.Cmds {
		if i == maxNesting {
			c.find(reason.TemplateLimit, int(n.Pos), "", fmt.Sprintf("a pipeline has more than %d commands", maxNesting))
			break
		}
		if i > 0 {
			source += " | "
		}
		source = brief(source + brief(cmd.String()))
		visit(cmd, source)
	}
	c.nesting--
	return true
}

// commands folds the commands of a pipeline: each is the last argument of the next.
func (c *compiler) commands(n *parse.PipeNode) expr {
	var last *piece
	if !c.fold(n, func(cmd *parse.CommandNode, source string) { last = &piece{c.command(cmd, last), source} }) {
		return constant{}
	}
	return last.value
}

func (c *compiler) command(cmd *parse.CommandNode, final *piece) expr {
	first := cmd.Args[0]
	at := start(first)
	if call, ok := first.(*parse.IdentifierNode); ok {
		return c.call(call, cmd.Args[1:], final)
	}
	if len(cmd.Args) > 1 || final != nil {
		why := reason.TemplateSyntax
		switch first.(type) {
		case *parse.FieldNode, *parse.ChainNode, *parse.VariableNode:
			why = reason.TemplateFieldUnknown
		}
		c.find(why, at, "methods cannot be called", brief(first.String())+" is no function and takes no arguments")
		return constant{}
	}
	if _, ok := first.(*parse.NilNode); ok {
		c.find(reason.TemplateSyntax, at, "", "nil is not a command")
	}
	return c.operand(first)
}

// operand compiles what stands alone: a literal, a field, a variable, a pipeline in parentheses, or
// a function without arguments.
func (c *compiler) operand(n parse.Node) expr {
	at := start(n)
	switch n := n.(type) {
	case *parse.DotNode:
		return dotExpr{}
	case *parse.NilNode:
		return constant{}
	case *parse.BoolNode:
		return constant{n.True}
	case *parse.StringNode:
		return constant{n.Text}
	case *parse.NumberNode:
		return c.number(n)
	case *parse.FieldNode:
		return c.field(dotExpr{}, n.Ident, at, n.String())
	case *parse.VariableNode:
		from := variable{c.lookup(n.Ident[0], at)}
		if len(n.Ident) == 1 {
			return from
		}
		return c.field(from, n.Ident[1:], at, n.String())
	case *parse.ChainNode:
		return c.field(c.operand(n.Node), n.Field, at, n.String())
	case *parse.PipeNode:
		return c.pipe(n)
	case *parse.IdentifierNode:
		return c.call(n, nil, nil)
	}
	c.find(reason.TemplateSyntax, at, "", brief(n.String())+" cannot be used here")
	return constant{}
}

// start is where a node begins: the parser gives a chain the position of its second link.
func start(n parse.Node) int {
	at := int(n.Position())
	switch n := n.(type) {
	case *parse.FieldNode:
		if len(n.Ident) > 1 {
			at -= 1 + len(n.Ident[0])
		}
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			at -= len(n.Ident[0])
		}
	}
	return max(at, 0)
}

func (c *compiler) number(n *parse.NumberNode) expr {
	rune, hex := n.Text[0] == '\'', isHex(n.Text)
	fraction := !rune && !hex && strings.ContainsAny(n.Text, ".eEpP") || hex && strings.ContainsAny(n.Text, ".pP")
	switch {
	case n.IsComplex:
	case n.IsFloat && fraction:
		return constant{n.Float64}
	case n.IsInt:
		return constant{int(n.Int64)}
	}
	c.find(reason.TemplateSyntax, int(n.Pos), "", fmt.Sprintf("%s is too large, or no number that templates have", brief(n.Text)))
	return constant{}
}

func isHex(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
}

// brief shortens a piece of a template for a message.
func brief(source string) string {
	const most = 80
	if len(source) <= most {
		return source
	}
	return strings.ToValidUTF8(source[:most], "") + "…"
}

func (c *compiler) field(from expr, names []string, at int, source string) expr {
	for _, name := range names {
		c.mention(name)
	}
	return &field{from: from, names: names, at: at, source: brief(source)}
}

// mention notes that a name of the data occurs, wherever it may: to read too much is no harm.
func (c *compiler) mention(name string) {
	switch name {
	case "ObjectMeta":
		c.reads.ObjectMeta = true
	case "Spec":
		c.reads.Spec = true
	case "TypeMeta":
		c.reads.TypeMeta = true
	case "DeploymentMeta":
		c.reads.DeploymentMeta = true
	case "Namespace":
		c.reads.Namespace = true
	case "Values":
		c.reads.Values = true
	case "Params":
		c.reads.Params = true
	case "Revision":
		c.reads.Revision = true
	case "NativeSidecars":
		c.reads.NativeSidecars = true
	}
}

// call compiles a call of a function.
func (c *compiler) call(n *parse.IdentifierNode, nodes []parse.Node, final *piece) expr {
	var args []piece
	for _, arg := range nodes {
		args = append(args, piece{c.operand(arg), brief(arg.String())})
	}
	if final != nil {
		args = append(args, *final)
	}
	f := c.functions[n.Ident]
	if f == nil {
		c.unknown(n, slices.Sorted(maps.Keys(c.functions)))
		return constant{}
	}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most || len(args) > maxArgs {
		c.find(reason.TemplateSyntax, int(n.Pos), "", fmt.Sprintf("%s takes %s, not %d", f.name, f.arity(), len(args)))
		return constant{}
	}
	out := &apply{function: f, piped: final != nil, at: int(n.Pos)}
	for _, a := range args {
		out.args = append(out.args, a.value)
		out.sources = append(out.sources, a.source)
	}
	if f.name == "and" || f.name == "or" {
		return &either{args: out.args, piped: out.piped, until: f.name == "or"}
	}
	return out
}

// unknown tells why there is no such function, or which one was meant.
func (c *compiler) unknown(n *parse.IdentifierNode, known []string) {
	hint := ""
	if why := absent(n.Ident); why != "" {
		hint = "it was left out on purpose: " + why
	} else if near := reason.Nearest(n.Ident, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	c.find(reason.TemplateFunctionUnknown, int(n.Pos), hint, fmt.Sprintf("there is no function %s", n.Ident))
}
