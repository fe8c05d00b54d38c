// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// errShape tells that a document is not of the shape that splice knows.
var errShape = errors.New("the document's shape does not let it be changed line by line")

// splice writes a changed YAML document by its lines: a block collection on the way to a change is
// gone through entry by entry, what did not change is copied from the text, and only what is new or
// replaced is encoded. It gives up on shapes that it does not know; print then writes the document
// anew, so that splice may be simple.
func (d *Document) splice() ([]byte, error) {
	if d.expanded || !isBlock(d.was) || oddBreaks(d.src.text) {
		return nil, errShape
	}
	s := &splicer{text: d.src.text, same: unchanged(d.was, d.root), style: styleOf(d.was, d.src.text)}
	s.indexLines()
	entries, err := s.entries(d.was, len(s.text))
	if err != nil {
		return nil, err
	}
	s.out = append(s.out, s.text[:entries[0].start]...)
	if err := s.block(d.was, d.root, entries); err != nil {
		return nil, err
	}
	if rest := s.text[entries[len(entries)-1].end:]; len(rest) > 0 {
		s.endLine()
		s.out = append(s.out, rest...)
	}
	return s.out, nil
}

type splicer struct {
	text  []byte
	lines []int // the offset of every line, and of the end
	same  map[*yaml.Node]bool
	style style
	out   []byte
}

func (s *splicer) indexLines() {
	for at := 0; at < len(s.text); at += lineLen(s.text[at:]) {
		s.lines = append(s.lines, at)
	}
	s.lines = append(s.lines, len(s.text))
}

// isBlock tells whether a node is a block collection with something in it.
func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// oddBreaks tells whether a text holds line breaks other than LF and CRLF, which the parser counts
// as lines.
func oddBreaks(text []byte) bool {
	for _, odd := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(odd)) {
			return true
		}
	}
	return bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
}

// entry is a pair of a block mapping or an item of a block sequence: it begins at the key or at the
// dash, and ends after its last line that is neither blank nor a comment. What stands between two
// entries goes with the second.
type entry struct{ start, end int }

// entries finds the entries of a block collection that reaches to limit at most.
func (s *splicer) entries(n *yaml.Node, limit int) ([]entry, error) {
	step := stride(n)
	list := make([]entry, 0, len(n.Content)/step)
	for i := 0; i < len(n.Content); i += step {
		start, err := s.start(n, n.Content[i], i == 0)
		if err != nil || start >= limit {
			return nil, errShape
		}
		list = append(list, entry{start: start})
	}
	for i := range list {
		end := limit
		if i+1 < len(list) {
			end = s.lineStart(list[i+1].start)
		}
		if end <= list[i].start {
			return nil, errShape
		}
		last, err := s.contentEnd(lastLeaf(n.Content[i*step+step-1]), end)
		if err != nil || last <= list[i].start {
			return nil, errShape
		}
		list[i].end = last
	}
	return list, nil
}

// start is where an entry begins. The first one may share its line with the dashes of the
// sequences that it stands in; every other has a line of its own.
func (s *splicer) start(parent, item *yaml.Node, first bool) (int, error) {
	column := item.Column
	if parent.Kind == yaml.SequenceNode {
		column = parent.Column
	}
	at, ok := s.offset(item.Line, column)
	if !ok || parent.Kind == yaml.SequenceNode && s.text[at] != '-' {
		return 0, errShape
	}
	before := s.text[s.lineStart(at):at]
	if !spaces(before) && !(first && len(bytes.Trim(before, " -")) == 0) {
		return 0, errShape
	}
	return at, nil
}

// offset is where a line and a column, both from 1, stand in the text.
func (s *splicer) offset(line, column int) (int, bool) {
	if line < 1 || line >= len(s.lines) {
		return 0, false
	}
	at := s.lines[line-1] + column - 1
	return at, at < s.lines[line]
}

// lineStart is where the line of an offset begins.
func (s *splicer) lineStart(at int) int { return bytes.LastIndexByte(s.text[:at], '\n') + 1 }

// contentEnd is the end of the last line before limit that belongs to the node leaf.
func (s *splicer) contentEnd(leaf *yaml.Node, limit int) (int, error) {
	if leaf.Line < 1 || leaf.Line >= len(s.lines) {
		return 0, errShape
	}
	if leaf.Kind == yaml.ScalarNode && leaf.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return s.scalarEnd(leaf, limit)
	}
	end := limit
	for end > s.lines[leaf.Line] {
		at := s.lineStart(end - 1)
		if line := s.text[at:end]; !blank(line) && !(at > 0 && marker(line, "...")) {
			break
		}
		end = at
	}
	return end, nil
}

