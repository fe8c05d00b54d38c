// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// anything fits every value of a label, and absent its absence.
const (
	anything = "*"
	absent   = ""
)

// expected is who serves a pod, by the labels of its namespace and its own; the first row that fits
// decides. It is written down apart from the selectors, as a person would say it.
var expected = []struct {
	why                                string
	nsInject, nsRev, podInject, podRev string
	configuration, entry               string // empty: nobody
}{
	{why: "the namespace's no", nsInject: "disabled", nsRev: anything, podInject: anything, podRev: anything},
	{why: "the pod's no", nsInject: anything, nsRev: anything, podInject: "disabled", podRev: anything},
	{why: "the pod's revision", nsInject: anything, nsRev: anything, podInject: anything, podRev: "default", configuration: "default", entry: "rev.object"},
	{why: "the pod's revision", nsInject: anything, nsRev: anything, podInject: anything, podRev: "canary", configuration: "canary", entry: "rev.object"},
	{why: "a revision that nobody serves", nsInject: anything, nsRev: anything, podInject: anything, podRev: "gone"},
	{why: "the namespace's revision", nsInject: anything, nsRev: "default", podInject: anything, podRev: absent, configuration: "default", entry: "rev.namespace"},
	{why: "the namespace's revision", nsInject: anything, nsRev: "canary", podInject: anything, podRev: absent, configuration: "canary", entry: "rev.namespace"},
	{why: "a revision that nobody serves", nsInject: anything, nsRev: "gone", podInject: anything, podRev: absent},
	{why: "the namespace's yes", nsInject: "enabled", nsRev: absent, podInject: anything, podRev: absent, configuration: "default", entry: "namespace"},
	{why: "the pod's yes", nsInject: anything, nsRev: absent, podInject: "enabled", podRev: absent, configuration: "default", entry: "object"},
	{why: "nobody asked", nsInject: anything, nsRev: anything, podInject: anything, podRev: anything},
}

func expect(nsInject, nsRev, podInject, podRev string) (configuration, entry string) {
	fits := func(pattern, value string) bool { return pattern == anything || pattern == value }
	for _, row := range expected {
		if fits(row.nsInject, nsInject) && fits(row.nsRev, nsRev) && fits(row.podInject, podInject) && fits(row.podRev, podRev) {
			return row.configuration, row.entry
		}
	}
	return "", ""
}

func labelsOf(inject, revision string) map[string]string {
	set := map[string]string{"app": "orders"}
	if inject != absent {
		set["pillion.dev/inject"] = inject
	}
	if revision != absent {
		set["pillion.dev/revision"] = revision
	}
	return set
}

// Two revisions side by side, every combination of labels: at most one entry selects a pod, and it
// is the one that the table names.
func TestEveryCombinationOfLabels(t *testing.T) {
	installed := map[string]*admissionregistrationv1.MutatingWebhookConfiguration{
		"default": wanted(t, Values{}),
		"canary":  wanted(t, Values{Revision: "canary"}),
	}
	injects, revisions := []string{absent, "enabled", "disabled", "maybe"}, []string{absent, "default", "canary", "gone"}
	for _, nsInject := range injects {
		for _, nsRev := range revisions {
			for _, podInject := range injects {
				for _, podRev := range revisions {
					combination := fmt.Sprintf("namespace %q %q, pod %q %q", nsInject, nsRev, podInject, podRev)
					wantConfiguration, wantEntry := expect(nsInject, nsRev, podInject, podRev)
					check(t, combination, installed, labelsOf(nsInject, nsRev), labelsOf(podInject, podRev), wantConfiguration, wantEntry)
				}
			}
		}
	}
}

func check(t *testing.T, combination string, installed map[string]*admissionregistrationv1.MutatingWebhookConfiguration, ns, pod map[string]string, wantConfiguration, wantEntry string) {
	t.Helper()
	var matched []string
	for _, name := range []string{"default", "canary"} {
		c := installed[name]
		first := ""
		for i := range c.Webhooks {
			one := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: c.Webhooks[i : i+1]}
			if entry, ok := Selects(one, ns, pod, "shop"); ok {
				matched = append(matched, name+"/"+entry)
				first = entry
			}
		}
		if entry, ok := Selects(c, ns, pod, "shop"); ok != (first != "") || entry != first {
			t.Errorf("%s: Selects says %q of %s, its entries say %q", combination, entry, name, first)
		}
		for _, protected := range []string{"kube-system", "kube-public", "kube-node-lease", "pillion-system"} {
			if entry, ok := Selects(c, ns, pod, protected); ok {
				t.Errorf("%s: %s selects a pod in %s", combination, entry, protected)
			}
		}
	}
	var want []string
	if wantEntry != "" {
		want = []string{wantConfiguration + "/" + wantEntry + ".injector.pillion.dev"}
	}
	if fmt.Sprint(matched) != fmt.Sprint(want) {
		t.Errorf("%s: selected by %v, want %v", combination, matched, want)
	}
}

func TestSelects(t *testing.T) {
	c := wanted(t, Values{Namespace: "sidecars"})
	lie := map[string]string{"pillion.dev/inject": "enabled", "kubernetes.io/metadata.name": "shop"}
	if entry, ok := Selects(c, lie, nil, "sidecars"); ok {
		t.Errorf("%s believes a label before the namespace's name", entry)
	}
	if entry, ok := Selects(c, lie, nil, "shop"); !ok || entry != "namespace.injector.pillion.dev" {
		t.Errorf("selected by %q", entry)
	}
	if len(lie) != 2 || lie["kubernetes.io/metadata.name"] != "shop" {
		t.Errorf("the argument was changed: %v", lie)
	}
	if _, ok := Selects(c, nil, nil, "shop"); ok {
		t.Error("selected although nobody asked")
	}
	invalid := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{
		{Name: "empty", NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}},
	}}
	if entry, ok := Selects(invalid, nil, nil, "shop"); ok {
		t.Errorf("%s selects by a selector that is not valid", entry)
	}
	invalid.Webhooks[0].NamespaceSelector = nil
	if _, ok := Selects(invalid, nil, nil, "shop"); !ok {
		t.Error("no selector selects everything")
	}
}
