// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// Compile parses a template and checks all that shows without data: the functions it calls, the
// fields it reads, and that text which a pod controls passes a quoting function. With findings there
// is no template.
func Compile(source Source) (*Template, []Finding) {
	c := &compiler{source: source}
	compile := c.native
	if source.Foreign != nil {
		compile = c.foreign
	}
	t := compile()
	if len(c.findings) == 0 {
		return t, nil
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return nil, c.findings
}

func (c *compiler) native() *Template {
	c.functions = functions()
	c.extend()
	if !c.fits() {
		return nil
	}
	trees, ok := c.parse()
	if !ok {
		return nil
	}
	t := &Template{source: c.source, main: c.compile(trees)}
	t.reads, t.sight = c.reads, look(&c.source, trees)
	if len(c.findings) == 0 {
		c.analyse(t.main)
	}
	return t
}

// parse gives the tree of the template and of each that it defines.
func (c *compiler) parse() (trees map[string]*parse.Tree, ok bool) {
	trees = map[string]*parse.Tree{}
	tree := parse.New(c.source.main())
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(c.source.Text, "", "", trees); err != nil {
		c.syntax(err)
		return nil, false
	}
	return trees, true
}

// compiler turns the parser's trees into statements.
type compiler struct {
	source    Source
	functions map[string]*function
	blocks    map[string]*block
	reads     Reads
	findings  []Finding

	scope   []scoped // the variables in sight, the innermost last
	slots   int      // of the block that is being compiled
	nesting int
}

type scoped struct {
	name string
	slot int
}

// extend adds the source's own functions to the table.
func (c *compiler) extend() {
	if len(c.source.Funcs) == 0 {
		return
	}
	c.functions = maps.Clone(c.functions)
	for _, name := range slices.Sorted(maps.Keys(c.source.Funcs)) {
		f, err := adapt(function{name: name}, c.source.Funcs[name])
		if err != nil {
			c.find(reason.TemplateFunctionUnknown, -1, "", err.Error())
			continue
		}
		c.functions[name] = f
	}
}

// fits bounds the text before it is parsed: the parser recurses once or more for every action.
func (c *compiler) fits() bool {
	switch actions := strings.Count(c.source.Text, "{{"); {
	case len(c.source.Text) > maxSource:
		c.find(reason.TemplateLimit, -1, "split it into several templates", fmt.Sprintf("the template has %d bytes, and may have %d", len(c.source.Text), maxSource))
	case actions > maxActions:
		c.find(reason.TemplateLimit, -1, "split it into several templates", fmt.Sprintf("the template has %d actions, and may have %d", actions, maxActions))
	case strings.Count(c.source.Text, "(") > maxActions:
		c.find(reason.TemplateLimit, -1, "split it into several templates", fmt.Sprintf("the template has more than %d parentheses", maxActions))
	}
	return len(c.findings) == 0
}

// find notes a finding at an offset into the text; below zero the place is not known.
func (c *compiler) find(why reason.Reason, at int, hint, detail string) {
	if len(c.findings) == maxFindings {
		return
	}
	f := Finding{Reason: why, Template: c.source.Name, File: c.source.File, Detail: detail, Hint: hint}
	if at >= 0 {
		f.Line, f.Column = locate(c.source.Text, at)
	}
	c.findings = append(c.findings, f)
}

// syntax takes the line out of the parser's error, whose form is "template: name:line: detail".
func (c *compiler) syntax(err error) {
	f := Finding{Reason: reason.TemplateSyntax, Template: c.source.Name, File: c.source.File, Detail: err.Error()}
	if rest, ok := strings.CutPrefix(f.Detail, "template: "+c.source.main()+":"); ok {
		digits, detail, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(digits); err == nil {
			f.Line, f.Detail = line, detail
		}
	}
	c.findings = append(c.findings, f)
}

// compile makes a block of every tree. The blocks exist before their bodies, so that templates may
// invoke each other.
func (c *compiler) compile(trees map[string]*parse.Tree) *block {
	c.blocks = map[string]*block{}
	names := sortedNames(trees)
	for _, name := range names {
		c.blocks[name] = &block{name: name}
	}
	for _, name := range names {
		b := c.blocks[name]
		c.scope, c.slots = []scoped{{"$", 0}}, 1
		b.body = c.list(trees[name].Root)
		b.vars = c.slots
	}
	return c.blocks[c.source.main()]
}

func sortedNames(trees map[string]*parse.Tree) []string { return slices.Sorted(maps.Keys(trees)) }

func (c *compiler) declare(name string) int {
	slot := c.slots
	c.slots++
	c.scope = append(c.scope, scoped{name, slot})
	return slot
}

func (c *compiler) lookup(name string, at int) int {
	for _, v := range slices.Backward(c.scope) {
		if v.name == name {
			return v.slot
		}
	}
	c.find(reason.TemplateSyntax, at, "declare it with :=", fmt.Sprintf("undefined variable %s", name))
	return 0
}

// nested runs a function one level deeper and forgets the variables that it declares.
func (c *compiler) nested(at parse.Pos, inner func()) {
	if c.nesting == maxNesting {
		c.find(reason.TemplateLimit, int(at), "", fmt.Sprintf("the template is nested more than %d deep", maxNesting))
		return
	}
	c.nesting++
	mark := len(c.scope)
	inner()
	c.scope = c.scope[:mark]
	c.nesting--
}

func (c *compiler) list(nodes *parse.ListNode) list {
	if nodes == nil {
		return nil
	}
	out := make(list, 0, len(nodes.Nodes))
	for _, n := range nodes.Nodes {
		if s := c.statement(n); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (c *compiler) statement(n parse.Node) (out statement) {
	switch n := n.(type) {
	case *parse.TextNode:
		if marked(string(n.Text)) && !c.source.Bare {
			c.find(reason.TemplateSyntax, int(n.Pos), "", "a template must not hold the characters U+E000 and U+E001")
		}
		return literal(n.Text)
	case *parse.ActionNode:
		return c.action(n)
	case *parse.IfNode:
		return c.branch(&n.BranchNode, false)
	case *parse.WithNode:
		return c.branch(&n.BranchNode, true)
	case *parse.RangeNode:
		return c.loop(&n.BranchNode)
	case *parse.TemplateNode:
		return c.invoke(n)
	case *parse.BreakNode:
		return jump(breaks)
	case *parse.ContinueNode:
		return jump(continues)
	case *parse.CommentNode:
		return nil
	}
	c.find(reason.TemplateSyntax, int(n.Position()), "", brief(n.String())+" cannot be used here")
	return nil
}

func (c *compiler) action(n *parse.ActionNode) statement {
	value := c.pipe(n.Pipe)
	if len(n.Pipe.Decl) > 0 {
		return &silent{value}
	}
	return &output{value: value, at: int(n.Pos), source: brief(n.Pipe.String())}
}

func (c *compiler) branch(n *parse.BranchNode, with bool) statement {
	b := &branch{with: with}
	c.nested(n.Pos, func() {
		b.cond = c.pipe(n.Pipe)
		c.nested(n.Pos, func() { b.yes = c.list(n.List) })
		b.other = c.list(n.ElseList)
	})
	return b
}

func (c *compiler) loop(n *parse.BranchNode) statement {
	l := &loop{key: -1, value: -1, at: int(n.Pos), source: brief(n.Pipe.String())}
	c.nested(n.Pos, func() {
		l.over = c.commands(n.Pipe)
		slots := c.targets(n.Pipe)
		switch len(slots) {
		case 1:
			l.value = slots[0]
		case 2:
			l.key, l.value = slots[0], slots[1]
		}
		c.nested(n.Pos, func() { l.body = c.list(n.List) })
		l.other = c.list(n.ElseList)
	})
	return l
}

func (c *compiler) invoke(n *parse.TemplateNode) statement {
	i := &invoke{block: c.blocks[n.Name], at: int(n.Pos)}
	if n.Pipe != nil {
		i.with = c.pipe(n.Pipe)
	}
	if i.block == nil {
		c.find(reason.TemplateSyntax, int(n.Pos), "add {{ define }} for it", fmt.Sprintf("template %q is not defined", n.Name))
	}
	return i
}
