// SPDX-License-Identifier: Apache-2.0

package pod

import "github.com/go-json-experiment/json/jsontext"

// treeOf is the tree of bytes that are known to be valid, as a Doc's are. It takes three quarters of the
// time and less than half of the allocations of a decoder that has to judge. The tree's strings are parts of one copy of the
// bytes, which lives as long as any of them. Of bytes that are not valid it may make nonsense.
func treeOf(raw []byte) any {
	g := grower{scanner: scanner{raw: raw}, copied: string(raw)}
	return g.value(0)
}

// maxTreeDepth is the depth that the library's decoder takes.
const maxTreeDepth = 10_000

// grower builds a tree.
type grower struct {
	scanner
	copied string
	names  []string // of the objects that are open
	values []any    // of the objects and lists that are open
}

func (g *grower) value(depth int) any {
	if depth > maxTreeDepth {
		g.stop()
		return nil
	}
	switch g.peek() {
	case '{':
		return g.object(depth)
	case '[':
		return g.list(depth)
	case '"':
		return g.string(g.text())
	}
	from := g.at
	g.skip()
	if g.at == from { // no JSON: a bracket that closes nothing
		g.stop()
		return nil
	}
	switch literal := g.copied[from:g.at]; literal {
	case "null":
		return nil
	case "true":
		return true
	case "false":
		return false
	default:
		return Number(literal)
	}
}

// object waits for the number of its members, for maps that grow are what costs most.
func (g *grower) object(depth int) map[string]any {
	name, value := len(g.names), len(g.values)
	for ok := g.enter('{'); ok; ok = g.more() {
		key := g.string(g.key())
		v := g.value(depth + 1)
		g.names, g.values = append(g.names, key), append(g.values, v)
	}
	m := make(map[string]any, len(g.names)-name)
	for i, key := range g.names[name:] {
		m[key] = g.values[value+i]
	}
	g.names, g.values = g.names[:name], g.values[:value]
	return m
}

func (g *grower) list(depth int) []any {
	start := len(g.values)
	for ok := g.enter('['); ok; ok = g.more() {
		v := g.value(depth + 1)
		g.values = append(g.values, v)
	}
	list := make([]any, len(g.values)-start)
	copy(list, g.values[start:])
	g.values = g.values[:start]
	return list
}

// string is what a string holds.
func (g *grower) string(at span) string {
	if at.to == 0 {
		return ""
	}
	text := g.copied[at.from+1 : at.to-1]
	for i := range len(text) {
		if text[i] == '\\' {
			plain, _ := jsontext.AppendUnquote(nil, g.raw[at.from:at.to])
			return string(plain)
		}
	}
	return text
}
