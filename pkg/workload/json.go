// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// span is a run of bytes of a text.
type span struct{ start, end int }

// jsonSpans finds the JSON values that a text holds from at on, and that must be all that it holds.
func jsonSpans(text []byte, at int) ([]span, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text[at:]), jsontext.AllowDuplicateNames(true))
	var spans []span
	for {
		raw, err := dec.ReadValue()
		if err == io.EOF {
			return spans, nil
		}
		if err != nil {
			return nil, jsonFault(err, text[at:])
		}
		end := at + int(dec.InputOffset())
		spans = append(spans, span{end - len(raw), end})
	}
}

// jsonFault says where a JSON text goes wrong.
func jsonFault(err error, text []byte) error {
	var fault *jsontext.SyntacticError
	if !errors.As(err, &fault) {
		return err
	}
	line := 1 + bytes.Count(text[:min(int(fault.ByteOffset), len(text))], []byte("\n"))
	return fmt.Errorf("line %d of the document: %w", line, fault.Err)
}

// parseJSON reads the value that stands at an offset of a text into nodes. Where a node of YAML
// holds line and column, one of JSON holds the span of its text: Line is the offset of its first
// byte plus one, Column the offset after its last.
func parseJSON(text []byte, at int) (*yaml.Node, error) {
	p := jsonParser{jsontext.NewDecoder(bytes.NewReader(text[at:]), jsontext.AllowDuplicateNames(true)), at}
	return p.value()
}

type jsonParser struct {
	dec *jsontext.Decoder
	at  int
}

func (p jsonParser) value() (*yaml.Node, error) {
	switch p.dec.PeekKind() {
	case '{':
		return p.collection(yaml.MappingNode, "!!map", '}')
	case '[':
		return p.collection(yaml.SequenceNode, "!!seq", ']')
	}
	raw, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(raw), Column: p.at + int(p.dec.InputOffset())}
	n.Line = n.Column - len(raw) + 1
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, err
		}
		n.Tag, n.Style, n.Value = "!!str", yaml.DoubleQuotedStyle, string(text)
	case 'n':
		n.Tag = "!!null"
	case 't', 'f':
		n.Tag = "!!bool"
	default:
		n.Tag = "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	}
	return n, nil
}

func (p jsonParser) collection(kind yaml.Kind, tag string, end jsontext.Kind) (*yaml.Node, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: kind, Tag: tag, Line: p.at + int(p.dec.InputOffset())}
	for p.dec.PeekKind() != end {
		c, err := p.value()
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
	_, err := p.dec.ReadToken()
	n.Column = p.at + int(p.dec.InputOffset())
	return n, err
}
