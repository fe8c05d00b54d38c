// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
)

// Expand turns names of templates and aliases into names of templates, each once, in the order in
// which they are met. The second result is the names that are neither. An alias that stands for
// itself ends there.
func (c Config) Expand(names []string) (templates, unknown []string) {
	known := map[string]bool{}
	for _, t := range c.Templates {
		known[t.Name] = true
	}
	seen := map[string]bool{}
	var expand func(names []string)
	expand = func(names []string) {
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			targets, alias := c.Aliases[name]
			switch {
			case known[name]:
				templates = append(templates, name)
			case alias:
				expand(targets)
			default:
				unknown = append(unknown, name)
			}
		}
	}
	expand(names)
	return templates, unknown
}

func (c Config) templateNames() []string {
	names := make([]string, len(c.Templates))
	for i, t := range c.Templates {
		names[i] = t.Name
	}
	return names
}

// graph is an edge from each name to those that come after it.
type graph map[string][]string

func (g graph) add(from, to string) { g[from] = append(g[from], to) }

// order adds the constraints of one template.
func (g graph) order(list []Order) {
	for _, o := range list {
		for _, later := range o.Before {
			g.add(o.Container, later)
		}
		for _, earlier := range o.After {
			g.add(earlier, o.Container)
		}
	}
}

// cycle finds names that each come after the one before and end where they began; nil when there are
// none. It is the same one every time.
func (g graph) cycle() []string {
	const open, done = 1, 2
	state := map[string]int{}
	var trail []string
	var visit func(name string) []string
	visit = func(name string) []string {
		state[name] = open
		trail = append(trail, name)
		for _, next := range slices.Sorted(slices.Values(g[name])) {
			switch state[next] {
			case open:
				return append(slices.Clone(trail[slices.Index(trail, next):]), next)
			case done:
				continue
			}
			if found := visit(next); found != nil {
				return found
			}
		}
		trail = trail[:len(trail)-1]
		state[name] = done
		return nil
	}
	for _, name := range sortedKeys(g) {
		if state[name] == 0 {
			if found := visit(name); found != nil {
				return found
			}
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
