// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
)

// injection is the shape of the key config.
type injection struct {
	Policy               string                 `json:"policy"`
	DefaultTemplates     []string               `json:"defaultTemplates"`
	Templates            map[string]string      `json:"templates"`
	Aliases              map[string][]string    `json:"aliases"`
	NeverInjectSelector  []metav1.LabelSelector `json:"neverInjectSelector"`
	AlwaysInjectSelector []metav1.LabelSelector `json:"alwaysInjectSelector"`
	InjectedAnnotations  map[string]string      `json:"injectedAnnotations"`
}

// injection reads the key config.
func (p *parser) injection(t Text) {
	var in injection
	if err := yaml.Unmarshal(t.body, &in); err != nil {
		p.faults = append(p.faults, t.injectionFaults(err)...)
		p.unread = append(p.unread, configKey)
	}
	if in.Policy == "" && slices.Contains(p.unread, configKey) {
		in.Policy = p.Policy // nothing is known of it
	}
	p.Policy, p.DefaultTemplates, p.Aliases = in.Policy, in.DefaultTemplates, in.Aliases
	p.NeverInjectSelector, p.AlwaysInjectSelector = in.NeverInjectSelector, in.AlwaysInjectSelector
	p.InjectedAnnotations = in.InjectedAnnotations
	doc := t.document()
	nodes := member(doc, "templates")
	for _, name := range slices.Sorted(maps.Keys(in.Templates)) {
		one := Template{Name: name, Text: in.Templates[name], Origin: config.Origin{File: t.origin.File, First: t.origin.First}}
		if n := member(nodes, name); n != nil {
			one.Origin = t.at(n)
		}
		p.Templates = append(p.Templates, one)
	}
	p.places(t, doc)
}

// places notes where the fields of the key config stand, and those that nothing reads.
func (p *parser) places(t Text, doc *yamlv3.Node) {
	p.Places[""] = t.origin.At(1)
	for i := 0; doc != nil && doc.Kind == yamlv3.MappingNode && i+1 < len(doc.Content); i += 2 {
		key, value := doc.Content[i], doc.Content[i+1]
		p.Places[key.Value] = t.origin.At(key.Line)
		if !slices.Contains(injectionFields(), key.Value) {
			p.strangers = append(p.strangers, key.Value)
		}
		if value.Kind != yamlv3.SequenceNode {
			continue
		}
		for j, item := range value.Content {
			p.Places[fmt.Sprintf("%s[%d]", key.Value, j)] = t.origin.At(item.Line)
		}
	}
}

// injectionFields are the fields of the key config. The charts write template too, for a reader that is
// too old, and it is never read.
func injectionFields() []string {
	return []string{
		"policy", "defaultTemplates", "templates", "aliases", "neverInjectSelector", "alwaysInjectSelector", "injectedAnnotations", "template",
	}
}

// injectionFaults are all faults of a key config that is no YAML, or that has values of a wrong type: the
// reader itself stops at the first.
func (t Text) injectionFaults(err error) config.Errors {
	raw, broken := yaml.YAMLToJSON(t.body)
	if broken != nil {
		return config.Errors{t.broken(broken)}
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return config.Errors{{File: t.origin.File, Line: t.origin.First, Field: configKey, Detail: "want a map with policy and templates"}}
	}
	f := typeFaults{text: t, all: all, doc: t.document()}
	one[string](&f, "policy")
	items[string](&f, "defaultTemplates")
	entries[string](&f, "templates")
	entries[[]string](&f, "aliases")
	items[metav1.LabelSelector](&f, "neverInjectSelector")
	items[metav1.LabelSelector](&f, "alwaysInjectSelector")
	entries[string](&f, "injectedAnnotations")
	if len(f.faults) == 0 {
		return config.Errors{{File: t.origin.File, Line: t.origin.First, Field: configKey, Detail: err.Error()}}
	}
	return f.faults
}

// yamlLine finds the line in the message of a YAML error, which has no other place for it.
var yamlLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?(?:yaml: )?(?:line (\d+): )?`)

// broken is the fault of a text that is no YAML.
func (t Text) broken(err error) config.Error {
	found := yamlLine.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(found[1])
	at := t.origin.At(line)
	return config.Error{File: at.File, Line: at.Line, Field: t.key, Detail: "not YAML: " + strings.TrimPrefix(err.Error(), found[0])}
}

// typeFaults collects values of a wrong type, each with its path and line.
type typeFaults struct {
	text   Text
	all    map[string]json.RawMessage
	doc    *yamlv3.Node
	faults config.Errors
}

// check reads a value as a type; path begins with the names, and ends with the place in the value.
func check[T any](f *typeFaults, raw json.RawMessage, n *yamlv3.Node, path string) {
	var into T
	err := yaml.Unmarshal(raw, &into)
	var wrong *json.UnmarshalTypeError
	if err == nil {
		return
	}
	fault := config.Error{File: f.text.origin.File, Line: f.text.origin.First, Field: path, Detail: err.Error()}
	if n != nil {
		fault.Line = f.text.origin.At(n.Line).Line
	}
	if errors.As(err, &wrong) {
		fault.Detail = fmt.Sprintf("want %s, got %s", plainType(wrong.Type.String()), plainValue(wrong.Value))
		if wrong.Field != "" {
			fault.Field += "." + wrong.Field
		}
	}
	f.faults = append(f.faults, fault)
}

func one[T any](f *typeFaults, field string) {
	if raw, ok := f.all[field]; ok {
		check[T](f, raw, member(f.doc, field), field)
	}
}

func items[T any](f *typeFaults, field string) {
	var list []json.RawMessage
	if json.Unmarshal(f.all[field], &list) != nil {
		one[[]T](f, field)
		return
	}
	nodes := member(f.doc, field)
	for i, raw := range list {
		n := nodes
		if n != nil && i < len(n.Content) {
			n = n.Content[i]
		}
		check[T](f, raw, n, fmt.Sprintf("%s[%d]", field, i))
	}
}

func entries[T any](f *typeFaults, field string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(f.all[field], &all) != nil {
		one[map[string]T](f, field)
		return
	}
	nodes := member(f.doc, field)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := member(nodes, name)
		if n == nil {
			n = nodes
		}
		check[T](f, all[name], n, field+"."+name)
	}
}

// plainType says a Go type in the words of YAML.
func plainType(name string) string {
	switch {
	case name == "string":
		return "a string"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "map["), strings.Contains(name, "."):
		return "a map"
	}
	return name
}

// plainValue says a kind of JSON in the words of YAML.
func plainValue(kind string) string {
	switch kind {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}
