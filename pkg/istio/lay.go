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
	if err := r.renderAll(); err != nil {
		return err
	}
	if r.status != nil && r.disown() {
		r.author = r.wished(r.stripped(r.status))
		r.After, r.Templates, r.native = before, nil, r.nativeWanted()
		if err := r.renderAll(); err != nil {
			return err
		}
	}
	return r.empty()
}

// empty refuses a pod of which no container is left: the API server would not name the cause.
func (r *run) empty() error {
	if len(pod.Items(pod.Object(r.After, "spec"), "containers")) > 0 {
		return nil
	}
	refusal := &reason.Refusal{
		Reason: reason.TemplateOutputInvalid, Path: "spec.containers", Detail: "the templates leave the pod without a container",
		Hint: "give the pod a container beside the proxy, which is to be a native sidecar",
	}
	if text, ok := r.annotation(nativeKey); ok {
		refusal.Reason, refusal.Path = reason.ParameterInvalid, PodAnnotation.path(nativeKey)
		refusal.Detail = fmt.Sprintf("invalid value '%s' for annotation '%s': spec.containers would be without a container, since the pod has none but the proxy", shown(text), nativeKey)
		refusal.Hint = "remove the annotation, or give the pod a container beside the proxy"
	}
	return refusal
}

// disown takes off the record what the templates do not bring, and tells whether there was such.
func (r *run) disown() bool {
	brought := map[string]bool{}
	for _, list := range pod.ContainerLists {
		for _, name := range names(pod.Object(r.Layers, "spec"), list) {
			brought[name] = true
		}
	}
	foreign := func(name string) bool { return !brought[name] }
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
	// The list that the API requires is there and null, as in its own types: $setElementOrder cannot order
	// it before a template has brought a container.
	r.Layers = map[string]any{"spec": map[string]any{"containers": nil}}
	r.written, r.shifted, r.renewed = r.Layers, false, false
	for _, name := range names {
		rendered, _, err := r.d.templates[name].Run(data)
		if err != nil {
			return err
		}
		if err := r.verbatim(name, rendered.Text); err != nil {
			return err
		}
		r.Mark("execute")
		l := r.d.layers.read(name, rendered)
		r.Mark("parse")
		r.Alone = r.Alone || l.directs // one may name any item of the pod's, and leaves no trace where it finds none
		if l.err != nil {
			return l.err
		}
		for _, path := range l.unknown {
			r.Warn(reason.TemplateOutputInvalid, path, fmt.Sprintf("template %q sets a field that is unknown here; it was left out", name))
		}
		if err := r.over(l); err != nil {
			return &reason.Refusal{Reason: reason.TemplateOutputInvalid, Detail: fmt.Sprintf("template %q: %v", name, err)}
		}
		r.Mark("merge")
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
		r.shifted = true
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
	if err := r.write(l.tree); err != nil {
		return err
	}
	if had, has := listOf(r.After), listOf(r.Layers); had != "" && has != "" && had != has {
		r.After = shift(r.After, had, has)
		if r.status.lists(had, proxyName) && !r.renewed {
			r.After, r.renewed = renewed(r.After, has), true
		}
	}
	after, err := overlay.Strategic(pod.Schema(), r.After, tree)
	if err != nil {
		return err
	}
	r.After = after.(map[string]any)
	return nil
}

// write lays a layer over those before it as its template wrote it: the record tells of that, and tools
// read the record. It differs from what the pod gets only once the proxy has changed its list.
func (r *run) write(tree map[string]any) error {
	if !r.shifted {
		r.written = r.Layers
		return nil
	}
	written, err := overlay.Strategic(pod.Schema(), r.written, tree)
	if err != nil {
		return err
	}
	r.written = written.(map[string]any)
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
