// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const (
	injectKey   = annotation.Inject
	revisionKey = annotation.Revision
	mirrorKey   = "kubernetes.io/config.mirror"

	enabled  = "enabled"
	disabled = "disabled"
)

// rules is the published order of precedence. What makes injection impossible comes first, then
// what was said: no beats yes, the pod beats the selectors, those beat the namespace's yes, and the
// policy speaks last.
var rules = []rule{
	{"mirror pod", mirror},
	{"namespace", protectedNamespace},
	{"hostNetwork", hostNetwork},
	{"operating system", operatingSystem},
	{"label values", labelValues},
	{"pod says no", podDisabled},
	{"namespace says no", namespaceDisabled},
	{"revision", otherRevision},
	{"pod says yes", podEnabled},
	{"neverInjectSelector", never},
	{"alwaysInjectSelector", always},
	{"namespace says yes", namespaceEnabled},
	{"selected", selected},
	{"policy", fallback},
}

var none opinion

func skip(r reason.Reason) opinion { return opinion{false, r} }
func yes(r reason.Reason) opinion  { return opinion{true, r} }

// mirror asks for the node too: the kubelet always sets it, and the API server refuses the
// annotation without it.
func mirror(_ Rules, s *Subject) (opinion, string) {
	if _, ok := s.Pod.Metadata.Annotations[mirrorKey]; ok && s.Pod.Spec.NodeName != "" {
		return skip(reason.MirrorPod), "the annotation " + mirrorKey + " is set"
	}
	return none, "no"
}

func protectedNamespace(r Rules, s *Subject) (opinion, string) {
	switch {
	case s.Namespace == r.own && r.own != "":
		return skip(reason.OwnNamespace), s.Namespace + " is the injector's own namespace"
	case s.Namespace == "kube-system" || s.Namespace == "kube-public" || s.Namespace == "kube-node-lease":
		return skip(reason.ProtectedNamespace), s.Namespace + " is never injected"
	case r.ignored[s.Namespace]:
		return skip(reason.IgnoredNamespace), s.Namespace + " is in ignoredNamespaces"
	}
	return none, s.Namespace
}

// hostNetwork drops the templates that do not accept the node's network, and skips when none is
// left.
func hostNetwork(_ Rules, s *Subject) (opinion, string) {
	if !s.Pod.Spec.HostNetwork {
		return none, "false"
	}
	kept := keep(s, func(t Template) bool { return t.AllowHostNetwork })
	if len(kept) == 0 {
		return skip(reason.HostNetwork), "hostNetwork is true and no selected template has allowHostNetwork: true"
	}
	s.Templates = kept
	return none, "true, accepted by " + names(kept)
}

func operatingSystem(_ Rules, s *Subject) (opinion, string) {
	os, by := BoundOS(s.Pod)
	if os == "" {
		return none, "any"
	}
	kept := keep(s, func(t Template) bool { return t.OS == "any" || t.OS == os })
	if len(kept) == 0 && len(s.Templates) > 0 {
		return skip(reason.OSMismatch), by + " binds the pod to " + os + " and no selected template runs there"
	}
	s.Templates = kept
	return none, os
}

func keep(s *Subject, accept func(Template) bool) []Template {
	var kept []Template
	for _, t := range s.Templates {
		if accept(t) {
			kept = append(kept, t)
		}
	}
	return kept
}

func names(templates []Template) string {
	list := make([]string, len(templates))
	for i, t := range templates {
		list[i] = t.Name
	}
	return strings.Join(list, ", ")
}

func labelValues(_ Rules, s *Subject) (opinion, string) {
	if v, ok := s.Pod.Metadata.Labels[injectKey]; ok && v != enabled && v != disabled {
		return skip(reason.PodLabelInvalid), "the pod's label " + injectKey + " is " + strconv.Quote(v) + ", want enabled or disabled"
	}
	if v, ok := s.NamespaceLabels[injectKey]; ok && v != enabled && v != disabled {
		return skip(reason.NamespaceLabelInvalid), "the namespace's label " + injectKey + " is " + strconv.Quote(v) + ", want enabled or disabled"
	}
	return none, "valid"
}

// podDisabled hears an annotation too, where there is no label: who writes it there wants no
// injection, and loses nothing by our obeying. An annotation cannot opt in: no selector sees it.
func podDisabled(_ Rules, s *Subject) (opinion, string) {
	v, ok := s.Pod.Metadata.Labels[injectKey]
	if v == disabled {
		return skip(reason.PodDisabled), "the pod's label " + injectKey + " is disabled"
	}
	if !ok && s.Pod.Metadata.Annotations[injectKey] == disabled {
		return skip(reason.PodDisabled), "the pod's annotation " + injectKey + " is disabled (make it a label)"
	}
	return none, "no"
}

func namespaceDisabled(_ Rules, s *Subject) (opinion, string) {
	if s.NamespaceLabels[injectKey] == disabled {
		return skip(reason.NamespaceDisabled), "the namespace's label " + injectKey + " is disabled"
	}
	return none, "no"
}

// wanted is the revision that the pod, or else its namespace, asks for.
func wanted(s *Subject) (revision, by string) {
	if v := s.Pod.Metadata.Labels[revisionKey]; v != "" {
		return v, "pod"
	}
	return s.NamespaceLabels[revisionKey], "namespace"
}

func otherRevision(r Rules, s *Subject) (opinion, string) {
	revision, by := wanted(s)
	if revision == "" {
		return none, "none asked for"
	}
	if revision != r.revision {
		return skip(reason.NotSelected), "the " + by + " asks for revision " + strconv.Quote(revision) + ", this is " + strconv.Quote(r.revision)
	}
	return none, revision
}

func podEnabled(_ Rules, s *Subject) (opinion, string) {
	if s.Pod.Metadata.Labels[injectKey] == enabled {
		return yes(reason.PodEnabled), "the pod's label " + injectKey + " is enabled"
	}
	return none, "no"
}

func never(r Rules, s *Subject) (opinion, string) {
	return match(r.never, s, skip(reason.NeverSelector))
}

func always(r Rules, s *Subject) (opinion, string) {
	return match(r.always, s, yes(reason.AlwaysSelector))
}

func match(selectors []selector, s *Subject, then opinion) (opinion, string) {
	for _, sel := range selectors {
		if sel.Matches(set(s.Pod.Metadata.Labels)) {
			return then, sel.text + " matches"
		}
	}
	return none, "no match"
}

func namespaceEnabled(_ Rules, s *Subject) (opinion, string) {
	if s.NamespaceLabels[injectKey] == enabled {
		return yes(reason.NamespaceEnabled), "the namespace's label " + injectKey + " is enabled"
	}
	if revision, by := wanted(s); revision != "" {
		return yes(reason.NamespaceRevision), "the " + by + " asks for revision " + strconv.Quote(revision)
	}
	return none, "no"
}

func selected(_ Rules, s *Subject) (opinion, string) {
	if !s.Selected {
		return skip(reason.NotSelected), "neither the namespace nor the pod asks for injection"
	}
	return none, "yes"
}

func fallback(r Rules, _ *Subject) (opinion, string) {
	if r.enabled {
		return yes(reason.PolicyEnabled), "policy is enabled"
	}
	return skip(reason.PolicyDisabled), "policy is disabled"
}
