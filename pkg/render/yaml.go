// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// misplaced is a fault at a line of YAML text.
type misplaced struct {
	line    int
	pointer string // RFC 6901
	detail  string
}

func (m *misplaced) Error() string { return fmt.Sprintf("line %d: %s", m.line, m.detail) }

// parseYAML reads one YAML document; the node of an empty one is nil.
func parseYAML(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, extra yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	switch err := dec.Decode(&extra); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntaxError(err)
	default:
		return nil, &misplaced{line: extra.Line, detail: "more than one YAML document"}
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// shelf keeps the last parsed documents of a template. As slots keep the pods' own text out of what
// is rendered, a template renders the same few texts for nearly all pods. Nodes are never changed.
type shelf [8]atomic.Pointer[parsed]

type parsed struct {
	text string
	root *yaml.Node
}

func (s *shelf) parse(text []byte) (*yaml.Node, error) {
	place := &s[crc32.ChecksumIEEE(text)%uint32(len(s))]
	if p := place.Load(); p != nil && p.text == string(text) {
		return p.root, nil
	}
	root, err := parseYAML(text)
	if err == nil && len(text) <= keep {
		place.Store(&parsed{string(text), root})
	}
	return root, err
}

// builder turns a YAML node into a tree. It knows no aliases, anchors, merge keys, tags of its own
// and duplicate keys.
type builder struct {
	run    *run // whose slots are filled in; nil for none
	layer  bool // an item of a list must not be null
	path   []byte
	filled int
}

// build makes the tree; the schema may be nil.
func (b *builder) build(root *yaml.Node, schema *pod.Type) (any, error) {
	if root == nil {
		return nil, nil
	}
	b.path = make([]byte, 0, 128)
	return b.value(root, schema, 0)
}

// syntaxError takes the line out of the parser's error, whose form is "yaml: line 3: detail".
func syntaxError(err error) error {
	detail := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(detail, "line "); ok {
		digits, rest, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(digits); err == nil {
			return &misplaced{line: line, detail: "no YAML: " + rest}
		}
	}
	return &misplaced{line: 1, detail: "no YAML: " + detail}
}

func (b *builder) fault(n *yaml.Node, format string, args ...any) error {
	return &misplaced{line: n.Line, pointer: string(b.path), detail: fmt.Sprintf(format, args...)}
}

func (b *builder) value(n *yaml.Node, t *pod.Type, depth int) (any, error) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, b.fault(n, "YAML anchors and aliases are not to be had here")
	case depth > MaxDepth:
		return nil, b.fault(n, "nested more than %d deep", MaxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return b.mapping(n, t, depth)
	case yaml.SequenceNode:
		return b.sequence(n, t, depth)
	}
	return b.scalar(n)
}

func (b *builder) mapping(n *yaml.Node, t *pod.Type, depth int) (any, error) {
	if tag := n.ShortTag(); tag != "!!map" {
		return nil, b.fault(n, "the YAML tag %s is not to be had here", tag)
	}
	out := make(map[string]any, len(n.Content)/2)
	mark := len(b.path)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := b.key(n.Content[i], t)
		if err != nil {
			return nil, err
		}
		b.path = pod.AppendToken(b.path[:mark], key)
		if _, twice := out[key]; twice {
			return nil, b.fault(n.Content[i], "the key %s occurs twice", pod.Describe(key))
		}
		if out[key], err = b.value(n.Content[i+1], t.Field(key), depth+1); err != nil {
			return nil, err
		}
		b.path = b.path[:mark]
	}
	return out, nil
}

// key is a key as text; numbers and booleans are taken as they are written. A name that a pod
// controls is welcome among labels and the like, but never names a field.
func (b *builder) key(n *yaml.Node, t *pod.Type) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" {
		return "", b.fault(n, "a key must be a text")
	}
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	default:
		return "", b.fault(n, "a key must be a text, not %s", pod.Describe(n.Value))
	}
	if b.run == nil || !marked(n.Value) {
		return n.Value, nil
	}
	if t == nil || t.Kind != pod.Map {
		return "", b.fault(n, "a pod must not control the name of a field")
	}
	return b.fill(n)
}

func (b *builder) sequence(n *yaml.Node, t *pod.Type, depth int) (any, error) {
	if tag := n.ShortTag(); tag != "!!seq" {
		return nil, b.fault(n, "the YAML tag %s is not to be had here", tag)
	}
	var elem *pod.Type
	if t != nil && t.Kind == pod.List {
		elem = t.Elem
	}
	out := make([]any, len(n.Content))
	mark := len(b.path)
	for i, item := range n.Content {
		b.path = strconv.AppendInt(append(b.path[:mark], '/'), int64(i), 10)
		v, err := b.value(item, elem, depth+1)
		if err != nil {
			return nil, err
		}
		if v == nil && b.layer {
			return nil, b.fault(item, "the item is null")
		}
		out[i] = v
		b.path = b.path[:mark]
	}
	return out, nil
}

// fill puts the slots' texts into a scalar.
func (b *builder) fill(n *yaml.Node) (string, error) {
	quote := byte(0)
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle:
		quote = '"'
	case yaml.SingleQuotedStyle:
		quote = '\''
	}
	text, ok := b.run.fill(n.Value, quote)
	if !ok {
		return "", b.fault(n, "a text holds U+E000 or U+E001, which templates must not place")
	}
	if b.filled += len(text); b.filled > 8*MaxOutput {
		return "", tooMuch("the template renders more than %d bytes", MaxOutput)
	}
	return text, nil
}

func (b *builder) scalar(n *yaml.Node) (any, error) {
	tag := n.ShortTag()
	if b.run != nil && marked(n.Value) {
		if n.Style&yaml.TaggedStyle != 0 && tag != "!!str" {
			return nil, b.fault(n, "the YAML tag %s is not to be had here", tag)
		}
		return b.fill(n)
	}
	switch tag {
	case "!!str":
		return n.Value, nil
	case "!!timestamp":
		if n.Style&yaml.TaggedStyle == 0 {
			return n.Value, nil
		}
	case "!!null":
		return nil, nil
	case "!!bool":
		switch strings.ToLower(n.Value) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, b.fault(n, "%s is not true or false", pod.Describe(n.Value))
	case "!!int", "!!float":
		return b.number(n)
	}
	return nil, b.fault(n, "the YAML tag %s is not to be had here", tag)
}

// number keeps a literal that is one of JSON too, and writes any other anew.
func (b *builder) number(n *yaml.Node) (any, error) {
	if jsonNumber(n.Value) {
		return pod.Number(n.Value), nil
	}
	var i int64
	if n.ShortTag() == "!!int" && n.Decode(&i) == nil {
		return i, nil
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, b.fault(n, "%s is no number that JSON has", pod.Describe(n.Value))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

func jsonNumber(text string) bool {
	return text != "" && strings.IndexByte("-0123456789", text[0]) >= 0 && json.Valid([]byte(text))
}
