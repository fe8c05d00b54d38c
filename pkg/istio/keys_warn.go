// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"
	"strings"

	"istio.io/api/annotation"
	"istio.io/api/label"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// The bounds of what is told, a reader mends the first few and asks again, and of what is looked at.
const (
	maxKeyWarnings = 16
	maxSuspects    = 32
)

// others are keys that other parts of a mesh, or releases of it, set on pods, and that no list names.
var others = []string{
	"cni.istio.io/uninitialized", "istio.io/gateway-name", "install.operator.istio.io/owning-resource", "operator.istio.io/chart-owned",
	"sidecar.istio.io/enableCoreDump", "sidecar.istio.io/controlPlaneAuthPolicy", "policy.istio.io/lang", "policy.istio.io/check",
}

// warnKeys tells which of a pod's keys do nothing, although their author most probably thinks they do:
// near misses of known ones, labels given as annotations and the reverse, and the namespace's label on
// a pod. Keys that other parts of a mesh read are known too. Labels come first, each in the order of
// the keys.
func warnKeys(head *pod.Head) []reason.Warning {
	warnings := suspects(nil, head.Metadata.Labels, PodLabel)
	warnings = suspects(warnings, head.Metadata.Annotations, PodAnnotation)
	if len(warnings) > maxKeyWarnings {
		warnings = warnings[:maxKeyWarnings]
	}
	return warnings
}

// suspects costs a few comparisons for each key that is none of a mesh, and a search for each that is
// known; only unknown ones are looked at closely, and not endlessly many.
func suspects(warnings []reason.Warning, given map[string]string, place Place) []reason.Warning {
	var found []string
	for key := range given {
		if _, ok := lookup(key, place); !ok && ofMesh(key) {
			found = append(found, key)
		}
	}
	if len(found) == 0 {
		return warnings
	}
	slices.Sort(found)
	v := vocabulary{labels: knownAt(PodLabel), annotations: knownAt(PodAnnotation)}
	for _, key := range found[:min(len(found), maxSuspects)] {
		if w, ok := v.suspect(key, place); ok {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// ofMesh tells a key of istio.io and the domains below it, or the one without a domain.
func ofMesh(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return key == namespaceKey
	}
	return domain == "istio.io" || strings.HasSuffix(domain, ".istio.io")
}

// vocabulary is every key known on a pod, those that only other parts of a mesh read too; sorted.
type vocabulary struct{ labels, annotations []string }

func knownAt(place Place) []string {
	var list []string
	for _, k := range registry {
		if k.Place == place {
			list = append(list, k.Name)
		}
	}
	if place == PodLabel {
		for _, l := range label.AllResourceLabels() {
			list = append(list, l.Name)
		}
	} else {
		for _, a := range annotation.AllResourceAnnotations() {
			list = append(list, a.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (v vocabulary) suspect(key string, place Place) (reason.Warning, bool) {
	w := reason.Warning{Reason: reason.KeyOnWrongKind, Path: place.path(key)}
	here, there, belongs := v.labels, v.annotations, PodAnnotation
	if place == PodAnnotation {
		here, there, belongs = v.annotations, v.labels, PodLabel
	}
	switch {
	case key == namespaceKey:
		w.Detail = "this is a namespace's label, a pod has " + injectKey
		return w, true
	case slices.Contains(here, key) || slices.Contains(others, key):
		return w, false
	case slices.Contains(there, key):
		w.Detail = "this key belongs among the " + belongs.kind() + "s"
		return w, true
	}
	near := nearest(key, here, there)
	w.Reason, w.Detail = reason.UnknownKey, "no such key, "+meant(near, key)
	return w, near != ""
}

// nearest is the key that was probably meant: the same name in another domain, or one that differs by
// a few letters of its name. A mesh has keys that no list knows, so a third of the whole would be a
// wild guess.
func nearest(key string, lists ...[]string) string {
	_, name, _ := strings.Cut(key, "/")
	for _, k := range slices.Concat(lists...) {
		if _, other, _ := strings.Cut(k, "/"); other == name && ofMesh(k) {
			return k
		}
	}
	most := max(2, len(name)/3)
	for _, list := range lists {
		if near := reason.NearestWithin(key, list, most); near != "" {
			return near
		}
	}
	return ""
}

// meant tells no more than where the two keys differ: a warning is short.
func meant(near, key string) string {
	domain, name, _ := strings.Cut(near, "/")
	switch {
	case strings.HasSuffix(key, "/"+name):
		return "its domain is " + domain
	case strings.HasPrefix(key, domain+"/"):
		return "did you mean " + name + "?"
	}
	return "did you mean " + near + "?"
}
