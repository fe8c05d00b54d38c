// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"slices"
	"strings"
)

// Place is where a key stands.
type Place uint8

// The places.
const (
	PodAnnotation Place = iota + 1
	PodLabel
	NamespaceLabel
)

// String is the place in words.
func (p Place) String() string {
	switch p {
	case PodAnnotation:
		return "pod annotation"
	case PodLabel:
		return "pod label"
	case NamespaceLabel:
		return "namespace label"
	}
	return ""
}

// kind is label or annotation.
func (p Place) kind() string {
	if p == PodAnnotation {
		return "annotation"
	}
	return "label"
}

// path is where a pod's key stands in the object.
func (p Place) path(key string) string { return "metadata." + p.kind() + "s[" + key + "]" }

// The values of Key.Type.
const (
	TypeBool       = "bool"
	TypeEnum       = "enum"
	TypeInteger    = "integer"
	TypePort       = "port"
	TypeQuantity   = "quantity"
	TypeRanges     = "CIDRs"      // separated by commas
	TypePorts      = "ports"      // separated by commas
	TypeInterfaces = "interfaces" // separated by commas
	TypeList       = "list"       // separated by commas
	TypeText       = "text"
	TypeJSON       = "json"
	TypeYAML       = "yaml"
)

// Key is one label or annotation of the dialect.
type Key struct {
	Name    string
	Place   Place
	Type    string
	Bounds  string // the values allowed, in words; empty where the type says all
	Written bool   // by the injection, where the pod does not set it
	Doc     string

	// check is what a value must keep for the pod not to be refused; nil where any value passes.
	check func(value string) error
}

// registry is every key, sorted by name and place.
var registry = slices.SortedFunc(slices.Values(slices.Concat(injectionKeys, proxyKeys, trafficKeys, statusKeys, labelKeys)), compareKeys)

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Place, b.Place))
}

// Keys lists every key that the dialect reads or writes, sorted by name. The list is the caller's own.
func Keys() []Key { return slices.Clone(registry) }

// lookup finds a key at its place.
func lookup(name string, place Place) (Key, bool) {
	at, ok := slices.BinarySearchFunc(registry, Key{Name: name, Place: place}, compareKeys)
	if !ok {
		return Key{}, false
	}
	return registry[at], true
}
