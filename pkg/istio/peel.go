// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// peel finds the author's pod, which templates read: without the containers of an earlier injection,
// and with those of them that the author has wishes for.
func (r *run) peel() error {
	r.author, r.base = r.Raw, r.Raw
	if text, ok := r.annotation(overridesKey); ok {
		o, err := parseOverrides(text)
		if err != nil {
			return &reason.Refusal{
				Reason: reason.ParameterInvalid, Path: "metadata.annotations[" + overridesKey + "]",
				Detail: err.Error(), Hint: "remove the annotation; the injector writes it itself",
			}
		}
		r.overrides = o
	}
	if text, ok := r.annotation(statusKey); ok {
		if s, ok := parseStatus(text); ok {
			r.status = s
			r.author = r.stripped(s)
		}
	}
	r.author = r.wished(r.author)
	r.custom = r.wish(proxyName)
	return nil
}

// stripped is the pod without the containers that the record lists, and without the metrics
// annotations that the injection wrote.
func (r *run) stripped(s *status) map[string]any {
	spec := pod.Object(r.Raw, "spec")
	spec = r.without(spec, "containers", s.Containers)
	spec = r.without(spec, "initContainers", s.InitContainers)
	meta := pod.Object(r.Raw, "metadata")
	annotations := pod.With(pod.Object(meta, "annotations"), statusKey, nil)
	if r.merged(annotations) {
		for key := range annotations {
			if scrapeKey(key) {
				delete(annotations, key)
			}
		}
	}
	return pod.With(pod.With(r.Raw, "spec", spec), "metadata", pod.With(meta, "annotations", annotations))
}

// without drops the containers that templates brought. Those that the author had too stand in their
// place as the author wrote them.
func (r *run) without(spec map[string]any, list string, names []string) map[string]any {
	items := pod.Items(spec, list)
	kept := make([]any, 0, len(items))
	for _, item := range items {
		c, _ := item.(map[string]any)
		name := pod.Text(c, "name")
		if !slices.Contains(names, name) {
			kept = append(kept, item)
		} else if own := r.overrides.named(name); own != nil {
			kept = append(kept, own)
		}
	}
	if len(items) == 0 {
		return spec
	}
	return pod.With(spec, list, kept)
}

// wished is the pod with the containers that the author has wishes for and that it lacks.
func (r *run) wished(tree map[string]any) map[string]any {
	if r.overrides == nil {
		return tree
	}
	for i, wishes := range [][]any{r.overrides.Containers, r.overrides.InitContainers} {
		list := pod.ContainerLists[i]
		spec := pod.Object(tree, "spec")
		items := slices.Clip(pod.Items(spec, list))
		had := len(items)
		for _, w := range wishes {
			if c, _ := w.(map[string]any); pod.Place(items, pod.Text(c, "name")) < 0 {
				items = append(items, w)
			}
		}
		if len(items) > had {
			tree = pod.With(tree, "spec", pod.With(spec, list, items))
		}
	}
	return tree
}

// named finds a container in either list; nil where there is none.
func (c *containers) named(name string) map[string]any {
	if c == nil {
		return nil
	}
	if found := pod.Named(c.Containers, name); found != nil {
		return found
	}
	return pod.Named(c.InitContainers, name)
}

// parseOverrides reads the annotation in which the first injection kept the author's own containers.
func parseOverrides(text string) (*containers, error) {
	value, err := pod.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it holds no JSON: %w", err)
	}
	tree, ok := value.(map[string]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("want an object with containers and initContainers, got %s", pod.Describe(value))
	}
	t := pod.Schema().At("spec")
	for _, list := range pod.ContainerLists {
		if faults := t.Field(list).Check(tree[list]); len(faults) > 0 && len(pod.Items(tree, list)) == 0 {
			return nil, fmt.Errorf("%s: %w", list, faults[0])
		}
		for _, item := range pod.Items(tree, list) {
			if _, ok := item.(map[string]any); !ok {
				return nil, fmt.Errorf("%s: want objects, got %s", list, pod.Describe(item))
			}
		}
	}
	return &containers{Containers: pod.Items(tree, "containers"), InitContainers: pod.Items(tree, "initContainers")}, nil
}

// wish is what the author says about a container that templates bring: by the overrides, else by a
// container in the pod that no earlier injection brought. It is nil where the author says nothing.
func (r *run) wish(name string) map[string]any {
	if c := r.overrides.named(name); c != nil {
		return c
	}
	if r.status != nil && (slices.Contains(r.status.Containers, name) || slices.Contains(r.status.InitContainers, name)) {
		return nil
	}
	if c := container(r.base, name); c != nil {
		return c
	}
	return initContainer(r.base, name)
}

// wishes is a container without what is no wish: the image that stands for the template's own, and the
// empty resources that the API's types write out.
func wishes(c map[string]any) map[string]any {
	if c["image"] == "auto" {
		c = pod.With(c, "image", nil)
	}
	if resources, ok := c["resources"].(map[string]any); ok && len(resources) == 0 {
		c = pod.With(c, "resources", nil)
	}
	return c
}

// customise lays the author's wishes over the containers that templates brought, and writes them down
// for the next call. From here on the finishing steps change single places.
func (r *run) customise() error {
	var kept containers
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(pod.Object(r.Layers, "spec"), list) {
			brought, _ := item.(map[string]any)
			wish := r.wish(pod.Text(brought, "name"))
			if wish == nil {
				continue
			}
			wish = wishes(wish)
			if list == "containers" {
				kept.Containers = append(kept.Containers, wish)
			} else {
				kept.InitContainers = append(kept.InitContainers, wish)
			}
			patch := map[string]any{"spec": map[string]any{list: []any{wish}}}
			after, err := overlay.Strategic(pod.Schema(), r.After, patch)
			if err != nil {
				return &reason.Refusal{Reason: reason.PodUnreadable, Path: "spec." + list + "[" + pod.Text(brought, "name") + "]", Detail: err.Error()}
			}
			r.After = after.(map[string]any)
		}
	}
	r.own()
	if r.status == nil && len(kept.Containers)+len(kept.InitContainers) > 0 {
		r.annotations()[overridesKey] = kept.text()
	}
	return nil
}
