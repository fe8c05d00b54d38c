// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// native tells whether the pod's sidecars can be native ones: init containers that keep running.
// With auto they can unless the pod may land on a node that does not know them.
func (e *Engine) native(head *pod.Head, old []Node) bool {
	switch e.nativeSidecars {
	case "on":
		return true
	case "off":
		return false
	}
	return !slices.ContainsFunc(old, func(n Node) bool { return mayRun(head, n) })
}

func mayRun(head *pod.Head, n Node) bool {
	if head.Spec.NodeName != "" {
		return head.Spec.NodeName == n.Name
	}
	for key, value := range head.Spec.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	return true
}

// place moves the sidecars of a layer to where they run: native ones become init containers that
// always restart, ordinary ones stand with the application.
func (l layer) place() map[string]any {
	spec := pod.Object(l.tree, "spec")
	containers, inits := pod.Items(spec, "containers"), pod.Items(spec, "initContainers")
	sidecar := func(c map[string]any) bool {
		return slices.Contains(l.template.config.Sidecars, pod.Text(c, "name"))
	}
	var app, init []any
	for _, item := range inits {
		c := item.(map[string]any)
		if sidecar(c) || pod.Text(c, "restartPolicy") == "Always" {
			if l.native {
				init = append(init, pod.With(c, "restartPolicy", "Always"))
			} else {
				app = append(app, pod.With(c, "restartPolicy", nil))
			}
			continue
		}
		init = append(init, c)
	}
	for _, item := range containers {
		c := item.(map[string]any)
		if l.native && sidecar(c) {
			init = append(init, pod.With(c, "restartPolicy", "Always"))
			continue
		}
		app = append(app, c)
	}
	return withLists(l.tree, app, init)
}

func withLists(tree map[string]any, app, init []any) map[string]any {
	spec := maps.Clone(pod.Object(tree, "spec"))
	if spec == nil {
		return tree
	}
	setList(spec, "containers", app)
	setList(spec, "initContainers", init)
	return pod.With(tree, "spec", spec)
}

func setList(spec map[string]any, key string, items []any) {
	if len(items) == 0 {
		delete(spec, key)
		return
	}
	spec[key] = items
}
