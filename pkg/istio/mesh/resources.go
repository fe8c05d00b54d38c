// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/api/networking/v1beta1"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// Resource is a ProxyConfig resource of the cluster.
type Resource struct {
	Name, Namespace string
	Created         time.Time // the oldest of several that match counts
	Spec            *v1beta1.ProxyConfig
}

// ParseResource reads a ProxyConfig object as the API server writes it. Unknown fields are ignored.
// The error is config.Errors; the resource then has no more than its name, where that could be read.
func ParseResource(json []byte) (Resource, error) {
	s := source{text: json}
	if len(json) > maxText {
		return Resource{}, config.Errors{*s.whole(fmt.Sprintf("the object has %d bytes, and at most %d are read", len(json), maxText))}
	}
	tree, err := pod.Decode(json)
	object, ok := tree.(map[string]any)
	if err != nil || !ok || deeper(tree, maxDepth) {
		return Resource{}, config.Errors{*s.whole("not the JSON of an object")}
	}
	if !isProxyConfig(object) {
		detail := fmt.Sprintf("want a ProxyConfig of %s, got the kind %s of %s", group, pod.Describe(object["kind"]), pod.Describe(object["apiVersion"]))
		return Resource{}, config.Errors{*s.whole(detail)}
	}
	meta := pod.Object(object, "metadata")
	r := Resource{Name: pod.Text(meta, "name"), Namespace: pod.Text(meta, "namespace"), Spec: &v1beta1.ProxyConfig{}}
	d := decoder{}
	if at := pod.Text(meta, "creationTimestamp"); at != "" {
		if r.Created, err = time.Parse(time.RFC3339, at); err != nil {
			d.path = []string{"metadata", "creationTimestamp"}
			d.wrong("a time", at)
		}
	}
	d.path = []string{"spec"}
	d.message(r.Spec.ProtoReflect(), object["spec"])
	if len(d.faults) > 0 {
		return Resource{Name: r.Name, Namespace: r.Namespace}, s.place(d.faults)
	}
	return r, nil
}

// group is the API group of the resource, in whatever version.
const group = "networking.istio.io"

// isProxyConfig tells whether an object is none of another kind. One of a list does not say its own.
func isProxyConfig(object map[string]any) bool {
	kind, version := pod.Text(object, "kind"), pod.Text(object, "apiVersion")
	return (kind == "" || kind == "ProxyConfig") && (version == "" || strings.HasPrefix(version, group+"/"))
}

// Resources are the ProxyConfig resources of a cluster, ready to be asked. They do not change.
type Resources struct {
	byNamespace map[string]*shelf
}

// shelf is what a namespace holds, the oldest first.
type shelf struct {
	plain    *entry // the one without selector that counts
	selected []*entry
}

// entry is a resource as it counts. It is known by its address.
type entry struct {
	labels  map[string]string
	overlay *meshconfig.ProxyConfig
}

// NewResources indexes resources, and keeps none of the list itself.
func NewResources(list []Resource) *Resources {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Resource) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	r := &Resources{byNamespace: map[string]*shelf{}}
	for _, one := range list {
		s := r.byNamespace[one.Namespace]
		if s == nil {
			s = &shelf{}
			r.byNamespace[one.Namespace] = s
		}
		s.add(one.Spec)
	}
	return r
}

// add takes in a resource. One whose selector is there and empty matches nothing.
func (s *shelf) add(spec *v1beta1.ProxyConfig) {
	e := &entry{labels: spec.GetSelector().GetMatchLabels(), overlay: &meshconfig.ProxyConfig{
		Concurrency: spec.GetConcurrency(), Image: spec.GetImage(), ProxyMetadata: spec.GetEnvironmentVariables(),
	}}
	switch {
	case len(e.labels) > 0:
		s.selected = append(s.selected, e)
	case spec.GetSelector() == nil && s.plain == nil:
		s.plain = e
	}
}

// plain is the resource without selector of a namespace.
func (r *Resources) plain(namespace string) *entry {
	if r == nil || r.byNamespace[namespace] == nil {
		return nil
	}
	return r.byNamespace[namespace].plain
}

// matching is the resource of a namespace whose selector a pod's labels match.
func (r *Resources) matching(namespace string, labels map[string]string) *entry {
	if r == nil || r.byNamespace[namespace] == nil {
		return nil
	}
	for _, e := range r.byNamespace[namespace].selected {
		if subset(e.labels, labels) {
			return e
		}
	}
	return nil
}

func subset(small, large map[string]string) bool {
	for key, value := range small {
		if have, ok := large[key]; !ok || have != value {
			return false
		}
	}
	return true
}
