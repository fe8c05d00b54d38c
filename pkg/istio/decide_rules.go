// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// protected are the namespaces that are never injected.
var protected = []string{"kube-system", "kube-public", "kube-node-lease", "local-path-storage"}

func silent(detail string) answer                  { return answer{detail: detail} }
func skip(why reason.Reason, detail string) answer { return answer{false, why, detail, nil} }
func yes(why reason.Reason, detail string) answer  { return answer{true, why, detail, nil} }

// mirror asks for the node too: the kubelet always sets it, and the API server refuses the
// annotation without it.
func (rules) mirror(s subject) answer {
	if _, ok := s.head.Metadata.Annotations[mirrorKey]; ok && s.head.Spec.NodeName != "" {
		return skip(reason.MirrorPod, "the annotation "+mirrorKey+" is set")
	}
	return silent("no")
}

func (rules) hostNetwork(s subject) answer {
	if s.head.Spec.HostNetwork {
		return skip(reason.HostNetwork, "hostNetwork is true: the proxy would take the whole node's traffic")
	}
	return silent("false")
}

func (rules) namespace(s subject) answer {
	switch {
	case s.own != "" && s.namespace == s.own:
		return skip(reason.OwnNamespace, s.namespace+" is the injector's own namespace")
	case slices.Contains(protected, s.namespace):
		return skip(reason.ProtectedNamespace, s.namespace+" is never injected")
	}
	return silent(s.namespace)
}

// unknownPolicy stands before what the pod says: a configuration that is not understood injects
// nothing at all.
func (r rules) unknownPolicy(subject) answer {
	if !knownPolicy(r.policy) {
		return skip(reason.PolicyDisabled, "policy is "+strconv.Quote(shown(r.policy))+", want enabled or disabled: nothing is injected")
	}
	return silent(r.policy)
}

// said is what the pod says about its injection, and where; place is zero where it says nothing. The
// label wins over the annotation, even where it is empty.
func said(head *pod.Head) (text string, place Place) {
	if v, ok := head.Metadata.Labels[injectKey]; ok {
		return v, PodLabel
	}
	if v, ok := head.Metadata.Annotations[injectKey]; ok {
		return v, PodAnnotation
	}
	return "", 0
}

func (rules) pod(s subject) answer {
	text, place := said(s.head)
	what := "the pod's " + place.kind() + " " + injectKey + " is "
	switch {
	case place == 0:
		return silent("says nothing")
	case text == "true":
		return yes(reason.PodEnabled, what+text)
	case text == "false":
		return skip(reason.PodDisabled, what+text)
	case text == "":
		return silent(what + "empty")
	}
	detail := "is " + strconv.Quote(shown(text)) + ", want true or false: it decides nothing"
	return answer{detail: what + strconv.Quote(shown(text)), warning: &reason.Warning{
		Reason: reason.PodLabelInvalid, Path: place.path(injectKey), Detail: detail,
	}}
}

func (r rules) neverMatches(s subject) answer {
	if text, ok := r.never.match(s.head.Metadata.Labels); ok {
		return skip(reason.NeverSelector, text+" matches")
	}
	return silent("no match")
}

func (r rules) alwaysMatches(s subject) answer {
	if text, ok := r.always.match(s.head.Metadata.Labels); ok {
		return yes(reason.AlwaysSelector, text+" matches")
	}
	return silent("no match")
}

func (r rules) fallback(subject) answer {
	if r.policy == policyEnabled {
		return yes(reason.PolicyEnabled, "policy is enabled")
	}
	return skip(reason.PolicyDisabled, "policy is disabled")
}

// warned adds a warning for the author who asked for injection and gets none.
func warned(d policy.Decision, s subject) policy.Decision {
	if text, _ := said(s.head); d.Inject || text != "true" || d.Reason == reason.MirrorPod {
		return d
	}
	d.Warnings = append(d.Warnings, reason.Warning{
		Reason: d.Reason, Detail: "not injected, though the pod asks: " + d.Checks[len(d.Checks)-1].Detail,
	})
	return d
}
