// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
	"go.yaml.in/yaml/v3"
)

// finder goes through a document for the objects in it.
type finder struct {
	doc    *Document
	x      *expander
	shares bool                // there are aliases or merge keys in the document
	own    map[*yaml.Node]bool // the pods, and all that they stand in
	path   []byte              // of the node at hand, an RFC 6901 pointer
	trail  []*yaml.Node        // what the node at hand stands in
	lists  int
}

// find fills the document with what its root holds.
func (d *Document) find() error {
	d.Line = d.src.lineOf(d.root)
	if d.root.Kind != yaml.MappingNode {
		return d.fail(d.root, nil, fmt.Errorf("want an object, got %s", describe(d.root)))
	}
	f := &finder{
		doc: d, own: map[*yaml.Node]bool{}, shares: shares(d.root),
		x: &expander{targets: map[*yaml.Node]bool{}, gone: map[*yaml.Node]bool{}},
	}
	root := metaOf(d.root, meta{})
	d.APIVersion, d.Kind = root.apiVersion, root.kind
	d.Name, d.Namespace = names(d.root)
	if err := f.object(d.root, meta{}); err != nil {
		return err
	}
	if len(d.pods) == 0 || !f.shares {
		return nil
	}
	for _, p := range d.pods {
		walk(p.node, func(n *yaml.Node) { f.own[n] = true })
	}
	if err := f.x.detach(d.root, f.own); err != nil {
		return d.fail(d.root, nil, err)
	}
	d.expanded = len(f.x.targets) > 0 || len(f.x.gone) > 0
	return nil
}

// object looks at one object; inherited is its type where it does not say it.
func (f *finder) object(n *yaml.Node, inherited meta) error {
	m := metaOf(n, inherited)
	if err := f.unique(n, "apiVersion", "kind"); err != nil {
		return err
	}
	if path, known := templatePath(m.apiVersion, m.kind); known {
		return f.workload(n, m, path)
	}
	if m == (meta{"v1", "Namespace"}) {
		return f.namespace(n)
	}
	if now := replacement(m.apiVersion, m.kind); now != "" {
		name, namespace := names(n)
		f.doc.retired = append(f.doc.retired, Retired{
			APIVersion: m.apiVersion, Kind: m.kind, Name: name, Namespace: namespace,
			Line: f.doc.src.lineOf(n), Replacement: now,
		})
		return nil
	}
	if item, ok := listOf(m); ok {
		return f.list(n, item)
	}
	return nil
}

// list looks at the items of a list. What a list of a kind of its own holds may be anything; a
// plain List holds objects.
func (f *finder) list(n *yaml.Node, inherited meta) error {
	plain := inherited == meta{}
	items := deref(peek(n, "items"))
	if items.Kind != yaml.SequenceNode && !plain {
		return nil
	}
	if f.lists++; f.lists > maxLists {
		return f.fail(n, fmt.Errorf("more than %d Lists inside each other", maxLists))
	}
	defer func(path []byte, trail []*yaml.Node) {
		f.path, f.trail, f.lists = path, trail, f.lists-1
	}(f.path, f.trail)
	items, err := f.child(n, "items")
	if err != nil || items == nil {
		return err
	}
	if items.Kind != yaml.SequenceNode {
		return f.fail(items, fmt.Errorf("want a list, got %s", describe(items)))
	}
	path, trail := f.path, f.trail
	for i, item := range items.Content {
		f.path, f.trail = pod.AppendToken(path[:len(path):len(path)], strconv.Itoa(i)), trail[:len(trail):len(trail)]
		if deref(item).Kind != yaml.MappingNode {
			if plain {
				return f.fail(item, fmt.Errorf("want an object, got %s", describe(deref(item))))
			}
			continue
		}
		if err := f.item(item, inherited); err != nil {
			return err
		}
	}
	return nil
}

// item looks at an item of a list. One that is an alias is written out first, but only when there
// may be a pod in it.
func (f *finder) item(n *yaml.Node, inherited meta) error {
	m := metaOf(deref(n), inherited)
	_, known := templatePath(m.apiVersion, m.kind)
	_, isList := listOf(m)
	if n.Kind == yaml.AliasNode && !known && !isList {
		return f.object(deref(n), inherited)
	}
	if err := f.x.inline(n); err != nil {
		return f.fail(n, err)
	}
	return f.object(n, inherited)
}

// workload finds the pod of an object. A workload without a template has none: a Rollout may refer
// to a Deployment, and a patch for a kustomization names only what it changes.
func (f *finder) workload(n *yaml.Node, m meta, path []string) error {
	defer func(path []byte, trail []*yaml.Node) { f.path, f.trail = path, trail }(f.path, f.trail)
	owner, err := f.owner(n, m)
	if err != nil {
		return err
	}
	owner.bare = len(path) == 0
	at := n
	for _, key := range path {
		if at, err = f.child(at, key); err != nil || at == nil {
			return err
		}
		if at.Kind != yaml.MappingNode {
			return f.fail(at, fmt.Errorf("want an object, got %s", describe(at)))
		}
	}
	if f.shares {
		if err := f.x.all(at, 0); err != nil {
			return f.fail(at, err)
		}
	}
	for _, n := range f.trail {
		f.own[n] = true
	}
	p := &Pod{doc: f.doc, node: at, path: slices.Clip(f.path), owner: owner}
	if p.json, err = p.encode(at); err != nil {
		return err
	}
	f.doc.pods = append(f.doc.pods, p)
	return nil
}

// owner reads an object's name. It is read strictly: a report that names the wrong object is worse
// than none.
func (f *finder) owner(n *yaml.Node, m meta) (owner, error) {
	o := owner{apiVersion: m.apiVersion, kind: m.kind}
	tree, err := f.metadata(n)
	if err != nil {
		return o, err
	}
	if o.name, err = f.text(n, tree, "name"); err != nil {
		return o, err
	}
	if o.namespace, err = f.text(n, tree, "namespace"); err != nil {
		return o, err
	}
	if generate, ok := tree["generateName"].(string); ok && o.name == "" && generate != "" {
		o.name = generate + "*"
	}
	return o, nil
}

// namespace reads a Namespace object.
func (f *finder) namespace(n *yaml.Node) error {
	tree, err := f.metadata(n)
	if err != nil {
		return err
	}
	found := namedNamespace{}
	if found.name, err = f.text(n, tree, "name"); err != nil {
		return err
	}
	if found.Labels, err = f.texts(n, tree, "labels"); err != nil {
		return err
	}
	if found.Annotations, err = f.texts(n, tree, "annotations"); err != nil {
		return err
	}
	f.doc.namespaces = append(f.doc.namespaces, found)
	return nil
}

func (f *finder) fail(n *yaml.Node, err error) error {
	if at, ok := err.(placed); ok {
		n, err = at.node, at.err
	}
	return f.doc.fail(n, f.path, err)
}
