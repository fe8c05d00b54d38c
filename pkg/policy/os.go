// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/pillion-dev/pillion/pkg/pod"
)

type set = labels.Set

// osKeys are the node labels that tell the operating system: the present one and the beta one that
// kubelets still set.
var osKeys = []string{corev1.LabelOSStable, "beta.kubernetes.io/os"}

// BoundOS is the operating system that the pod cannot leave, and the field that binds it: spec.os,
// a nodeSelector, or a required node affinity all of whose terms say so. A preference binds nothing.
func BoundOS(p *pod.Head) (os, by string) {
	if p.Spec.OS.Name != "" {
		return p.Spec.OS.Name, "spec.os.name"
	}
	for _, key := range osKeys {
		if v := p.Spec.NodeSelector[key]; v != "" {
			return v, "spec.nodeSelector[" + key + "]"
		}
	}
	if !bytes.Contains(p.Spec.Affinity, []byte("kubernetes.io/os")) {
		return "", ""
	}
	var affinity corev1.Affinity
	if err := json.Unmarshal(p.Spec.Affinity, &affinity); err != nil {
		return "", ""
	}
	return affinityOS(affinity), "spec.affinity.nodeAffinity"
}

// affinityOS is the one operating system that every term asks for; terms are alternatives.
func affinityOS(a corev1.Affinity) string {
	if a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	os := ""
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		t := termOS(term)
		if t == "" || os != "" && os != t {
			return ""
		}
		os = t
	}
	return os
}

func termOS(term corev1.NodeSelectorTerm) string {
	for _, e := range term.MatchExpressions {
		if !slices.Contains(osKeys, e.Key) || len(e.Values) != 1 {
			continue
		}
		switch {
		case e.Operator == corev1.NodeSelectorOpIn:
			return e.Values[0]
		case e.Operator == corev1.NodeSelectorOpNotIn && e.Values[0] == "linux":
			return "windows"
		case e.Operator == corev1.NodeSelectorOpNotIn && e.Values[0] == "windows":
			return "linux"
		}
	}
	return ""
}
