// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// order puts the containers where they start in time. The author's keep their order.
func (r *run) order() error {
	spec := pod.Object(r.After, "spec")
	defer r.settle(spec)
	if r.status != nil {
		before := pod.Object(r.Raw, "spec")
		for _, list := range pod.ContainerLists {
			asBefore(spec, list, pod.Items(before, list))
			listsAsBefore(pod.Named(pod.Items(spec, list), proxyName), pod.Named(pod.Items(before, list), proxyName))
		}
	}
	// The proxy goes last, so that kubectl logs shows the application; first where the application
	// must wait for it, since containers are started one by one.
	if r.holds() {
		toFront(spec, "containers", proxyName)
	} else {
		toBack(spec, "containers", proxyName)
	}
	if pod.Named(pod.Items(spec, "initContainers"), proxyName) != nil {
		// The author's init containers have the network once the proxy is up.
		toFront(spec, "initContainers", initName, validationName, proxyName, coreDumpName)
		return nil
	}
	// Without a proxy nothing answers redirected traffic: the author's init containers run before it is
	// redirected. Where something else has redirected it already, the check of that comes first.
	toFront(spec, "initContainers", validationName)
	toBack(spec, "initContainers", initName, coreDumpName)
	return nil
}

// settle writes quantities of an author's own proxy in their shortest form where it has found another
// place: it is written anew there.
func (r *run) settle(spec map[string]any) {
	before := pod.Object(r.Raw, "spec")
	for _, list := range pod.ContainerLists {
		items := pod.Items(spec, list)
		at := pod.Place(items, proxyName)
		if at < 0 || ofPod(r.Raw, proxyName) == nil || pod.Place(pod.Items(before, list), proxyName) == at {
			continue
		}
		c := items[at].(map[string]any)
		if resources := pod.Object(c, "resources"); resources != nil {
			c["resources"] = pod.Canonical(pod.Schema().At("spec", list, "*", "resources"), resources)
		}
	}
}

// holds tells whether the application waits for the proxy. What the pod itself says beats the mesh and
// the values, both ways.
func (r *run) holds() bool {
	if r.d.config.Mesh.HoldApplication(r.head.Metadata.Annotations) {
		return true
	}
	return r.d.settings.hold && !r.goesAhead()
}

// goesAhead tells that the pod says by itself not to wait.
func (r *run) goesAhead() bool {
	text, ok := r.annotation(proxyConfigKey)
	if !ok {
		return false
	}
	var own struct {
		Hold *bool `json:"holdApplicationUntilProxyStarts"`
	}
	return yaml.Unmarshal([]byte(text), &own) == nil && own.Hold != nil && !*own.Hold
}

// asBefore gives the containers that an earlier injection has put into order that order again. Layers put
// what they bring before what the pod has, which once the proxy has found its place is another order.
func asBefore(spec map[string]any, list string, before []any) {
	items := pod.Items(spec, list)
	ranks := make(map[string]int, len(before)) // from 1; a pod may have many containers
	for i, item := range slices.Backward(before) {
		c, _ := item.(map[string]any)
		ranks[pod.Text(c, "name")] = i + 1
	}
	rank := func(i int) int {
		c, _ := items[i].(map[string]any)
		return ranks[pod.Text(c, "name")] - 1
	}
	var places []int // of those that were there
	for i := range items {
		if rank(i) >= 0 {
			places = append(places, i)
		}
	}
	sorted := slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	if slices.Equal(places, sorted) {
		return
	}
	out := slices.Clone(items)
	for i, at := range places {
		out[at] = items[sorted[i]]
	}
	spec[list] = out
}

// listsAsBefore leaves the variables of the proxy that hold a JSON list, as of the pod's ports, as they are
// where a later call would give the items in another order: it no longer sees where the author's own proxy
// stood.
func listsAsBefore(proxy, before map[string]any) {
	env := pod.Items(proxy, "env")
	for i, item := range env {
		v, _ := item.(map[string]any)
		was := pod.Text(pod.Named(pod.Items(before, "env"), pod.Text(v, "name")), "value")
		if value := pod.Text(v, "value"); value != was && sameItems(value, was) {
			env = slices.Clone(env)
			env[i] = pod.With(v, "value", was)
			proxy["env"] = env
		}
	}
}

// sameItems tells whether two texts are JSON lists of the same items.
func sameItems(a, b string) bool {
	if !strings.HasPrefix(a, "[") || !strings.HasPrefix(b, "[") {
		return false
	}
	items := func(text string) []string {
		value, _ := pod.Decode([]byte(text))
		list, _ := value.([]any)
		var out []string
		for _, item := range list {
			out = append(out, string(pod.Encode(item)))
		}
		slices.Sort(out)
		return out
	}
	one := items(a)
	return one != nil && slices.Equal(one, items(b))
}

// toFront moves the named containers, in this order, to the front of their list.
func toFront(spec map[string]any, list string, names ...string) {
	if picked, rest := pick(pod.Items(spec, list), names); len(picked) > 0 {
		spec[list] = append(picked, rest...)
	}
}

// toBack moves the named containers, in this order, to the end of their list.
func toBack(spec map[string]any, list string, names ...string) {
	if picked, rest := pick(pod.Items(spec, list), names); len(picked) > 0 {
		spec[list] = append(rest, picked...)
	}
}

// pick takes the named items out of a list.
func pick(items []any, names []string) (picked, rest []any) {
	rest = slices.Clone(items)
	for _, name := range names {
		if at := pod.Place(rest, name); at >= 0 {
			picked = append(picked, rest[at])
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return picked, rest
}
