// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize bounds all the files of a configuration together, in bytes.
const MaxSize = 4 << 20

// open turns files into sources: the files themselves, or the data of the ConfigMap manifest that is
// the only one.
func open(files map[string][]byte) ([]*source, Errors) {
	var sources []*source
	var faults Errors
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s := &source{name: name, text: bytes.TrimPrefix(files[name], []byte("\ufeff")), origin: Origin{File: name, First: 1, Exact: true}}
		size += len(s.text)
		if !utf8.Valid(s.text) {
			faults = append(faults, s.fault(badLine(s.text), "", "not UTF-8"))
		}
		sources = append(sources, s)
	}
	if size > MaxSize {
		return nil, Errors{{Detail: fmt.Sprintf("the configuration has %d bytes, and at most %d are read", size, MaxSize)}}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(sources) != 1 {
		return sources, nil
	}
	doc, fault := sources[0].document()
	if fault != nil || text(child(doc, "kind")) != "ConfigMap" || text(child(doc, "apiVersion")) != "v1" {
		return sources, nil // a fault is told when the configuration itself is read
	}
	return sources[0].configMap(doc)
}

// badLine is the line of the first byte that is no UTF-8.
func badLine(text []byte) int {
	valid := 0
	for valid < len(text) {
		r, n := utf8.DecodeRune(text[valid:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		valid += n
	}
	return 1 + bytes.Count(text[:valid], []byte("\n"))
}

// configMap is the keys of a ConfigMap's data. A key whose value is a literal block keeps its lines.
func (s *source) configMap(doc *yaml.Node) ([]*source, Errors) {
	data := child(doc, "data")
	if data == nil || data.Kind != yaml.MappingNode || len(data.Content) == 0 {
		fault := s.fault(doc.Line, "data", "the ConfigMap has no data")
		fault.Hint = "put the configuration into data under the key config.yaml"
		return nil, Errors{fault}
	}
	var sources []*source
	var faults Errors
	seen := map[string]bool{}
	for i := 0; i+1 < len(data.Content); i += 2 {
		key, value := data.Content[i], data.Content[i+1]
		field := "data[" + cut(key.Value) + "]"
		switch {
		case value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str":
			faults = append(faults, s.fault(value.Line, field, "want a string, got "+describe(value)))
		case seen[key.Value]:
			faults = append(faults, s.fault(key.Line, field, "the key is there twice"))
		}
		seen[key.Value] = true
		sources = append(sources, &source{name: key.Value, text: []byte(value.Value), origin: s.originOf(value)})
	}
	slices.SortFunc(sources, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	return sources, faults
}

// originOf is where the text of a scalar stands.
func (s *source) originOf(n *yaml.Node) Origin {
	literal := n.Style&yaml.LiteralStyle != 0
	line := n.Line
	if literal {
		line++
	}
	at := s.origin.At(line)
	return Origin{File: at.File, First: at.Line, Exact: literal && s.origin.Exact}
}

// choose finds the source that holds the configuration: the one that says so, else the only one, else
// the one with a well-known name.
func choose(sources []*source) (*source, *Error) {
	var said, named []*source
	for _, s := range sources {
		if s.saysKind() {
			said = append(said, s)
		}
		if slices.Contains([]string{"config.yaml", "injector.yaml", "config"}, s.name) {
			named = append(named, s)
		}
	}
	found := said
	switch {
	case len(found) == 0 && len(sources) == 1:
		found = sources
	case len(found) == 0:
		found = named
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &Error{
			Detail: fmt.Sprintf("no document of kind %s in %s", Kind, names(sources)),
			Hint:   fmt.Sprintf("one file starts with apiVersion: %s and kind: %s", APIVersion, Kind),
		}
	}
	return nil, &Error{
		Detail: fmt.Sprintf("more than one configuration: %s", names(found)),
		Hint:   "keep one of them; templates in files of their own are named by file:",
	}
}

// saysKind tells whether the text declares itself a configuration. A text with a syntax error still
// may, by a line of its own, unless its name says that it is something else: a README with an example.
func (s *source) saysKind() bool {
	if !bytes.Contains(s.text, []byte(Kind)) {
		return false
	}
	if doc, fault := s.document(); fault == nil {
		return text(child(doc, "kind")) == Kind
	}
	if !slices.Contains([]string{"", ".yaml", ".yml", ".json"}, path.Ext(s.name)) {
		return false
	}
	for line := range bytes.Lines(s.text) {
		if rest, ok := bytes.CutPrefix(line, []byte("kind:")); ok && string(bytes.Trim(rest, " \t\r\n\"'")) == Kind {
			return true
		}
	}
	return false
}

func names(sources []*source) string {
	const most = 10
	var list []string
	for _, s := range sources[:min(len(sources), most)] {
		list = append(list, cut(s.name))
	}
	if len(sources) > most {
		list = append(list, fmt.Sprintf("and %d more", len(sources)-most))
	}
	if len(list) == 0 {
		return "no files"
	}
	return strings.Join(list, ", ")
}