// indentGiven is the head of a block scalar that says its indentation, which then cannot be seen.
var indentGiven = regexp.MustCompile(`^[^|>]*[|>][+-]?[1-9]`)

// scalarEnd is contentEnd for a block scalar, in which what looks like a comment is text.
func (s *splicer) scalarEnd(n *yaml.Node, limit int) (int, error) {
	if n.Style&yaml.LiteralStyle != 0 {
		last := n.Line + strings.Count(n.Value, "\n")
		if n.Value != "" && !strings.HasSuffix(n.Value, "\n") {
			last++
		}
		return min(s.lines[min(last, len(s.lines)-1)], limit), nil
	}
	if head, ok := s.offset(n.Line, n.Column); !ok || indentGiven.Match(s.text[head:s.lines[n.Line]]) {
		return 0, errShape
	}
	kept := strings.HasSuffix(n.Value, "\n\n") || n.Value == "\n"
	indent, end := 0, s.lines[n.Line]
	for at := n.Line; at+1 < len(s.lines) && s.lines[at] < limit; at++ {
		line := s.text[s.lines[at]:s.lines[at+1]]
		if len(bytes.TrimSpace(line)) == 0 {
			if kept {
				end = s.lines[at+1]
			}
			continue
		}
		depth := len(line) - len(bytes.TrimLeft(line, " "))
		if indent == 0 {
			indent = depth
		}
		if depth == 0 || depth < indent {
			break
		}
		end = s.lines[at+1]
	}
	return min(end, limit), nil
}

// lastLeaf is the node on the last line of a node: a scalar, or a flow collection.
func lastLeaf(n *yaml.Node) *yaml.Node {
	for isBlock(n) {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

// block writes the entries of a block collection that has changed. What stands before the first
// entry, indentation and all, is written already.
func (s *splicer) block(was, now *yaml.Node, entries []entry) error {
	if !isBlock(now) {
		return errShape
	}
	step := stride(now)
	indent := entries[0].start - s.lineStart(entries[0].start)
	for i, j := range places(was, now) {
		at := j / step
		if i > 0 {
			s.endLine()
			if j > 0 {
				s.out = append(s.out, s.text[entries[at-1].end:entries[at].start]...)
			} else {
				s.out = append(s.out, strings.Repeat(" ", indent)...)
			}
		}
		nodes := now.Content[i : i+step]
		if j < 0 {
			if err := s.snippet(nodes, indent); err != nil {
				return err
			}
			continue
		}
		if err := s.entry(was.Content[j:j+step], nodes, entries[at], indent); err != nil {
			return err
		}
	}
	return nil
}

// entry writes an entry that was there before.
func (s *splicer) entry(was, now []*yaml.Node, e entry, indent int) error {
	whole := true
	for _, n := range now {
		whole = whole && s.same[n]
	}
	if whole {
		s.out = append(s.out, s.text[e.start:e.end]...)
		return nil
	}
	wasValue, nowValue := was[len(was)-1], now[len(now)-1]
	if !samePlace(wasValue, nowValue) || !isBlock(wasValue) || !isBlock(nowValue) {
		return s.snippet(now, indent)
	}
	inner, err := s.entries(wasValue, e.end)
	if err != nil {
		return err
	}
	s.out = append(s.out, s.text[e.start:inner[0].start]...)
	return s.block(wasValue, nowValue, inner)
}

// snippet encodes a pair or an item.
func (s *splicer) snippet(nodes []*yaml.Node, indent int) error {
	text, err := s.style.entry(nodes)
	if err != nil {
		return err
	}
	pad := strings.Repeat(" ", indent)
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		if i > 0 && len(line) > 1 {
			s.out = append(s.out, pad...)
		}
		s.out = append(s.out, bytes.TrimSuffix(line, []byte("\n"))...)
		if bytes.HasSuffix(line, []byte("\n")) {
			s.out = append(s.out, s.style.eol...)
		}
	}
	return nil
}

// endLine ends a line that the text, or the snippet, left open.
func (s *splicer) endLine() {
	if n := len(s.out); n > 0 && s.out[n-1] != '\n' {
		s.out = append(s.out, s.style.eol...)
	}
}
