// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// lay renders the templates and lays them over the pod. Containers that the record claims and that no
// template brings are the author's, or another's: the templates are then rendered again with them, as
// they will be in every later call.
func (r *run) lay() error {
	before := r.After
	if err := r.renderAll(); err != nil || r.status == nil || !r.disown() {
		return err
	}
	r.author = r.wished(r.stripped(r.status))
	r.After, r.Templates = before, nil
	return r.renderAll()
}

// disown takes off the record what the templates do not bring, and tells whether there was such.
func (r *run) disown() bool {
	spec := pod.Object(r.Layers, "spec")
	foreign := func(name string) bool {
		return pod.Place(pod.Items(spec, "containers"), name) < 0 && pod.Place(pod.Items(spec, "initContainers"), name) < 0
	}
	s := *r.status
	s.Containers = slices.DeleteFunc(slices.Clone(s.Containers), foreign)
	s.InitContainers = slices.DeleteFunc(slices.Clone(s.InitContainers), foreign)
	if len(s.Containers) == len(r.status.Containers) && len(s.InitContainers) == len(r.status.InitContainers) {
		return false
	}
	r.status = &s
	return true
}

// renderAll renders the templates in their order, all on the author's pod, and lays each over the pod.
func (r *run) renderAll() error {
	names, err := r.chosen()
	if err != nil {
		return err
	}
	data, err := r.data()
	if err != nil {
		return err
	}
	r.Layers = map[string]any{}
	for _, name := range names {
		text, _, err := r.d.templates[name].Text(data)
		if err != nil {
			return err
		}
		l := r.d.layers.read(name, text)
		if l.err != nil {
			return l.err
		}
		for _, path := range l.unknown {
			r.Warn(reason.TemplateOutputInvalid, path, fmt.Sprintf("template %q sets a field that is unknown here; it was left out", name))
		}
		if err := r.over(l); err != nil {
			return &reason.Refusal{Reason: reason.TemplateOutputInvalid, Detail: fmt.Sprintf("template %q: %v", name, err)}
		}
		r.Templates = append(r.Templates, inject.Applied{Name: name, Native: data.NativeSidecars})
	}
	r.Decision.Templates = names
	return nil
}

// over lays one layer over the pod and over what the layers before it brought. A proxy stands in one
// list only: where two layers disagree, one that brings it as an init container with an image decides,
// and else the first; the pod's own entry follows.
func (r *run) over(l *layer) error {
	tree := l.tree
	if had, has := listOf(r.Layers), listOf(tree); had != "" && has != "" && had != has {
		if has == "initContainers" && initContainer(tree, proxyName)["image"] != nil {
			r.Layers = shift(r.Layers, had, has)
		} else {
			tree = shift(tree, has, had)
		}
	}
	layered, err := overlay.Strategic(pod.Schema(), r.Layers, tree)
	if err != nil {
		return err
	}
	r.Layers = layered.(map[string]any)
	if had, has := listOf(r.After), listOf(r.Layers); had != "" && has != "" && had != has {
		r.After = shift(r.After, had, has)
		if r.status.lists(had, proxyName) {
			r.After = renewed(r.After, has)
		}
	}
	after, err := overlay.Strategic(pod.Schema(), r.After, tree)
	if err != nil {
		return err
	}
	r.After = after.(map[string]any)
	return nil
}

// renewed leaves of a proxy that an earlier injection made for the other list what it has collected: the
// application's probes and metrics, and what others have mounted. All else the templates bring again.
func renewed(tree map[string]any, list string) map[string]any {
	spec := pod.Object(tree, "spec")
	items := slices.Clone(pod.Items(spec, list))
	at := pod.Place(items, proxyName)
	was := items[at].(map[string]any)
	kept := map[string]any{"name": proxyName}
	for _, key := range []string{"env", "volumeMounts"} {
		if was[key] != nil {
			kept[key] = was[key]
		}
	}
	items[at] = kept
	return pod.With(tree, "spec", pod.With(spec, list, items))
}

// listOf is the list in which a tree has the proxy; empty for none.
func listOf(tree map[string]any) string {
	for _, list := range pod.ContainerLists {
		if pod.Place(pod.Items(pod.Object(tree, "spec"), list), proxyName) >= 0 {
			return list
		}
	}
	return ""
}

func container(tree map[string]any, name string) map[string]any {
	return pod.Named(pod.Items(pod.Object(tree, "spec"), "containers"), name)
}

func initContainer(tree map[string]any, name string) map[string]any {
	return pod.Named(pod.Items(pod.Object(tree, "spec"), "initContainers"), name)
}

// shift moves the proxy to the end of the other list. An ordinary container has no restart policy.
func shift(tree map[string]any, from, to string) map[string]any {
	spec := pod.Object(tree, "spec")
	items := pod.Items(spec, from)
	at := pod.Place(items, proxyName)
	c := items[at].(map[string]any)
	if to == "containers" && c["restartPolicy"] != nil {
		c = pod.With(c, "restartPolicy", nil)
	}
	left := slices.Delete(slices.Clone(items), at, at+1)
	spec = pod.With(spec, to, append(slices.Clip(slices.Clone(pod.Items(spec, to))), c))
	if len(left) == 0 {
		return pod.With(tree, "spec", pod.With(spec, from, nil))
	}
	return pod.With(tree, "spec", pod.With(spec, from, left))
}
