// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// order puts the containers where they start in time. The author's keep their order.
func (r *run) order() error {
	spec := pod.Object(r.After, "spec")
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
