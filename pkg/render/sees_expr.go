// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
	"text/template/parse"
)

// pipe is what a pipeline may be; what it declares or assigns may be that too.
func (l *looker) pipe(n *parse.PipeNode, dot trails) trails {
	v := l.commands(n, dot)
	for _, d := range n.Decl {
		l.join(l.variables(), d.Ident[0], v)
	}
	return v
}

// commands hands the value of each command to the next as its last argument.
func (l *looker) commands(n *parse.PipeNode, dot trails) trails {
	var v trails
	for i, c := range n.Cmds {
		v = l.command(c, dot, v, i > 0)
	}
	return v
}

func (l *looker) command(n *parse.CommandNode, dot, last trails, piped bool) trails {
	args := make([]trails, 0, len(n.Args))
	for _, arg := range n.Args[1:] {
		args = append(args, l.operand(arg, dot))
	}
	if piped {
		args = append(args, last)
	}
	if f, ok := n.Args[0].(*parse.IdentifierNode); ok {
		return l.call(f.Ident, n.Args[1:], args)
	}
	v := l.operand(n.Args[0], dot)
	if len(args) == 0 {
		return v
	}
	l.whole(v) // a method or a function of the data, with arguments
	for _, arg := range args {
		l.whole(arg)
	}
	return nil
}

func (l *looker) operand(n parse.Node, dot trails) trails {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return l.fields(dot, n.Ident)
	case *parse.VariableNode:
		return l.fields(l.variables()[n.Ident[0]], n.Ident[1:])
	case *parse.ChainNode:
		return l.fields(l.operand(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return l.pipe(n, dot)
	case *parse.IdentifierNode:
		return l.call(n.Ident, nil, nil)
	}
	return nil // a constant
}

// call is what a function gives. Most read all that they are given and make something new.
func (l *looker) call(name string, nodes []parse.Node, args []trails) trails {
	if _, own := l.source.Funcs[name]; !own {
		switch name {
		case "and", "or":
			return l.either(args)
		case "not", "len":
			for _, arg := range args {
				l.empty(arg)
			}
			return nil
		case "index":
			return l.index(nodes, args)
		case "annotation":
			return l.narrowed(map[int][]string{0: {"Annotations"}}, args)
		}
	}
	return l.narrowed(l.source.Narrow[name], args)
}

// either is one of several values, chosen by which of them are empty.
func (l *looker) either(args []trails) trails {
	out := trails{}
	for _, arg := range args {
		l.empty(arg)
		maps.Copy(out, arg)
	}
	return out
}

// narrowed counts as read what a function reads of its arguments: all, but of those that are listed.
func (l *looker) narrowed(narrow map[int][]string, args []trails) trails {
	for i, arg := range args {
		names, ok := narrow[i]
		if !ok {
			l.whole(arg)
		}
		for _, name := range names {
			l.whole(l.fields(arg, []string{name}))
		}
	}
	return nil
}

// index takes an item by a constant key, or any by a number: the items of a list have its own path.
func (l *looker) index(nodes []parse.Node, args []trails) trails {
	if len(args) == 0 || len(nodes) != len(args) { // the last key comes through a pipe
		return l.narrowed(nil, args)
	}
	v := args[0]
	for i, key := range nodes[1:] {
		switch key := key.(type) {
		case *parse.StringNode:
			v = l.fields(v, []string{key.Text})
		case *parse.NumberNode:
			v = v.items()
		default:
			rest := slices.Concat([]trails{v}, args[i+1:])
			return l.narrowed(nil, rest)
		}
	}
	return v
}
