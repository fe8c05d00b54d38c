// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// expander writes aliases out, so that a pod shares no node with anything else and can be changed
// without a second thought. It counts the nodes that it makes, since a few lines of aliases can
// stand for more than a machine holds.
type expander struct {
	made    int
	targets map[*yaml.Node]bool // anchored nodes of which an alias was written out
	gone    map[*yaml.Node]bool // nodes that a merge key held and that are no longer in the tree
}

var (
	errBomb  = fmt.Errorf("its aliases stand for more than %d values", maxNodes)
	errDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)
)

// shares tells whether there is an alias or a merge key at or below a node.
func shares(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || isMerge(n) {
		return true
	}
	for _, c := range n.Content {
		if shares(c) {
			return true
		}
	}
	return false
}

// deref is the node that an alias stands for, or the node itself.
func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// inline turns an alias into a copy of what it stands for. Any other node stays as it is.
func (x *expander) inline(n *yaml.Node) error {
	if n.Kind != yaml.AliasNode {
		return nil
	}
	x.targets[n.Alias] = true
	c, err := x.copy(n.Alias, 0)
	if err != nil {
		return err
	}
	c.HeadComment, c.LineComment, c.FootComment = n.HeadComment, n.LineComment, n.FootComment
	c.Line, c.Column = n.Line, n.Column
	*n = *c
	return nil
}

// copy is a deep copy without anchors, aliases and merge keys.
func (x *expander) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if x.made++; x.made > maxNodes {
		return nil, errBomb
	}
	if depth > maxDepth {
		return nil, errDepth
	}
	if n.Kind == yaml.AliasNode {
		x.targets[n.Alias] = true
		return x.copy(n.Alias, depth+1)
	}
	c := *n
	c.Anchor, c.Content = "", make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		var err error
		if c.Content[i], err = x.copy(child, depth+1); err != nil {
			return nil, err
		}
	}
	return &c, x.flatten(&c)
}

// placed is an error at a node.
type placed struct {
	node *yaml.Node
	err  error
}

func (p placed) Error() string { return p.err.Error() }

// all writes out every alias and merge key at and below a node.
func (x *expander) all(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return placed{n, errDepth}
	}
	if err := x.inline(n); err != nil {
		return placed{n, err}
	}
	for _, c := range n.Content {
		if err := x.all(c, depth+1); err != nil {
			return err
		}
	}
	if err := x.flatten(n); err != nil {
		return placed{n, err}
	}
	return nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge"
}

// flatten puts what the merge keys of a mapping bring in the place of the keys. What the mapping
// says itself wins over it, and an earlier source over a later one.
func (x *expander) flatten(m *yaml.Node) error {
	at := -1
	own := map[string]int{}
	for i := 0; m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
		switch key := m.Content[i]; {
		case !isMerge(key):
			own[key.Value] = i
		case at >= 0:
			return errors.New("duplicate key <<")
		default:
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	brought, err := x.brought(m.Content[at+1])
	if err != nil {
		return err
	}
	merged := append([]*yaml.Node{}, m.Content[:at]...)
	for i := 0; i < len(brought); i += 2 {
		stands, ok := own[brought[i].Value]
		if ok && stands < at {
			return fmt.Errorf("%s stands before the merge key << that brings it too, and readers differ in which wins: put << first", brought[i].Value)
		}
		if !ok {
			own[brought[i].Value] = len(m.Content) // a later source does not bring it again
			merged = append(merged, brought[i], brought[i+1])
		}
	}
	m.Content = append(merged, m.Content[at+2:]...)
	return nil
}

// brought are the pairs of the mappings that a merge key names.
func (x *expander) brought(value *yaml.Node) ([]*yaml.Node, error) {
	walk(value, func(n *yaml.Node) { x.gone[n] = true })
	var pairs []*yaml.Node
	for _, source := range mergeSources(value) {
		if deref(source).Kind != yaml.MappingNode {
			return nil, errors.New("a merge key << wants an object or a list of objects")
		}
		x.targets[value.Alias], x.targets[source.Alias] = true, true
		c, err := x.copy(source, 0)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, c.Content...)
	}
	return pairs, nil
}

// mergeSources are the nodes that the value of a merge key names.
func mergeSources(value *yaml.Node) []*yaml.Node {
	if list := deref(value); list.Kind == yaml.SequenceNode {
		return list.Content
	}
	return []*yaml.Node{value}
}

// detach writes out the aliases anywhere in a document that stand for a node in own, and drops the
// anchors that nothing refers to any more. The pods and all that they stand in are own.
func (x *expander) detach(root *yaml.Node, own map[*yaml.Node]bool) error {
	if err := x.outside(root, own); err != nil {
		return err
	}
	used := map[*yaml.Node]bool{}
	walk(root, func(n *yaml.Node) {
		if n.Kind == yaml.AliasNode {
			used[n.Alias] = true
		}
	})
	for n := range x.targets {
		if n != nil && !used[n] {
			n.Anchor = ""
		}
	}
	return nil
}

func (x *expander) outside(n *yaml.Node, own map[*yaml.Node]bool) error {
	if n.Kind == yaml.AliasNode && (own[n.Alias] || x.gone[n.Alias]) {
		return x.inline(n)
	}
	for _, c := range n.Content {
		if err := x.outside(c, own); err != nil {
			return err
		}
	}
	return nil
}

func walk(n *yaml.Node, visit func(*yaml.Node)) {
	visit(n)
	for _, c := range n.Content {
		walk(c, visit)
	}
}
