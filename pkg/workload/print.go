// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"iter"

	"go.yaml.in/yaml/v3"
)

// print is the text of a changed document: the first way of writing it that reads as what it is.
func (d *Document) print() ([]byte, error) {
	ways := []func() ([]byte, error){d.splice, d.rewrite(asItIs), d.rewrite(quoted), d.rewrite(bare)}
	if d.src.json {
		ways = []func() ([]byte, error){func() ([]byte, error) { return d.printJSON(), nil }}
	}
	var errs error
	for _, way := range ways {
		text, err := way()
		if err == nil {
			err = d.prove(text)
		}
		if err == nil {
			return append(d.src.bom[:len(d.src.bom):len(d.src.bom)], text...), nil
		}
		errs = err
	}
	return nil, errs
}

var errReads = errors.New("the text would not read as the document that it stands for")

// prove reads a text back and compares.
func (d *Document) prove(text []byte) error {
	parse := func() (*yaml.Node, error) { return parseYAML(text) }
	if d.src.json {
		parse = func() (*yaml.Node, error) { return parseJSON(text, d.src.at) }
	}
	root, err := parse()
	if err != nil {
		return fmt.Errorf("read it again: %w", err)
	}
	if root == nil || !equal(root, d.root) {
		return errReads
	}
	return nil
}

// equal tells whether two nodes stand for the same document, to readers of YAML 1.1 and 1.2 both.
func equal(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) || a.Anchor != b.Anchor {
		return false
	}
	switch a.Kind {
	case yaml.AliasNode:
		return a.Value == b.Value
	case yaml.ScalarNode:
		if a.ShortTag() == "!!null" && b.ShortTag() == "!!null" {
			return true // however it is written
		}
		return a.Value == b.Value && class(a) == class(b) && (isPlain(a) == isPlain(b) || safe(a.Value))
	}
	if a.ShortTag() != b.ShortTag() {
		return false
	}
	for i := range a.Content {
		if !equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// class is a scalar's tag; all numbers are of one class, since their literals are compared.
func class(n *yaml.Node) string {
	if n.ShortTag() == "!!int" {
		return "!!float"
	}
	return n.ShortTag()
}

func isPlain(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// safe tells whether a string means the same with quotes and without.
func safe(text string) bool {
	value, err := resolve(text)
	_, isText := value.(string)
	return err == nil && isText
}

// unchanged is the set of the nodes below now that stand in the text exactly as they did in was.
func unchanged(was, now *yaml.Node) map[*yaml.Node]bool {
	same := map[*yaml.Node]bool{}
	mark(was, now, same)
	return same
}

func mark(was, now *yaml.Node, same map[*yaml.Node]bool) bool {
	if !samePlace(was, now) {
		return false
	}
	ok := len(was.Content) == len(now.Content)
	for i, j := range places(was, now) {
		for k := range stride(now) {
			ok = j >= 0 && mark(was.Content[j+k], now.Content[i+k], same) && ok
		}
	}
	same[now] = ok
	return ok
}

// samePlace tells whether now is the node that stands where was does. A new node stands nowhere.
func samePlace(was, now *yaml.Node) bool {
	return now.Line > 0 && was.Line == now.Line && was.Column == now.Column && was.Kind == now.Kind
}

// places tells for the index of every entry of now where it stands in was; negative for a new one.
// Entries that stay keep their order.
func places(was, now *yaml.Node) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		step, from := stride(now), 0
		for i := 0; i < len(now.Content); i += step {
			j := from
			for now.Content[i].Line > 0 && j < len(was.Content) && !samePlace(was.Content[j], now.Content[i]) {
				j += step
			}
			if now.Content[i].Line == 0 || j >= len(was.Content) {
				j = -1
			} else {
				from = j + step
			}
			if !yield(i, j) {
				return
			}
		}
	}
}

// stride is the number of nodes that make an entry of a collection.
func stride(n *yaml.Node) int {
	if n.Kind == yaml.MappingNode {
		return 2
	}
	return 1
}
