// SPDX-License-Identifier: Apache-2.0

// Package annotation is every label and annotation of the injector: its name, where it stands, its
// values and what it means. Whatever parses, checks or documents a key reads it from here.
package annotation

import "slices"

// The keys. A label is what a webhook's selector or a kubectl query must match; everything else is
// an annotation.
const (
	Inject    = "pillion.dev/inject"
	Revision  = "pillion.dev/revision"
	Injected  = "pillion.dev/injected"
	Templates = "pillion.dev/templates"
	Status    = "pillion.dev/status"
)

// Domain is the domain of our own keys. Parameters of templates are welcome below it, as in
// logs.pillion.dev/memory.
const Domain = "pillion.dev"

// The values of the label Inject.
const (
	Enabled  = "enabled"
	Disabled = "disabled"
)

// Kind tells a label from an annotation.
type Kind uint8

// The two kinds.
const (
	Label Kind = iota + 1
	Annotation
)

// String is label or annotation.
func (k Kind) String() string {
	switch k {
	case Label:
		return "label"
	case Annotation:
		return "annotation"
	}
	return ""
}

// The values of Key.Type.
const (
	TypeEnum = "enum"
	TypeName = "name"
	TypeList = "list" // separated by commas
	TypeJSON = "json"
)

// Key is one label or annotation.
type Key struct {
	Name    string
	Kind    Kind
	On      []string // pod, namespace
	Type    string
	Values  []string // of an enum
	Written bool     // by the injector; a person never sets it
	Doc     string
}

// registry is written once, here, in the order of the reference page: what people set, then what the
// injector writes.
var registry = []Key{
	{
		Name: Inject, Kind: Label, On: []string{"pod", "namespace"}, Type: TypeEnum, Values: []string{Enabled, Disabled},
		Doc: "Asks for injection or forbids it. A pod's label wins over its namespace's, but a disabled namespace is final. Any other value is told as a warning and nothing is injected.",
	},
	{
		Name: Revision, Kind: Label, On: []string{"pod", "namespace"}, Type: TypeName,
		Doc: "Asks for injection by the injector of this revision.",
	},
	{
		Name: Templates, Kind: Annotation, On: []string{"pod", "namespace"}, Type: TypeList,
		Doc: "The templates to inject, separated by commas, in place of the configuration's defaultTemplates. A later one wins over an earlier one. A pod's annotation replaces its namespace's.",
	},
	{
		Name: Injected, Kind: Label, On: []string{"pod"}, Type: TypeEnum, Values: []string{"true"}, Written: true,
		Doc: "Marks an injected pod, so that injected pods can be listed by selector.",
	},
	{
		Name: Status, Kind: Annotation, On: []string{"pod"}, Type: TypeJSON, Written: true,
		Doc: "The record of the injection: what decided, the revision, the templates, their hashes, and all that was added, so that it can be taken off again.",
	},
}

// All lists every key, in the order of the reference page. The list is the caller's own.
func All() []Key {
	all := slices.Clone(registry)
	for i := range all {
		all[i].On, all[i].Values = slices.Clone(all[i].On), slices.Clone(all[i].Values)
	}
	return all
}

// Lookup finds a key by its name.
func Lookup(name string) (Key, bool) {
	for _, k := range registry {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}
