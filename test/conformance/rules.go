// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// rule is a known difference: where we are right and not alike. It looks at what goes into a case,
// never at its name.
type rule struct {
	id     string
	reason string

	// applies tells, by the input alone, that the original goes wrong on it, so that we must differ.
	applies func(*runner, *input) bool

	// holds checks what must hold instead, and strikes from both outcomes what it has judged: the rest is
	// compared as ever.
	holds func(*runner, *pair) error
}

// The names that rules know.
const (
	proxy        = "istio-proxy"
	statusKey    = "sidecar.istio.io/status"
	overridesKey = "proxy.istio.io/overrides"
)

// annotations are the pod's, as the input has them.
func (in *input) annotations() map[string]any {
	return pod.Object(pod.Object(in.pod, "metadata"), "annotations")
}

// selected are the templates that the pod gets, in order.
func (in *input) selected() []string {
	names := in.file.Injection.DefaultTemplates
	if len(names) == 0 {
		names = []string{"sidecar"}
	}
	if said, ok := in.annotations()["inject.istio.io/templates"].(string); ok {
		names = strings.Split(said, ",")
	}
	var out []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if more, ok := in.file.Injection.Aliases[name]; ok {
			out = append(out, more...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// native is the decision on native sidecars for the pod.
func (in *input) native() bool {
	switch in.annotations()["sidecar.istio.io/nativeSidecar"] {
	case "true":
		return true
	case "false":
		return false
	}
	s := in.setup()
	f, err := in.facts()
	return s.native == "on" || s.native == "auto" && err == nil && len(f.OldNodes) == 0
}

// alone is what one template brings to a pod that has nothing of the sort: no proxy, no volumes, no
// record of an injection. It is nil where the template makes no pod.
func (r *runner) alone(in *input, template string) map[string]any {
	e, err := r.engine(in.setup())
	if err != nil {
		return nil
	}
	f, err := in.facts()
	if err != nil {
		return nil
	}
	if in.review == nil { // a pod of a manifest
		f.Namespace = pod.Text(pod.Object(in.pod, "metadata"), "namespace")
	}
	meta, spec := pod.Object(in.pod, "metadata"), pod.Object(in.pod, "spec")
	notes := maps.Clone(in.annotations())
	if notes == nil {
		notes = map[string]any{}
	}
	for _, key := range []string{statusKey, overridesKey, userMountKey} {
		delete(notes, key)
	}
	notes["inject.istio.io/templates"] = template
	spec = pod.With(spec, "volumes", nil)
	for _, list := range pod.ContainerLists {
		spec = pod.With(spec, list, slices.DeleteFunc(slices.Clone(pod.Items(spec, list)), func(item any) bool { return name(item) == proxy }))
	}
	if len(pod.Items(spec, "containers")) == 0 {
		spec = pod.With(spec, "containers", []any{map[string]any{"name": "app", "image": "registry.example/app:1"}})
	}
	bare := pod.With(pod.With(in.pod, "spec", spec), "metadata", pod.With(meta, "annotations", notes))
	one, err := in.withObject([]byte(text(bare)))
	if err != nil {
		return nil
	}
	got, _, _ := once(e, one, f)
	tree, _ := got.tree.(map[string]any)
	return tree
}

func name(item any) string {
	m, _ := item.(map[string]any)
	return pod.Text(m, "name")
}

// spec is the spec in a normal form.
func spec(o outcome) map[string]any {
	m, _ := o.tree.(map[string]any)
	return pod.Object(m, "spec")
}

// strike removes the items of that name from a list of a spec, and gives the first.
func strike(spec map[string]any, list, called string) map[string]any {
	items := pod.Items(spec, list)
	found := pod.Named(items, called)
	if found == nil {
		return nil
	}
	items = slices.DeleteFunc(slices.Clone(items), func(item any) bool { return name(item) == called })
	if spec[list] = items; len(items) == 0 {
		delete(spec, list)
	}
	return found
}

// refusedInstead is what must hold where the original injects and we refuse: the refusal names what is
// wrong. There is nothing left to compare then.
func (p *pair) refusedInstead(named ...string) error {
	if p.got.kind != failed {
		return fmt.Errorf("want a refusal, got %s", p.got.kind)
	}
	for _, n := range named {
		if !tells(p.got.text, n) {
			return fmt.Errorf("the refusal does not name %q: %s", n, p.got.text)
		}
	}
	p.want = p.got
	return nil
}
