// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// style is how the author of a document writes.
type style struct {
	indent  int
	compact bool // a list is not indented under its key
	eol     string
}

// styleOf looks at a document for its style. Where it shows none, the style is kubectl's.
func styleOf(root *yaml.Node, text []byte) style {
	st := style{indent: 2, compact: true, eol: "\n"}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		st.eol = "\r\n"
	}
	var indent, list bool
	walk(root, func(n *yaml.Node) {
		for i := 0; n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if !isBlock(value) || value.Line <= key.Line {
				continue
			}
			step := value.Column - key.Column
			switch {
			case value.Kind == yaml.SequenceNode && !list:
				list, st.compact = true, step == 0
			case value.Kind == yaml.MappingNode && !indent && step >= 2 && step <= 8:
				indent, st.indent = true, step
			}
		}
	})
	return st
}

// encode is the text of a node, with LF as line end.
func (st style) encode(n *yaml.Node) (text []byte, err error) {
	defer func() {
		// The encoder reports its own inner contradictions by panic.
		if r := recover(); r != nil {
			text, err = nil, fmt.Errorf("encode: %v", r)
		}
	}()
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(st.indent)
	if st.compact {
		enc.CompactSeqIndent()
	}
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return withoutTail(buf.Bytes())
}

// entry is the text of a pair or an item, without the comments before and after it: those stand
// in the text around it.
func (st style) entry(nodes []*yaml.Node) ([]byte, error) {
	first := *nodes[0]
	first.HeadComment, first.FootComment = "", ""
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: append([]*yaml.Node{&first}, nodes[1:]...)}
	if len(nodes) == 2 {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	return st.encode(n)
}

// withoutTail cuts the comments off that the encoder put at the end: they are those that stand in
// the text after what was encoded.
func withoutTail(text []byte) ([]byte, error) {
	root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return text, nil
	}
	s := splicer{text: text}
	s.indexLines()
	end, err := s.contentEnd(lastLeaf(root), len(text))
	if err != nil {
		return text, nil
	}
	return text[:end], nil
}

// How much of an author's writing a rewritten document keeps.
type keep int

const (
	asItIs keep = iota
	quoted      // block scalars become quoted strings
	bare        // and comments are lost
)

// rewrite writes a changed YAML document anew, between what stands before and after its value.
func (d *Document) rewrite(k keep) func() ([]byte, error) {
	return func() ([]byte, error) {
		s := splicer{text: d.src.text, style: styleOf(d.was, d.src.text)}
		s.indexLines()
		start, ok := s.offset(d.was.Line, d.was.Column)
		if !ok {
			return nil, errShape
		}
		if line := s.lineStart(start); spaces(s.text[line:start]) {
			start = line
		}
		end, err := s.contentEnd(lastLeaf(d.was), len(s.text))
		if err != nil {
			end = len(s.text)
		}
		body, err := s.style.encode(k.root(d.was, d.root))
		if err != nil {
			return nil, err
		}
		s.out = append(s.out, s.text[:start]...)
		s.out = append(s.out, bytes.ReplaceAll(body, []byte("\n"), []byte(s.style.eol))...)
		return append(s.out, s.text[end:]...), nil
	}
}

// root is the root to encode. The comments before it and after its end stand in the text.
func (k keep) root(was, now *yaml.Node) *yaml.Node {
	root := clone(now)
	root.HeadComment = ""
	if isBlock(root) {
		root.Content[0].HeadComment = ""
	}
	last := spine(was)
	const blocks = yaml.LiteralStyle | yaml.FoldedStyle
	walk(root, func(n *yaml.Node) {
		if last[position{n.Line, n.Column, n.Kind}] {
			n.FootComment = ""
		}
		if k >= quoted && n.Style&blocks != 0 {
			n.Style = n.Style&^blocks | yaml.DoubleQuotedStyle
		}
		if n.Kind == yaml.ScalarNode && n.Value == "" && n.ShortTag() == "!!null" {
			n.Value = "null" // the encoder would write nothing as an empty text
		}
		if k >= bare {
			n.HeadComment, n.LineComment, n.FootComment = "", "", ""
		}
	})
	return root
}

type position struct {
	line, column int
	kind         yaml.Kind
}

// spine are the nodes that end where their root ends: the last pair, the last pair of that, and so
// on.
func spine(n *yaml.Node) map[position]bool {
	found := map[position]bool{}
	for {
		found[position{n.Line, n.Column, n.Kind}] = true
		if !isBlock(n) {
			return found
		}
		if n.Kind == yaml.MappingNode {
			key := n.Content[len(n.Content)-2]
			found[position{key.Line, key.Column, key.Kind}] = true
		}
		n = n.Content[len(n.Content)-1]
	}
}
