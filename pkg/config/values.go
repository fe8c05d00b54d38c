// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// free reads a value without a schema: maps, lists, string, bool, nil, int64 and float64.
func (d *decoder) free(n *yaml.Node, at *field.Path) (any, bool) {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		d.each(n, at, func(key, value *yaml.Node) {
			m[key.Value], _ = d.free(value, at.Key(key.Value))
		})
		return m, true
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i], _ = d.free(item, at.Index(i))
		}
		return list, true
	}
	return d.freeScalar(n, at)
}

func (d *decoder) freeScalar(n *yaml.Node, at *field.Path) (any, bool) {
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!str", "!!timestamp":
		return n.Value, true
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b, true
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, true
		}
	case "!!float":
		// An integer past 64 bits comes as a float, with other digits than its author wrote.
		var f float64
		if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && strings.ContainsAny(n.Value, ".eE") {
			return f, true
		}
	}
	d.fail(n, at, cut(n.Value)+" is neither a 64-bit integer nor a finite number").Hint = "quote it, if it is a text"
	return nil, false
}

// describe names what a node holds.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + cut(n.Value)
	case "!!int", "!!float":
		return "the number " + cut(n.Value)
	}
	return "the string " + cut(n.Value)
}
