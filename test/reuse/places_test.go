// SPDX-License-Identifier: Apache-2.0

package reuse

import (
	"maps"
	"regexp"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// A place is a value in a tree that can be replaced.
type place struct {
	is  any
	set func(any)
}

func (p place) text() string {
	text, _ := p.is.(string)
	return text
}

func member(m map[string]any, key string) place {
	return place{m[key], func(value any) { m[key] = value }}
}

// replicated are the places in which replicas of one workload may differ, but for the names of tokens.
func replicated(tree map[string]any) (out []place) {
	meta, spec := pod.Object(tree, "metadata"), pod.Object(tree, "spec")
	if meta != nil {
		for _, key := range []string{"name", "uid", "resourceVersion", "creationTimestamp"} {
			out = append(out, member(meta, key))
		}
	}
	for _, at := range []string{"labels", "annotations"} {
		if m := pod.Object(meta, at); m != nil {
			for _, key := range pod.Ordinals() {
				out = append(out, member(m, key))
			}
		}
	}
	out = append(out, inside(pod.Items(meta, "managedFields"), "time")...)
	out = append(out, inside(pod.Items(meta, "ownerReferences"), "uid")...)
	if spec != nil {
		out = append(out, member(spec, "hostname"))
	}
	for _, item := range pod.Items(spec, "volumes") {
		if claim := pod.Object(object(item), "persistentVolumeClaim"); claim != nil {
			out = append(out, member(claim, "claimName"))
		}
	}
	required := pod.Object(pod.Object(pod.Object(spec, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution")
	for _, term := range pod.Items(required, "nodeSelectorTerms") {
		for _, field := range pod.Items(object(term), "matchFields") {
			values := pod.Items(object(field), "values")
			for i := range values {
				out = append(out, place{values[i], func(value any) { values[i] = value }})
			}
		}
	}
	return out
}

func object(item any) map[string]any {
	m, _ := item.(map[string]any)
	return m
}

// inside are the members of that name of the objects in a list.
func inside(list []any, key string) (out []place) {
	for _, item := range list {
		if m := object(item); m != nil {
			out = append(out, member(m, key))
		}
	}
	return out
}

// named are the places of the names of volumes and of what mounts them.
func named(tree map[string]any) []place {
	spec := pod.Object(tree, "spec")
	out := inside(pod.Items(spec, "volumes"), "name")
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(spec, list) {
			out = append(out, inside(pod.Items(object(item), "volumeMounts"), "name")...)
		}
	}
	return out
}

var tokenName = regexp.MustCompile(`^kube-api-access-.{0,6}$`)

// tokens are those that are a token's, or nearly so.
func tokens(tree map[string]any) []place {
	return slices.DeleteFunc(named(tree), func(p place) bool { return !tokenName.MatchString(p.text()) })
}

// leaves are all places that hold no object and no list.
func leaves(value any) (out []place) {
	visit := func(item any, set func(any)) {
		if deeper := leaves(item); deeper != nil {
			out = append(out, deeper...)
		} else {
			out = append(out, place{item, set})
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(v[key], member(v, key).set)
		}
	case []any:
		for i := range v {
			visit(v[i], func(value any) { v[i] = value })
		}
	}
	return out
}
