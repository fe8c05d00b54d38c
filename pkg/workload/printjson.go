// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// jsonPrinter writes a changed JSON document: what did not change as it stands in the text, and
// what is new in the way of its surroundings.
type jsonPrinter struct {
	text  []byte
	same  map[*yaml.Node]bool
	unit  string // one step of indentation; empty where the document stands on one line
	nl    string
	colon string
	comma string // between values that stand on one line
	out   []byte
}

func (d *Document) printJSON() []byte {
	w := &jsonPrinter{text: d.src.text, same: unchanged(d.was, d.root), nl: "\n", colon: ":", comma: ","}
	w.learn(d.was)
	w.out = append(w.out, d.src.text[:d.was.Line-1]...)
	w.value(d.was, d.root, layout{lines: w.unit != ""})
	return append(w.out, d.src.text[d.was.Column:]...)
}

// learn looks at how the root of a document is written.
func (w *jsonPrinter) learn(root *yaml.Node) {
	if len(root.Content) == 0 {
		return
	}
	key, value := root.Content[0], root.Content[1]
	w.colon = string(w.text[key.Column : value.Line-1])
	if strings.HasSuffix(w.colon, " ") {
		w.comma = ", "
	}
	gap := string(w.text[root.Line : key.Line-1])
	if strings.Contains(gap, "\r\n") {
		w.nl = "\r\n"
	}
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
		if w.unit = gap[i+1:]; w.unit == "" {
			w.unit = "  "
		}
	}
}

// layout is how the entries of a collection are written.
type layout struct {
	indent string
	lines  bool // each on a line of its own
}

// value writes a value in whose place was stood.
func (w *jsonPrinter) value(was, now *yaml.Node, l layout) {
	switch {
	case w.same[now]:
		w.out = append(w.out, w.text[was.Line-1:was.Column]...)
	case samePlace(was, now) && len(was.Content) > 0 && len(now.Content) > 0:
		w.merge(was, now)
	default:
		w.fresh(now, l)
	}
}

// merge writes a collection that has changed, with the gaps between its values as they were.
func (w *jsonPrinter) merge(was, now *yaml.Node) {
	open := string(w.text[was.Line : was.Content[0].Line-1])
	sep, l := w.comma, layout{}
	if i := strings.LastIndexByte(open, '\n'); i >= 0 {
		sep, l = ","+open, layout{open[i+1:], true}
	}
	w.out = append(w.out, w.text[was.Line-1])
	w.out = append(w.out, open...)
	step, before := stride(now), -1
	for i, j := range places(was, now) {
		switch {
		case i == 0:
		case j > 0 && before == j-step:
			w.out = append(w.out, w.text[was.Content[j-1].Column:was.Content[j].Line-1]...)
		default:
			w.out = append(w.out, sep...)
		}
		before = j
		if j < 0 {
			w.entry(now.Content[i:i+step], l)
			continue
		}
		if step == 2 {
			w.out = append(w.out, w.text[was.Content[j].Line-1:was.Content[j+1].Line-1]...)
		}
		w.value(was.Content[j+step-1], now.Content[i+step-1], l)
	}
	last := was.Content[len(was.Content)-1]
	w.out = append(w.out, w.text[last.Column:was.Column]...)
}

// entry writes a new pair, or a new item.
func (w *jsonPrinter) entry(nodes []*yaml.Node, l layout) {
	if len(nodes) == 2 {
		w.fresh(nodes[0], l)
		w.out = append(w.out, w.colon...)
	}
	w.fresh(nodes[len(nodes)-1], l)
}

// fresh writes a new value.
func (w *jsonPrinter) fresh(n *yaml.Node, l layout) {
	switch n.Kind {
	case yaml.MappingNode:
		w.collection(n, "{}", l)
	case yaml.SequenceNode:
		w.collection(n, "[]", l)
	default:
		w.scalar(n)
	}
}

func (w *jsonPrinter) collection(n *yaml.Node, brackets string, l layout) {
	if len(n.Content) == 0 {
		w.out = append(w.out, brackets...)
		return
	}
	inner, gap, sep, end := layout{l.indent + w.unit, l.lines}, "", w.comma, ""
	if l.lines {
		gap, end = w.nl+inner.indent, w.nl+l.indent
		sep = "," + gap
	}
	w.out = append(append(w.out, brackets[0]), gap...)
	step := stride(n)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			w.out = append(w.out, sep...)
		}
		w.entry(n.Content[i:i+step], inner)
	}
	w.out = append(append(w.out, end...), brackets[1])
}

func (w *jsonPrinter) scalar(n *yaml.Node) {
	if n.Tag != "!!str" {
		w.out = append(w.out, n.Value...)
		return
	}
	quoted, err := jsontext.AppendQuote(nil, n.Value)
	if err != nil { // not UTF-8: the quote holds replacement characters
		quoted, _ = jsontext.AppendQuote(nil, string(bytes.ToValidUTF8([]byte(n.Value), []byte("\uFFFD"))))
	}
	for _, r := range string(quoted) {
		if r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff {
			w.out = fmt.Appendf(w.out, `\u%04x`, r) // JSON allows it, but YAML readers of JSON do not
			continue
		}
		w.out = utf8.AppendRune(w.out, r)
	}
}
