// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/render"
)

// dialect is a compiled configuration.
type dialect struct {
	config    Config
	revision  string // default: "default"; empty for an offline injection
	own       string // the injector's namespace
	cluster   string // whose nodes are known
	templates map[string]*render.Template
	hides     map[string]pod.Hidden // by template: what it does not read of a pod
	mentions  map[string][]string   // by template: the keys that it names
	settings  settings
	rules     rules
	notes     []note // what has no effect in the configuration
	layers    layers
}

// run is one pod on its way through the dialect.
//
// Trees are shared: whoever changes one replaces it. Before the finishing steps, own makes copies of
// what nearly every step changes: After itself, its metadata, labels, annotations (never nil then),
// spec, its two container lists, and each container's own map. Those a step may write to; whatever
// is deeper it replaces.
type run struct {
	*inject.Work
	d    *dialect
	head *pod.Head // of the pod that came in

	native bool              // the decision of the mesh and the pod's nodes, before the pod's own annotation
	env    map[string]string // the proxy's environment from the URL, the values and the network label
	proxy  *meshconfig.ProxyConfig

	written map[string]any // what the templates bring, with the proxy in the lists in which they have it
	shifted bool           // it is not what the pod gets: the proxy has changed its list
	renewed bool           // the proxy of an earlier injection has changed its list

	status    *status        // the record of an earlier injection; nil without one
	overrides *containers    // of the annotation proxy.istio.io/overrides; nil without it
	author    map[string]any // what templates read: the pod without an earlier injection
	base      map[string]any // the pod as it came, less what the platform filled in for the proxy

	// The author's own say on the proxy: what the overrides hold, else a container that no earlier
	// injection brought. nil without one.
	custom map[string]any
}

// status is what the annotation sidecar.istio.io/status holds.
type status struct {
	InitContainers   []string `json:"initContainers"`
	Containers       []string `json:"containers"`
	Volumes          []string `json:"volumes"`
	ImagePullSecrets []string `json:"imagePullSecrets"`
	Revision         string   `json:"revision"`
}

// lists tells whether the record, if there is one, has the container in the list.
func (s *status) lists(list, name string) bool {
	switch {
	case s == nil:
		return false
	case list == "containers":
		return slices.Contains(s.Containers, name)
	}
	return slices.Contains(s.InitContainers, name)
}

// names tells whether the record, if there is one, has the container in any list.
func (s *status) names(name string) bool {
	return s.lists("containers", name) || s.lists("initContainers", name)
}

// containers is what the annotation proxy.istio.io/overrides holds: the author's wishes for
// containers that templates bring.
type containers struct {
	Containers     []any `json:"containers,omitempty"`
	InitContainers []any `json:"initContainers,omitempty"`
}

// annotations are those of the pod as far as it is.
func (r *run) annotations() map[string]any {
	return pod.Object(pod.Object(r.After, "metadata"), "annotations")
}

// annotation is the pod's, as it came in.
func (r *run) annotation(key string) (string, bool) {
	v, ok := r.head.Metadata.Annotations[key]
	return v, ok
}

// container finds a container of the pod as far as it is, those of containers first.
func (r *run) container(name string) map[string]any {
	spec := pod.Object(r.After, "spec")
	for _, key := range pod.ContainerLists {
		if c := pod.Named(pod.Items(spec, key), name); c != nil {
			return c
		}
	}
	return nil
}
