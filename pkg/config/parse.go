// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Parse reads a configuration from named files: the configuration itself, alone or beside the
// templates that it names by file, or one ConfigMap manifest whose data holds them. It is strict: an
// unknown or repeated key and a wrong type are faults. The result is defaulted and valid, each
// template has its Text, and the same files always give the same result. The error is Errors.
func Parse(files map[string][]byte) (Config, error) {
	sources, faults := open(files)
	if len(faults) > 0 {
		return Config{}, faults.sorted()
	}
	src, fault := choose(sources)
	if fault != nil {
		return Config{}, Errors{*fault}
	}
	doc, fault := src.document()
	if fault != nil {
		return Config{}, Errors{*fault}
	}
	if fault := src.version(doc); fault != nil {
		return Config{}, Errors{*fault}
	}
	c := Config{}
	d := decoder{src: src, places: map[string]Position{}}
	d.value(doc, reflect.ValueOf(&c).Elem(), nil)
	c.Places = d.places
	l := loader{config: src, sources: sources, places: d.places}
	l.load(doc, &c)
	if faults := append(d.faults, l.faults...); len(faults) > 0 {
		return Config{}, faults.sorted()
	}
	if faults := c.faults(src); len(faults) > 0 {
		return Config{}, faults.sorted()
	}
	return c, nil
}

// version checks what kind of document this is: of another kind, every other fault would be noise.
func (s *source) version(doc *yaml.Node) *Error {
	for _, want := range []struct{ key, value string }{{"apiVersion", APIVersion}, {"kind", Kind}} {
		n := child(doc, want.key)
		if n == nil {
			fault := s.fault(doc.Line, want.key, "missing")
			fault.Hint = fmt.Sprintf("write %s: %s", want.key, want.value)
			return &fault
		}
		if text(n) != want.value {
			fault := s.fault(n.Line, want.key, fmt.Sprintf("%q is not %s", cut(text(n)), want.value))
			fault.Hint = fmt.Sprintf("write %s: %s", want.key, want.value)
			return &fault
		}
	}
	return nil
}

// faults is what Validate finds, with the places.
func (c Config) faults(src *source) Errors {
	var faults Errors
	for _, p := range c.problems() {
		at := c.Place(p.Field)
		if at.File == "" {
			at = src.origin.At(1)
		}
		faults = append(faults, Error{
			File: at.File, Line: at.Line, Field: p.Field, Detail: p.ErrorBody(), Hint: p.hint,
			Unknown: p.unknown, Known: p.known,
		})
	}
	return faults
}

// loader gives every template its text.
type loader struct {
	config  *source
	sources []*source
	places  map[string]Position
	faults  Errors
}

func (l *loader) load(doc *yaml.Node, c *Config) {
	list := child(doc, "templates")
	for i := range c.Templates {
		at := field.NewPath("templates").Index(i)
		t := &c.Templates[i]
		switch {
		case t.Text != "" && t.File != "":
			l.fail(at.Child("file"), "text is there too: want one of file and text", "remove one of them")
		case t.Text != "":
			t.Origin = l.config.originOf(child(list.Content[i], "text"))
		case t.File != "":
			l.file(t, at.Child("file"))
		case !given(list.Content[i], "text") && !given(list.Content[i], "file"):
			l.fail(at, "want one of file and text", "write the template below text: |, or name its file in file:")
		}
	}
}

// given tells whether a template says anything for a field. What is no map at all, or of a wrong
// type, is a fault that is told already.
func given(n *yaml.Node, name string) bool {
	return n.Kind != yaml.MappingNode || child(n, name) != nil
}

func (l *loader) file(t *Template, at *field.Path) {
	if !siblingName(t.File) {
		l.fail(at, fmt.Sprintf("%q is not the plain name of a file", cut(t.File)), "put the file beside the configuration and write its name without a directory")
		return
	}
	i := slices.IndexFunc(l.sources, func(s *source) bool { return s.name == t.File })
	switch {
	case i < 0:
		fault := l.fail(at, fmt.Sprintf("no file %q beside the configuration, which has %s", cut(t.File), names(l.sources)), "")
		fault.Unknown = t.File
		for _, s := range l.sources {
			if s.name != l.config.name {
				fault.Known = append(fault.Known, s.name)
			}
		}
	case t.File == l.config.name:
		l.fail(at, fmt.Sprintf("%q is the configuration itself", t.File), "name the file that holds the template")
	case len(bytes.TrimSpace(l.sources[i].text)) == 0:
		l.fail(at, fmt.Sprintf("the file %q is empty", t.File), "")
	default:
		t.Text, t.Origin = string(l.sources[i].text), l.sources[i].origin
	}
}

func (l *loader) fail(at *field.Path, detail, hint string) *Error {
	place := Config{Places: l.places}.Place(at.String())
	l.faults = append(l.faults, Error{File: place.File, Line: place.Line, Field: at.String(), Detail: detail, Hint: hint})
	return &l.faults[len(l.faults)-1]
}

// siblingName tells whether a name can only be that of a file in the same directory.
func siblingName(name string) bool {
	return name != "" && len(name) <= 253 && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00")
}

// Siblings names the files beside a configuration that its templates are in, sorted. It reads
// whatever it can: what is wrong with the configuration is told by Parse.
func Siblings(config []byte) []string {
	if len(config) > MaxSize {
		return nil
	}
	doc, fault := (&source{text: config}).document()
	if fault != nil || text(child(doc, "kind")) != Kind {
		return nil
	}
	list := child(doc, "templates")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var found []string
	for _, item := range list.Content {
		if name := text(child(item, "file")); siblingName(name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
