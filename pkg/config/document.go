// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The bounds of the one document that is read as YAML. A node takes some 170 bytes, whatever it
// holds, and an API server stores no larger object anyway.
const (
	maxDocument = 1 << 20 // bytes
	maxNodes    = 100_000
	maxDepth    = 100 // maps and lists in each other
)

// source is one named text and where it stands.
type source struct {
	name   string // as templates name it
	text   []byte
	origin Origin

	read  bool // doc or fault is set
	doc   *yaml.Node
	wrong *Error
}

func (s *source) fault(line int, field, detail string) Error {
	at := s.origin.At(line)
	return Error{File: at.File, Line: at.Line, Field: field, Detail: detail}
}

// yamlLine finds the line in the message of a YAML error, which has no other place for it.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// document is the single YAML document of a source, which is read once. Documents without content
// do not count.
func (s *source) document() (*yaml.Node, *Error) {
	if !s.read {
		s.read = true
		s.doc, s.wrong = s.readDocument()
	}
	return s.doc, s.wrong
}

func (s *source) readDocument() (*yaml.Node, *Error) {
	if len(s.text) > maxDocument {
		fault := s.fault(1, "", fmt.Sprintf("the document has %d bytes, and at most %d are read", len(s.text), maxDocument))
		fault.Hint = "put the templates into files beside the configuration"
		return nil, &fault
	}
	dec := yaml.NewDecoder(bytes.NewReader(s.text))
	var only *yaml.Node
	for {
		doc := new(yaml.Node)
		err := dec.Decode(doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			found := yamlLine.FindStringSubmatch(err.Error())
			line, _ := strconv.Atoi(found[1])
			fault := s.fault(line, "", "not YAML: "+strings.TrimPrefix(err.Error(), found[0]))
			return nil, &fault
		}
		if len(doc.Content) == 0 || isNull(doc.Content[0]) {
			continue
		}
		if only != nil {
			fault := s.fault(doc.Content[0].Line, "", "a second document: want a single one")
			return nil, &fault
		}
		only = doc.Content[0]
	}
	if only == nil {
		fault := s.fault(1, "", "no document: want one of kind "+Kind)
		return nil, &fault
	}
	nodes := 0
	if fault := s.check(only, 1, &nodes); fault != nil {
		return nil, fault
	}
	return only, nil
}

// check refuses what is hard to bound or to read: aliases, tags of an application, great depth, and
// more nodes than anybody writes.
func (s *source) check(n *yaml.Node, depth int, nodes *int) *Error {
	fault := Error{}
	*nodes++
	switch {
	case *nodes > maxNodes:
		fault = s.fault(n.Line, "", fmt.Sprintf("more than %d keys and values", maxNodes))
	case n.Kind == yaml.AliasNode:
		fault = s.fault(n.Line, "", fmt.Sprintf("the alias *%s: aliases are not read here", cut(n.Value)))
		fault.Hint = "write the value out"
	case depth > maxDepth:
		fault = s.fault(n.Line, "", fmt.Sprintf("more than %d maps and lists in each other", maxDepth))
	case n.Style&yaml.TaggedStyle != 0 && !plainTag(n):
		fault = s.fault(n.Line, "", fmt.Sprintf("the tag %s: only the tags of plain YAML are read here", cut(n.Tag)))
		fault.Hint = "remove the tag"
	default:
		for _, child := range n.Content {
			if found := s.check(child, depth+1, nodes); found != nil {
				return found
			}
		}
		return nil
	}
	return &fault
}

func plainTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return n.Kind == yaml.ScalarNode
	case "!!map":
		return n.Kind == yaml.MappingNode
	case "!!seq":
		return n.Kind == yaml.SequenceNode
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// field finds a field of a map, or nil.
func child(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name && n.Content[i].Kind == yaml.ScalarNode {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// cut shortens a text for a message.
func cut(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
