// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// The namespace's labels that the Pod Security admission goes by, and the prefix of the annotations
// from before AppArmor had a field.
const (
	enforceKey        = "pod-security.kubernetes.io/enforce"
	enforceVersionKey = "pod-security.kubernetes.io/enforce-version"
	appArmorPrefix    = "container.apparmor.security.beta.kubernetes.io/"
)

// Security foretells what the Pod Security admission of the pod's namespace will refuse in what the
// templates brought: brought is all of that as one tree, after is the pod that leaves. A container
// counts as brought where a template gives it an image. The author's own containers are never named:
// they are the author's to mend. A namespace without the label is held to the cluster's default,
// which nobody can see from here.
func Security(namespaceLabels map[string]string, after, brought map[string]any) []reason.Warning {
	enforced, ok := enforcedBy(namespaceLabels)
	if !ok {
		return nil
	}
	a := &admission{standard: enforced, annotations: pod.Object(pod.Object(after, "metadata"), "annotations")}
	s := State{After: after, Brought: withImage(brought)}
	spec, more := pod.Object(after, "spec"), pod.Object(brought, "spec")
	for _, c := range s.containers() {
		if c.brought {
			a.container(c, spec)
		}
	}
	a.pod(spec, more)
	for _, item := range pod.Items(more, "volumes") {
		v, _ := item.(map[string]any)
		a.volume(pod.Named(pod.Items(spec, "volumes"), pod.Text(v, "name")))
	}
	return a.warnings
}

// security warns of what the namespace's Pod Security admission will refuse: its own message comes
// after ours, to whoever made the pod, and names no template.
func security(s *State) error {
	s.Warnings = append(s.Warnings, Security(s.NamespaceLabels, s.After, s.Layers)...)
	return nil
}

// withImage are the names of the containers that the templates bring rather than add to.
func withImage(brought map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(pod.Object(brought, "spec"), list) {
			if c, _ := item.(map[string]any); pod.Text(c, "image") != "" {
				names[pod.Text(c, "name")] = true
			}
		}
	}
	return names
}

// standard is the Pod Security Standard that a namespace enforces.
type standard struct {
	level string // baseline or restricted
	minor int    // of the version that the namespace pins, else beyond every version
}

// enforcedBy is false where nothing is enforced. A level that does not exist is enforced as the
// strictest, and a version that does not as the newest.
func enforcedBy(namespaceLabels map[string]string) (standard, bool) {
	level, labelled := namespaceLabels[enforceKey]
	if !labelled || level == "privileged" {
		return standard{}, false
	}
	if level != "baseline" {
		level = "restricted"
	}
	s := standard{level, math.MaxInt}
	if text, ok := strings.CutPrefix(namespaceLabels[enforceVersionKey], "v1."); ok {
		if minor, err := strconv.ParseUint(text, 10, 16); err == nil {
			s.minor = int(minor)
		}
	}
	return s, true
}

// demands tells whether the restricted standard is enforced in the given version or a later one.
func (s standard) demands(minor int) bool { return s.level == "restricted" && s.minor >= minor }

// admission goes over a pod as the API server's admission will.
type admission struct {
	standard
	annotations map[string]any
	warnings    []reason.Warning
}

func (a *admission) warn(path, fault string) {
	if fault != "" {
		a.warnings = append(a.warnings, reason.Warning{
			Reason: reason.PodSecurityRefuses, Path: path, Detail: "PodSecurity " + a.level + " " + fault,
		})
	}
}

func (a *admission) container(c container, spec map[string]any) {
	s := confined{standard: a.standard, tree: c.tree, spec: spec}
	for _, r := range forContainers {
		if a.minor >= r.since {
			a.warn(c.path()+"."+r.field, r.fault(s, at(c.tree, r.field)))
		}
	}
	key := appArmorPrefix + c.name
	profile := pod.Text(a.annotations, key)
	if profile != "" && profile != "runtime/default" && !strings.HasPrefix(profile, "localhost/") {
		a.warn("metadata.annotations["+key+"]", bans(profile))
	}
}

// pod looks at the fields of the pod itself that the templates set: at the same ones as in a container,
// and at those that no container has.
func (a *admission) pod(spec, brought map[string]any) {
	s := confined{standard: a.standard, tree: spec, spec: spec}
	for _, r := range slices.Concat(forPods, forContainers) {
		if value := at(spec, r.field); a.minor >= r.since && value != nil && at(brought, r.field) != nil {
			a.warn("spec."+r.field, r.fault(s, value))
		}
	}
}

// volume looks at the kind of a volume. One without a kind becomes an emptyDir.
func (a *admission) volume(v map[string]any) {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(v)) {
		if kind != "name" && v[kind] != nil {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		restricted := a.level == "restricted" && !slices.ContainsFunc(kinds, harmless)
		if kind == "hostPath" || restricted {
			a.warn("spec.volumes["+pod.Text(v, "name")+"]."+kind, "bans "+kind)
		}
	}
}

// harmless tells whether the restricted standard allows a kind of volume.
func harmless(kind string) bool {
	switch kind {
	case "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret":
		return true
	}
	return false
}

// at is the value of a field that is written with dots; nil where there is none.
func at(tree map[string]any, field string) any {
	for {
		first, rest, more := strings.Cut(field, ".")
		if !more {
			return tree[first]
		}
		tree, field = pod.Object(tree, first), rest
	}
}
