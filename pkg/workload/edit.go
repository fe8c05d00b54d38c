// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/patch"
	"go.yaml.in/yaml/v3"
)

// Apply carries a patch out inside the document. The paths are those of the pod's JSON; add, remove
// and replace are known. Either all operations are carried out or none.
func (p *Pod) Apply(ops []patch.Op) error {
	if len(ops) == 0 {
		return nil
	}
	next := clone(p.node)
	for _, op := range ops {
		if err := p.edit(next, op); err != nil {
			return fmt.Errorf("%s %s in %s: %w", op.Op, op.Path, p.Object(), err)
		}
	}
	json, err := p.encode(next)
	if err != nil {
		return err
	}
	if p.doc.was == nil {
		p.doc.was = clone(p.doc.root)
	}
	*p.node, p.json = *next, json
	return nil
}

// clone is a deep copy; aliases still stand for the nodes that they stood for.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = clone(child)
	}
	return &c
}

func (p *Pod) edit(root *yaml.Node, op patch.Op) error {
	tokens, err := parsePointer(op.Path)
	if err != nil {
		return err
	}
	last := len(tokens) - 1
	if !p.owner.bare && last == 0 && (tokens[0] == "apiVersion" || tokens[0] == "kind") {
		return errors.New("a pod template has no such field")
	}
	parent, flow := root, root.Style&yaml.FlowStyle != 0 && len(root.Content) > 0
	for _, token := range tokens[:last] {
		if parent, err = step(parent, token); err != nil {
			return err
		}
		flow = flow || parent.Style&yaml.FlowStyle != 0 && len(parent.Content) > 0
	}
	e := editor{parent: parent, token: tokens[last], flow: flow}
	switch op.Op {
	case "add", "replace":
		if e.value, err = nodeOf(op.Value, flow); err != nil {
			return err
		}
		if op.Op == "add" {
			return e.add()
		}
		return e.replace()
	case "remove":
		return e.remove()
	}
	return errors.New("no such operation")
}

func parsePointer(pointer string) ([]string, error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, errors.New("the path leads nowhere inside a pod")
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// step goes down by one token of a path.
func step(n *yaml.Node, token string) (*yaml.Node, error) {
	at, err := locate(n, token)
	if err != nil {
		return nil, err
	}
	return n.Content[at], nil
}

var errMissing = errors.New("there is no such value")

// locate is the index in n.Content of the value that a token names.
func locate(n *yaml.Node, token string) (int, error) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == token {
				return i + 1, nil
			}
		}
	case yaml.SequenceNode:
		if at, ok := index(token); ok && at < len(n.Content) {
			return at, nil
		}
	}
	return 0, errMissing
}

// index reads an array index as RFC 6901 writes it.
func index(token string) (int, bool) {
	at, err := strconv.Atoi(token)
	return at, err == nil && at >= 0 && strconv.Itoa(at) == token
}

// editor changes one value under a parent.
type editor struct {
	parent *yaml.Node
	token  string
	value  *yaml.Node
	flow   bool // the parent is written in flow style, or stands in something that is
}

func (e editor) add() error {
	switch e.parent.Kind {
	case yaml.MappingNode:
		if _, err := locate(e.parent, e.token); err == nil {
			return e.replace()
		}
		e.open()
		e.parent.Content = append(e.parent.Content, textNode(e.token, e.flow, true), e.value)
		return nil
	case yaml.SequenceNode:
		at, ok := index(e.token)
		if e.token == "-" {
			at, ok = len(e.parent.Content), true
		}
		if !ok || at > len(e.parent.Content) {
			return errMissing
		}
		e.open()
		e.parent.Content = slices.Insert(e.parent.Content, at, e.value)
		return nil
	}
	return errMissing
}

// open lets an empty {} or [] become a block, unless it stands in a flow.
func (e editor) open() {
	if !e.flow {
		e.parent.Style &^= yaml.FlowStyle
	}
}

// replace keeps the comment and the quotes of a scalar that becomes another one.
func (e editor) replace() error {
	at, err := locate(e.parent, e.token)
	if err != nil {
		return err
	}
	old := e.parent.Content[at]
	e.parent.Content[at] = e.value
	if old.Kind != yaml.ScalarNode || e.value.Kind != yaml.ScalarNode || e.value.Style == yaml.LiteralStyle {
		return nil
	}
	e.value.HeadComment, e.value.LineComment, e.value.FootComment = old.HeadComment, old.LineComment, old.FootComment
	if old.Style == yaml.DoubleQuotedStyle && e.value.Tag == "!!str" {
		e.value.Style = old.Style
	}
	return nil
}

func (e editor) remove() error {
	at, err := locate(e.parent, e.token)
	if err != nil {
		return err
	}
	from := at
	if e.parent.Kind == yaml.MappingNode {
		from--
	}
	e.parent.Content = slices.Delete(e.parent.Content, from, at+1)
	if len(e.parent.Content) == 0 {
		e.parent.Style |= yaml.FlowStyle
	}
	return nil
}
