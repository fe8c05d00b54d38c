// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// customise lays the author's wishes over the containers that templates brought, and writes them down
// for the next call, under the list where the container stands: all of them in the first one, and later
// those that came or moved since. From here on the finishing steps change single places.
func (r *run) customise() error {
	var kept containers
	if r.status != nil && r.overrides != nil {
		kept = *r.overrides
	}
	said := false
	for _, list := range pod.ContainerLists {
		l := newLaying(r, list)
		for _, item := range pod.Items(pod.Object(r.Layers, "spec"), list) {
			brought, _ := item.(map[string]any)
			name := pod.Text(brought, "name")
			wish := r.wish(list, name)
			if wish == nil {
				continue
			}
			wish = wishes(wish)
			if r.status == nil || r.overrides.in(list, name) == nil {
				kept.put(list, name, wish)
				said = true
			}
			if err := l.lay(name, wish); err != nil {
				return &reason.Refusal{Reason: reason.PodUnreadable, Path: "spec." + list + "[" + name + "]", Detail: err.Error()}
			}
		}
		l.close()
	}
	r.own()
	if said {
		r.annotations()[overridesKey] = kept.text()
	}
	return nil
}

// put notes a wish under a list, and there alone.
func (c *containers) put(list, name string, wish map[string]any) {
	other := func(item any) bool {
		m, _ := item.(map[string]any)
		return m["name"] == name
	}
	c.Containers = slices.DeleteFunc(slices.Clone(c.Containers), other)
	c.InitContainers = slices.DeleteFunc(slices.Clone(c.InitContainers), other)
	if list == "containers" {
		c.Containers = append(c.Containers, wish)
	} else {
		c.InitContainers = append(c.InitContainers, wish)
	}
}

// laying lays wishes over the containers of a list, each at its place.
type laying struct {
	run    *run
	list   string
	items  []any // its own once one has changed
	places map[string]int
}

func newLaying(r *run, list string) *laying { return &laying{run: r, list: list} }

func (l *laying) lay(name string, wish map[string]any) error {
	if l.places == nil {
		l.items = slices.Clone(pod.Items(pod.Object(l.run.After, "spec"), l.list))
		l.places = make(map[string]int, len(l.items))
		for i, item := range slices.Backward(l.items) {
			c, _ := item.(map[string]any)
			l.places[pod.Text(c, "name")] = i
		}
	}
	at, ok := l.places[name]
	if !ok {
		return nil // a later template took it out again
	}
	was := l.items[at]
	if name == proxyName {
		// It may have changed its list: what came with it is the author's, less what shift takes off.
		was = ofPod(l.run.Raw, name)
		if l.list == "containers" {
			wish = pod.With(wish, "restartPolicy", nil)
		}
		if l.run.status.names(name) {
			wish = untold(wish)
		}
	}
	t := pod.Schema().At("spec", l.list, "*")
	item, err := overlay.Strategic(t, l.items[at], inSchema(t, wish, was))
	if err != nil {
		return err
	}
	l.items[at] = item
	return nil
}

// untold is a wish for the proxy of an earlier injection without what its agent was told then: that is of
// the pod's other containers, and would not be told again.
func untold(wish map[string]any) map[string]any {
	env := pod.Items(wish, "env")
	told := func(item any) bool {
		v, _ := item.(map[string]any)
		return v["name"] == probersEnv || v["name"] == scrapeEnv
	}
	if !slices.ContainsFunc(env, told) {
		return wish
	}
	return pod.With(wish, "env", slices.DeleteFunc(slices.Clone(env), told))
}

func (l *laying) close() {
	if l.places != nil {
		after := l.run.After
		l.run.After = pod.With(after, "spec", pod.With(pod.Object(after, "spec"), l.list, l.items))
	}
}

// inSchema is a wish without the fields that the API's types do not have, unless the container has them
// already: from an annotation, anybody could put one into the pod, and the API server drops it.
func inSchema(t *pod.Type, wish, was any) any {
	switch v := wish.(type) {
	case map[string]any:
		had, _ := was.(map[string]any)
		out := make(map[string]any, len(v))
		for key, item := range v {
			field := t.Field(key)
			if field == nil && t != nil && t.Kind == pod.Struct && !pod.Equal(item, had[key]) {
				continue
			}
			out[key] = inSchema(field, item, had[key])
		}
		return out
	case []any:
		if t == nil || t.Kind != pod.List {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = inSchema(t.Elem, item, nil)
		}
		return out
	}
	return wish
}
