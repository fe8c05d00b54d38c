// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
	"go.yaml.in/yaml/v3"
)

// nothing is what peek finds where there is nothing.
func nothing() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"} }

// peek looks a key up without changing anything, through aliases and merge keys.
func peek(n *yaml.Node, key string) *yaml.Node {
	if found := search(n, key, map[*yaml.Node]bool{}); found != nil {
		return deref(found)
	}
	return nothing()
}

// search is peek; a mapping that was searched once is not searched again, so that merge keys which
// name each other end.
func search(n *yaml.Node, key string, seen map[*yaml.Node]bool) *yaml.Node {
	n = deref(n)
	if n.Kind != yaml.MappingNode || seen[n] {
		return nil
	}
	seen[n] = true
	var sources []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch k := n.Content[i]; {
		case isMerge(k):
			sources = mergeSources(n.Content[i+1])
		case k.Kind == yaml.ScalarNode && k.Value == key:
			return n.Content[i+1]
		}
	}
	for _, source := range sources {
		if found := search(source, key, seen); found != nil {
			return found
		}
	}
	return nil
}

// peekText is a string that stands under a key; empty where something else does.
func peekText(n *yaml.Node, key string) string {
	if v := peek(n, key); v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
		return v.Value
	}
	return ""
}

func metaOf(n *yaml.Node, inherited meta) meta {
	m := meta{peekText(n, "apiVersion"), peekText(n, "kind")}
	if m == (meta{}) {
		return inherited
	}
	return m
}

// names are the name and namespace of an object of any kind, as far as they can be read.
func names(n *yaml.Node) (name, namespace string) {
	md := peek(n, "metadata")
	return peekText(md, "name"), peekText(md, "namespace")
}

// child steps into a key on the way to a pod, and makes what it steps on the document's own: merge
// keys and aliases on the way are written out. It is nil where there is nothing, or null.
func (f *finder) child(n *yaml.Node, key string) (*yaml.Node, error) {
	if f.shares {
		if err := f.x.flatten(n); err != nil {
			return nil, f.fail(n, err)
		}
	}
	if err := f.unique(n, key); err != nil {
		return nil, err
	}
	var value *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := deref(n.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key {
			value = n.Content[i+1]
		}
	}
	if value == nil {
		return nil, nil
	}
	f.path = pod.AppendToken(slices.Clip(f.path), key)
	if err := f.x.inline(value); err != nil {
		return nil, f.fail(value, err)
	}
	f.trail = append(slices.Clip(f.trail), n, value)
	if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" {
		return nil, nil
	}
	return value, nil
}

// unique refuses a mapping that has one of the keys twice: readers differ in which one holds.
func (f *finder) unique(n *yaml.Node, keys ...string) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := deref(n.Content[i])
		if key.Kind != yaml.ScalarNode || !slices.Contains(keys, key.Value) {
			continue
		}
		if seen[key.Value] {
			return f.fail(key, fmt.Errorf("duplicate key %s", key.Value))
		}
		seen[key.Value] = true
	}
	return nil
}

// metadata is an object's metadata as a tree; nil where there is none.
func (f *finder) metadata(n *yaml.Node) (map[string]any, error) {
	value := peek(n, "metadata")
	if err := f.unique(n, "metadata"); err != nil {
		return nil, err
	}
	plain, err := f.plain(value)
	if err != nil {
		return nil, f.fail(n, err)
	}
	r := reader{doc: f.doc, path: pod.AppendToken(slices.Clip(f.path), "metadata")}
	tree, err := r.value(plain, 0)
	if err != nil || tree == nil {
		return nil, err
	}
	md, ok := tree.(map[string]any)
	if !ok {
		return nil, r.fail(value, fmt.Errorf("want an object, got %s", describe(value)))
	}
	return md, nil
}

// plain is a node without aliases and merge keys; a copy, where it has any.
func (f *finder) plain(n *yaml.Node) (*yaml.Node, error) {
	if !f.shares {
		return n, nil
	}
	aside := expander{made: f.x.made, targets: map[*yaml.Node]bool{}, gone: map[*yaml.Node]bool{}}
	c, err := aside.copy(n, 0)
	f.x.made = aside.made
	return c, err
}

// text is a string of an object's metadata.
func (f *finder) text(n *yaml.Node, metadata map[string]any, key string) (string, error) {
	switch v := metadata[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		at := peek(peek(n, "metadata"), key)
		path := pod.AppendToken(pod.AppendToken(slices.Clip(f.path), "metadata"), key)
		return "", f.doc.fail(at, path, fmt.Errorf("want a string, got %s", pod.Describe(v)))
	}
}

// texts is a map of strings of an object's metadata.
func (f *finder) texts(n *yaml.Node, metadata map[string]any, key string) (map[string]string, error) {
	at := peek(peek(n, "metadata"), key)
	path := pod.AppendToken(pod.AppendToken(slices.Clip(f.path), "metadata"), key)
	if metadata[key] == nil {
		return nil, nil
	}
	m, ok := metadata[key].(map[string]any)
	if !ok {
		return nil, f.doc.fail(at, path, fmt.Errorf("want an object, got %s", pod.Describe(metadata[key])))
	}
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, ok := m[k].(string)
		if !ok {
			return nil, f.doc.fail(peek(at, k), pod.AppendToken(path, k), fmt.Errorf("want a string, got %s", pod.Describe(m[k])))
		}
		out[k] = v
	}
	return out, nil
}

// describe names a node for an error message.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	return pod.Describe(n.Value)
}
