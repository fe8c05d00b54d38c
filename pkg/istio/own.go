// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// own takes the copies that the finishing steps may write to, as run promises. What is deeper than
// that stays shared.
func (r *run) own() {
	r.After = maps.Clone(r.After)
	if r.After == nil {
		r.After = map[string]any{}
	}
	metadata := ownObject(r.After, "metadata")
	ownObject(metadata, "annotations")
	ownObject(metadata, "labels")
	if pod.Object(r.After, "spec") == nil {
		return
	}
	spec := ownObject(r.After, "spec")
	for _, list := range pod.ContainerLists {
		items := pod.Items(spec, list)
		if items == nil {
			continue
		}
		items = slices.Clone(items)
		for i, item := range items {
			if c, ok := item.(map[string]any); ok {
				items[i] = maps.Clone(c)
			}
		}
		spec[list] = items
	}
}

// ownObject replaces a member by a copy of itself, or by an empty object where it is none.
func ownObject(m map[string]any, key string) map[string]any {
	o := maps.Clone(pod.Object(m, key))
	if o == nil {
		o = map[string]any{}
	}
	m[key] = o
	return o
}
