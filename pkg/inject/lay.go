// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// merge lets the upper tree win, with the lower one's list items first.
func merge(t *pod.Type, lower, upper any) any { return overlay.Merge(t, lower, upper) }

// fill adds to a tree only what it lacks.
func fill(t *pod.Type, tree, more any) any { return overlay.Fill(t, tree, more) }

// lay folds the layers into one stack, a later template over an earlier one, and lays it over the
// pod.
func (r *run) lay() error {
	r.brought = map[string]*template{}
	before := r.base
	for _, l := range r.layers {
		r.stack = r.fold(l)
		if !r.facts.Trace {
			continue
		}
		after, err := r.over()
		if err != nil {
			return err
		}
		r.trace("template "+l.template.config.Name, before, after)
		before = after
	}
	var err error
	r.after, err = r.over()
	return err
}

// fold lays one layer over the stack. A container that the stack has in the other list is found
// there: an earlier template may have made it a native sidecar.
func (r *run) fold(l layer) map[string]any {
	tree := l.place()
	spec := r.bring(l.template, pod.Object(tree, "spec"))
	for i, name := range pod.ContainerLists {
		other := pod.ContainerLists[1-i]
		var stay, move []any
		for _, item := range pod.Items(spec, name) {
			c := item.(map[string]any)
			if pod.Named(pod.Items(pod.Object(r.stack, "spec"), other), pod.Text(c, "name")) == nil {
				stay = append(stay, c)
				continue
			}
			if other == "containers" {
				c = pod.With(c, "restartPolicy", nil)
			}
			move = append(move, c)
		}
		if len(move) > 0 {
			spec = pod.With(pod.With(spec, name, stay), other, slices.Concat(pod.Items(spec, other), move))
		}
	}
	if spec != nil {
		tree = pod.With(tree, "spec", spec)
	}
	stack, _ := merge(pod.Schema(), r.stack, tree).(map[string]any)
	return stack
}

// bring notes the containers that a template brings. What earlier templates say of one goes below
// it, for the one that brings a container says where it stands.
func (r *run) bring(t *template, spec map[string]any) map[string]any {
	for _, key := range pod.ContainerLists {
		for i, item := range pod.Items(spec, key) {
			c := item.(map[string]any)
			name := pod.Text(c, "name")
			if pod.Text(c, "image") == "" {
				continue
			}
			was := r.brought[name]
			r.brought[name] = t
			if was != nil {
				continue
			}
			if said := r.take(name); said != nil {
				items := slices.Clone(pod.Items(spec, key))
				items[i] = merge(pod.Schema().At("spec", key, "*"), said, c)
				spec = pod.With(spec, key, items)
			}
		}
	}
	return spec
}

// take takes a container out of the stack; nil where there is none.
func (r *run) take(name string) any {
	spec := pod.Object(r.stack, "spec")
	for _, key := range pod.ContainerLists {
		items := pod.Items(spec, key)
		at := slices.IndexFunc(items, func(item any) bool { return named(item, name) })
		if at < 0 {
			continue
		}
		r.stack = pod.With(r.stack, "spec", pod.With(spec, key, slices.Delete(slices.Clone(items), at, at+1)))
		return items[at]
	}
	return nil
}

// over lays the stack over the author's pod. The author wins in labels, annotations and the
// application's containers, and in the named fields of an injected one; a volume of the same name
// must be the same; in the rest of the spec the templates win.
func (r *run) over() (map[string]any, error) {
	schema := pod.Schema()
	rest := maps.Clone(pod.Object(r.stack, "spec"))
	for _, key := range pod.ContainerLists {
		delete(rest, key)
	}
	if err := r.volumes(rest); err != nil {
		return nil, err
	}
	merged, _ := merge(schema.At("spec"), r.base["spec"], rest).(map[string]any)
	spec := maps.Clone(merged)
	if err := r.containers(spec); err != nil {
		return nil, err
	}
	if len(pod.Items(spec, "containers")) == 0 {
		return nil, misshapen("spec.containers", "a pod needs a container beside the injected ones")
	}
	out := pod.With(r.base, "spec", spec)
	if metadata := pod.Object(r.stack, "metadata"); len(metadata) > 0 {
		out["metadata"] = fill(schema.At("metadata"), r.base["metadata"], metadata)
	}
	return out, nil
}

