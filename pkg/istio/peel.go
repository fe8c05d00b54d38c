// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"
	"strings"

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
	r.custom = r.say()
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
	gone := make(map[string]bool, len(names)) // the record may be long, whoever wrote it
	for _, name := range names {
		gone[name] = true
	}
	kept := make([]any, 0, len(items))
	for _, item := range items {
		c, _ := item.(map[string]any)
		name := pod.Text(c, "name")
		if !gone[name] {
			kept = append(kept, item)
		} else if own := r.overrides.named(name); own != nil && r.wroteIn(list, own) == list {
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
	spec := pod.Object(tree, "spec")
	for _, list := range pod.ContainerLists {
		items := pod.Items(spec, list)
		if more := r.wishedFor(list, items); len(more) > 0 {
			spec = pod.With(spec, list, append(slices.Clip(items), more...))
			tree = pod.With(tree, "spec", spec)
		}
	}
	return tree
}

// wishedFor are the containers that the author wrote into a list and that are not there.
func (r *run) wishedFor(list string, items []any) (more []any) {
	there := make(map[string]bool, len(items))
	for _, item := range items {
		c, _ := item.(map[string]any)
		there[pod.Text(c, "name")] = true
	}
	for i, wishes := range [][]any{r.overrides.Containers, r.overrides.InitContainers} {
		for _, w := range wishes {
			c, _ := w.(map[string]any)
			if name := pod.Text(c, "name"); !there[name] && r.wroteIn(pod.ContainerLists[i], c) == list {
				there[name], more = true, append(more, w)
			}
		}
	}
	return more
}

// wroteIn is the list in which the author wrote a container that the overrides have in another. They name
// the list of the injection: a proxy that became a native sidecar was an ordinary container, or it would
// say that it restarts, and one that says so was none.
func (r *run) wroteIn(list string, c map[string]any) string {
	if c["name"] != proxyName || !r.status.lists(list, proxyName) {
		return list
	}
	if c["restartPolicy"] == nil {
		return "containers"
	}
	return "initContainers"
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

// in finds a container in one list; nil where it is not there.
func (c *containers) in(list, name string) map[string]any {
	switch {
	case c == nil:
		return nil
	case list == "containers":
		return pod.Named(c.Containers, name)
	}
	return pod.Named(c.InitContainers, name)
}

// parseOverrides reads the annotation in which the first injection kept the author's own containers. Anybody
// may have written it: it is read as the API reads containers, without directives of a merge.
func parseOverrides(text string) (*containers, error) {
	value, err := pod.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it holds no JSON: %w", err)
	}
	tree, ok := value.(map[string]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("want an object with containers and initContainers, got %s", pod.Describe(value))
	}
	var out containers
	for i, into := range []*[]any{&out.Containers, &out.InitContainers} {
		if *into, err = parseList(pod.ContainerLists[i], tree[pod.ContainerLists[i]]); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func parseList(list string, value any) ([]any, error) {
	items, ok := value.([]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("%s: want a list, got %s", list, pod.Describe(value))
	}
	t := pod.Schema().At("spec", list, "*")
	var out []any
	for _, item := range items {
		c, ok := sparse(nil, item).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: want objects, got %s", list, pod.Describe(item))
		}
		if faults := t.Check(inSchema(t, c, nil)); len(faults) > 0 {
			return nil, fmt.Errorf("%s[%s].%w", list, shown(pod.Text(c, "name")), faults[0])
		}
		out = append(out, c)
	}
	return out, nil
}

// wish is what the author says about a container that templates bring to a list: by the overrides, else
// by a container in the pod that no earlier injection brought. It is nil where the author says nothing.
// The overrides count for the list that they name, and for the other one once the container has moved
// there from the list that the record names.
func (r *run) wish(list, name string) map[string]any {
	if c := r.overrides.in(list, name); c != nil {
		return c
	}
	if !r.status.names(name) {
		return ofPod(r.base, name)
	}
	for _, other := range pod.ContainerLists {
		if c := r.overrides.in(other, name); c != nil && r.status.lists(other, name) {
			return c
		}
	}
	return nil
}

// say is the author's own say on the proxy.
func (r *run) say() map[string]any {
	if r.status.names(proxyName) {
		return r.overrides.named(proxyName)
	}
	return ofPod(r.base, proxyName)
}

// ofPod finds a container of a pod, those of containers first.
func ofPod(tree map[string]any, name string) map[string]any {
	if c := container(tree, name); c != nil {
		return c
	}
	return initContainer(tree, name)
}

// wishes is a container without what is no wish: null and other values that the API takes for nothing,
// the image that stands for the template's own, and the empty resources that the API's types write out.
func wishes(c map[string]any) map[string]any {
	c, _ = sparse(pod.Schema().At("spec", "containers", "*"), c).(map[string]any)
	if c["image"] == "auto" {
		c = pod.With(c, "image", nil)
	}
	if resources, ok := c["resources"].(map[string]any); ok && len(resources) == 0 {
		c = pod.With(c, "resources", nil)
	}
	return c
}

// sparse is a value without the members that say nothing, and without directives of a merge, which no
// author has. They would take away what templates bring.
func sparse(t *pod.Type, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if item != nil && !strings.HasPrefix(key, "$") && (t == nil || !t.Omitted[key] || !pod.Zero(item)) {
				out[key] = sparse(t.Field(key), item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = sparse(t.At("*"), item)
		}
		return out
	}
	return value
}
