// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Read cuts a stream of YAML or JSON documents and finds the pods in it. Objects of kinds that are
// no workload may hold anything; a document that does not parse, or a workload whose pod is not one
// that can be read without doubt, is an *Error.
func Read(data []byte) (*Stream, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the manifest has %d bytes, more than the %d that are read", len(data), MaxBytes)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("the manifest is UTF-16; save it as UTF-8")
	}
	s := &Stream{}
	index := 0
	for _, seg := range split(data) {
		parts, err := readSegment(seg, index)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.doc != nil {
				index++
			}
		}
		s.parts = append(s.parts, parts...)
	}
	return s, nil
}

// readSegment reads the text of a YAML document, or the JSON objects that stand in its place.
// index is the number of documents before it.
func readSegment(seg segment, index int) ([]part, error) {
	text := bytes.TrimPrefix(seg.raw, []byte(bom))
	if empty(text) {
		return []part{{raw: seg.raw}}, nil
	}
	body := bytes.TrimLeft(text[afterMarker(text):], " \t\r\n")
	src := source{text: text, bom: seg.raw[:len(seg.raw)-len(text)], line: seg.line, at: len(text) - len(body)}
	var notJSON error
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		var spans []span
		if spans, notJSON = jsonSpans(text, src.at); notJSON == nil {
			return readJSON(seg, spans, index)
		}
	}
	root, err := parseYAML(text)
	if err != nil {
		line, fault := src.yamlFault(err)
		if looksJSON(body) {
			fault = fmt.Errorf("neither JSON (%w) nor YAML (%w)", notJSON, fault)
		}
		return nil, &Error{Document: index + 1, Line: line, Err: fault}
	}
	if root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return []part{{raw: seg.raw}}, nil
	}
	doc := &Document{Index: index + 1, src: src, root: root}
	return []part{{seg.raw, doc}}, doc.find()
}

// readJSON makes a document of every JSON value in a segment.
func readJSON(seg segment, spans []span, index int) ([]part, error) {
	mark := len(seg.raw) - len(bytes.TrimPrefix(seg.raw, []byte(bom)))
	var parts []part
	from, line := 0, seg.line
	for i, sp := range spans {
		end := mark + sp.end
		if i == len(spans)-1 {
			end = len(seg.raw)
		}
		raw := seg.raw[from:end]
		skip := 0
		if i == 0 {
			skip = mark
		}
		src := source{text: raw[skip:], bom: raw[:skip], line: line, at: mark + sp.start - from - skip, json: true}
		doc := &Document{Index: index + 1, src: src}
		var err error
		if doc.root, err = parseJSON(src.text, src.at); err != nil {
			return nil, &Error{Document: doc.Index, Line: line, Err: err}
		}
		p := part{raw: raw}
		if doc.root.ShortTag() != "!!null" {
			p.doc = doc
			index++
			if err := doc.find(); err != nil {
				return nil, err
			}
		}
		parts = append(parts, p)
		line += bytes.Count(raw, []byte("\n"))
		from = end
	}
	return parts, nil
}

// parseYAML reads the one document in a text; nil where there is none.
func parseYAML(text []byte) (root *yaml.Node, err error) {
	defer func() {
		// The parser reports its own inner contradictions by panic; for us they are bad input.
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("yaml: line %d: a second document without a --- line before it", more.Line)
	} else if err != io.EOF {
		return nil, err
	}
	return doc.Content[0], nil
}

var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// yamlFault puts a parser's error, which counts lines from the document's text, in terms of the
// stream.
func (s source) yamlFault(err error) (line int, fault error) {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return s.line, err
	}
	if n, err := strconv.Atoi(m[1]); err == nil {
		return s.line + n - 1, errors.New(m[2])
	}
	return s.line + bytes.Count(s.text[:s.at], []byte("\n")), errors.New(m[2])
}

// looksJSON tells whether an author meant JSON.
func looksJSON(body []byte) bool {
	if len(body) == 0 || body[0] != '{' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(body[1:], " \t\r\n"), []byte{'"'})
}