// volumes refuses a volume of the author's that has an injected one's name and other content, and
// leaves out of the stack's spec those that are there already.
func (r *run) volumes(spec map[string]any) error {
	own := pod.Items(pod.Object(r.base, "spec"), "volumes")
	var add []any
	for _, item := range pod.Items(spec, "volumes") {
		v := item.(map[string]any)
		name := pod.Text(v, "name")
		there := pod.Named(own, name)
		if there == nil {
			add = append(add, v)
			continue
		}
		if !sameVolume(there, v) {
			return &reason.Refusal{
				Reason: reason.VolumeConflict,
				Path:   "spec.volumes[" + name + "]",
				Detail: "the pod's volume is " + sources(there) + ", the template's of the same name is " + sources(v),
				Hint:   "rename the pod's volume; volumes of two owners are never merged",
			}
		}
	}
	setList(spec, "volumes", add)
	return nil
}

// containers puts the stack's containers into the spec: native sidecars, and the init containers
// that come before one in the templates, stand before the author's; all others after.
func (r *run) containers(spec map[string]any) error {
	for _, key := range pod.ContainerLists {
		stack := pod.Items(pod.Object(r.stack, "spec"), key)
		if len(stack) == 0 {
			continue
		}
		own := slices.Clone(pod.Items(pod.Object(r.base, "spec"), key))
		added, err := r.meet(stack, own, key)
		if err != nil {
			return err
		}
		first := 0 // how many of the added ones come before the author's
		for i, c := range added {
			if key == "initContainers" && pod.Text(c.(map[string]any), "restartPolicy") == "Always" {
				first = i + 1
			}
		}
		setList(spec, key, slices.Concat(added[:first], own, added[first:]))
	}
	r.moveAuthors(spec)
	return nil
}

// meet lays the stack's containers over the author's of the same name, in place, and gives the
// others.
func (r *run) meet(stack, own []any, key string) (added []any, err error) {
	for _, item := range stack {
		c := item.(map[string]any)
		at := slices.IndexFunc(own, func(o any) bool { return named(o, pod.Text(c, "name")) })
		laid, err := r.container(c, key, own, at)
		switch {
		case err != nil:
			return nil, err
		case laid == nil:
		case at >= 0:
			own[at] = laid
		default:
			added = append(added, laid)
		}
	}
	return added, nil
}

// container is a container of the stack as it goes into the pod; nil where there is nothing to do.
func (r *run) container(c map[string]any, key string, own []any, at int) (map[string]any, error) {
	schema := pod.Schema().At("spec", key, "*")
	t, brought := r.brought[pod.Text(c, "name")]
	if !brought && at < 0 {
		return nil, nil // a template adds to a container that this pod does not have
	}
	if !brought {
		laid, _ := fill(schema, own[at], c).(map[string]any)
		return laid, nil
	}
	fragment, place := r.fragment(pod.Text(c, "name"))
	if fragment == nil {
		return r.keep(c), nil
	}
	wish := wishes(fragment, c)
	if err := t.allows(wish, r.open(fragment, c), place); err != nil {
		return nil, err
	}
	laid, _ := fill(schema, wish, c).(map[string]any)
	return r.keep(laid), nil
}

// fragment is what the author wrote for an injected container, in whichever list, and its path.
func (r *run) fragment(name string) (map[string]any, string) {
	for _, key := range pod.ContainerLists {
		if c := pod.Named(pod.Items(pod.Object(r.base, "spec"), key), name); c != nil {
			return c, "spec." + key + "[" + name + "]"
		}
	}
	return nil, ""
}

// moveAuthors drops the author's fragment from the list in which its container does not run.
func (r *run) moveAuthors(spec map[string]any) {
	for i, key := range pod.ContainerLists {
		stack := pod.Items(pod.Object(r.stack, "spec"), pod.ContainerLists[1-i])
		stray := func(item any) bool {
			c, _ := item.(map[string]any)
			name := pod.Text(c, "name")
			return r.brought[name] != nil && pod.Named(stack, name) != nil
		}
		if items := pod.Items(spec, key); slices.ContainsFunc(items, stray) {
			setList(spec, key, slices.DeleteFunc(slices.Clone(items), stray))
		}
	}
}

func named(item any, name string) bool {
	m, ok := item.(map[string]any)
	return ok && m["name"] == name
}
