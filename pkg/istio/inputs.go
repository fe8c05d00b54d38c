// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// inputs are what the parts depend on beside the pod and what the engine knows of: the ProxyConfig in
// effect, and what the nodes say about native sidecars.
func (r *run) inputs() inject.Inputs {
	hide := pod.HideAll
	for _, name := range r.d.selected(r.head) {
		hide &= r.d.hides[name]
	}
	// What the author mounts by annotation is looked for among the pod's volumes, and what they wrote into the
	// proxy stands beside what is there.
	for _, key := range []string{userVolumeKey, userMountKey, overridesKey} {
		if _, ok := r.annotation(key); ok {
			hide &^= pod.HideToken | pod.HideClaim
		}
	}
	return inject.Inputs{Hide: hide, Text: strconv.FormatBool(r.oldNode()), Same: r.proxy}
}

// oldNode tells whether the pod's node does not run native sidecars, or any node of the cluster while the
// pod has none.
func (r *run) oldNode() bool {
	old, name := r.Facts.OldNodes, r.head.Spec.NodeName
	if name == "" || !r.Facts.NodeKnown {
		return len(old) > 0
	}
	return slices.ContainsFunc(old, func(n inject.Node) bool { return n.Name == name })
}
