// SPDX-License-Identifier: Apache-2.0

// Package finish is what a template cannot say: the order of the containers, the checks that need
// the whole pod, and the status record. The steps are a fixed list, one file each.
package finish

import (
	"maps"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// State is a pod on its way through the steps.
type State struct {
	Before  map[string]any  // the author's pod; never changed
	After   map[string]any  // the pod as far as it is; a step replaces what it changes
	Brought map[string]bool // the containers that the templates brought, by name
	Order   []Constraint
	Record  Record
	Undo    func(before, after map[string]any) any // the status record's way back

	Layers          map[string]any    // all that the templates brought, as one tree; never changed
	NamespaceLabels map[string]string // of the pod's namespace

	Warnings []reason.Warning
}

// Step is one step, with the name that a trace shows.
type Step struct {
	Name string
	Run  func(*State) error
}

// Steps are the steps in their order. The status record comes last: it lists all that was added.
func Steps() []Step {
	return []Step{
		{"order", order},
		{"metadata", metadata},
		{"ports", ports},
		{"resources", resources},
		{"pull secrets", pullSecrets},
		{"pod security", security},
		{"status", status},
	}
}

// container is one container with the place where it stands.
type container struct {
	list    string
	name    string
	tree    map[string]any
	brought bool
}

// path is the container's path as people write it.
func (c container) path() string { return "spec." + c.list + "[" + c.name + "]" }

// beside tells whether the container runs beside the others rather than before them.
func (c container) beside() bool {
	return c.list == "containers" || pod.Text(c.tree, "restartPolicy") == "Always"
}

func (s *State) containers() []container {
	var all []container
	spec := pod.Object(s.After, "spec")
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(spec, list) {
			if tree, ok := item.(map[string]any); ok {
				name := pod.Text(tree, "name")
				all = append(all, container{list, name, tree, s.Brought[name]})
			}
		}
	}
	return all
}

// set puts a value at a path of keys below After, on copies of the maps along the path.
func (s *State) set(value any, path ...string) {
	s.After = with(s.After, value, path)
}

func with(tree map[string]any, value any, path []string) map[string]any {
	out := maps.Clone(tree)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		out[path[0]] = value
		return out
	}
	out[path[0]] = with(pod.Object(tree, path[0]), value, path[1:])
	return out
}
