// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Another vocabulary than our own: a namespace says yes under a key of its own, which beats every
// revision; a pod says yes or no under another.
const (
	otherYes = "yes.example/namespace"
	otherPod = "yes.example/pod"
	otherRev = "rev.example"
)

// otherEntries are those of a revision in it; the default one serves also who names none.
func otherEntries(rev string) []Entry {
	named, unnamed := is(otherRev, metav1.LabelSelectorOpIn, rev), is(otherRev, metav1.LabelSelectorOpDoesNotExist)
	silent := is(otherYes, metav1.LabelSelectorOpDoesNotExist)
	mayNot := is(otherPod, metav1.LabelSelectorOpNotIn, "false")
	entries := []Entry{
		{"rev.namespace.other.example", all(named, silent), all(mayNot)},
		{"rev.object.other.example", all(unnamed, silent), all(mayNot, named)},
	}
	if rev != Default {
		return entries
	}
	return append(entries,
		Entry{"namespace.other.example", all(is(otherYes, metav1.LabelSelectorOpIn, "enabled")), all(mayNot)},
		Entry{"object.other.example", all(silent, unnamed), all(is(otherPod, metav1.LabelSelectorOpIn, "true"), unnamed)},
	)
}

// unasked is the entry of an installation whose default revision serves who says nothing at all.
func unasked() Entry {
	silent, unnamed := is(otherYes, metav1.LabelSelectorOpDoesNotExist), is(otherRev, metav1.LabelSelectorOpDoesNotExist)
	return Entry{"auto.other.example",
		all(silent, unnamed, is("kubernetes.io/metadata.name", metav1.LabelSelectorOpNotIn, "attic")),
		all(is(otherPod, metav1.LabelSelectorOpDoesNotExist), unnamed),
	}
}

// expectOther says it as a person would: who serves a pod, by the labels of its namespace and its own.
func expectOther(nsYes, nsRev, podSays, podRev string, auto bool) string {
	installed := map[string]bool{"default": true, "canary": true}
	switch {
	case podSays == "false":
		return ""
	case nsYes == "enabled":
		return "default/namespace"
	case nsYes != absent:
		return ""
	case nsRev != absent && installed[nsRev]:
		return nsRev + "/rev.namespace"
	case nsRev != absent:
		return ""
	case podRev != absent && installed[podRev]:
		return podRev + "/rev.object"
	case podRev != absent:
		return ""
	case podSays == "true":
		return "default/object"
	case podSays == absent && auto:
		return "default/auto"
	}
	return ""
}

// Every combination of another vocabulary's labels, with two revisions and their tag side by side: one
// entry at most selects a pod, the right one, and none a namespace that is protected.
func TestEntriesOfAnotherVocabulary(t *testing.T) {
	label := func(set map[string]string, key, value string) {
		if value != absent {
			set[key] = value
		}
	}
	for _, auto := range []bool{false, true} {
		entries := otherEntries("default")
		if auto {
			entries = append(entries, unasked())
		}
		installed := map[string]*admissionregistrationv1.MutatingWebhookConfiguration{
			"default": wanted(t, Values{Namespace: "sidecars", Entries: entries}),
			"canary":  wanted(t, Values{Namespace: "sidecars", Revision: "canary", Entries: otherEntries("canary")}),
			"tag":     wanted(t, Values{Namespace: "sidecars", Revision: "canary", Name: "tag", Entries: otherEntries("stable")}),
		}
		revisions := []string{absent, "default", "canary", "gone"}
		for _, nsYes := range []string{absent, "enabled", "disabled", "maybe"} {
			for _, nsRev := range revisions {
				for _, podSays := range []string{absent, "true", "false", "maybe"} {
					for _, podRev := range revisions {
						ns, pod := map[string]string{}, map[string]string{}
						label(ns, otherYes, nsYes)
						label(ns, otherRev, nsRev)
						label(pod, otherPod, podSays)
						label(pod, otherRev, podRev)
						var want []string
						if one := expectOther(nsYes, nsRev, podSays, podRev, auto); one != "" {
							want = []string{one}
						}
						if diff := cmp.Diff(want, selecting(installed, ns, pod, "shop")); diff != "" {
							t.Errorf("auto %t, namespace %v, pod %v (-want +got):\n%s", auto, ns, pod, diff)
						}
						for _, protected := range []string{"kube-system", "kube-public", "kube-node-lease", "sidecars"} {
							if got := selecting(installed, ns, pod, protected); got != nil {
								t.Errorf("namespace %v, pod %v: %v in %s", ns, pod, got, protected)
							}
						}
					}
				}
			}
		}
		if got := selecting(installed, nil, nil, "attic"); got != nil {
			t.Errorf("an entry's own requirement does not hold: %v", got)
		}
		if got := selecting(installed, map[string]string{otherRev: "stable"}, nil, "shop"); !slices.Equal(got, []string{"tag/rev.namespace"}) {
			t.Errorf("by the tag: %v", got)
		}
	}
}

// selecting lists every entry of every configuration that selects a pod.
func selecting(installed map[string]*admissionregistrationv1.MutatingWebhookConfiguration, ns, pod map[string]string, name string) []string {
	var out []string
	for _, configuration := range slices.Sorted(maps.Keys(installed)) {
		for _, hook := range installed[configuration].Webhooks {
			one := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{hook}}
			if entry, ok := Selects(one, ns, pod, name); ok {
				out = append(out, configuration+"/"+strings.TrimSuffix(entry, ".other.example"))
			}
		}
	}
	return out
}

// What protects a cluster is in every entry, whatever the vocabulary, and nothing that was handed in is
// written to.
func TestProtectionHoldsInAnyVocabulary(t *testing.T) {
	values := Values{Entries: otherEntries("default"), Labels: map[string]string{"a": "b"}, DropHostNetwork: true, DropWindows: true}
	before := fmt.Sprint(values)
	c, own := wanted(t, values), wanted(t, Values{DropHostNetwork: true, DropWindows: true})
	c.Labels["a"] = "changed"
	for i := range c.Webhooks {
		hook := &c.Webhooks[i]
		if diff := cmp.Diff(own.Webhooks[0].MatchConditions, hook.MatchConditions); diff != "" || len(hook.MatchConditions) == 0 {
			t.Errorf("%s: match conditions (-want +got):\n%s", hook.Name, diff)
		}
		if diff := cmp.Diff(own.Webhooks[0].Rules, hook.Rules); diff != "" {
			t.Errorf("%s: rules (-want +got):\n%s", hook.Name, diff)
		}
		hook.ObjectSelector.MatchExpressions[0].Key = "changed"
		hook.NamespaceSelector.MatchExpressions[0].Key = "changed"
	}
	if after := fmt.Sprint(values); after != before {
		t.Errorf("the values were changed:\n%s\n%s", before, after)
	}
}
