// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func exists(key string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpExists}}}
}

// ruled decides with selectors for the labels batch (never) and mesh (always).
func ruled(policy string, s subject) (d policy.Decision) {
	r, _ := newRules(Config{
		Policy:              policy,
		NeverInjectSelector: []metav1.LabelSelector{{}, exists("batch")}, AlwaysInjectSelector: []metav1.LabelSelector{{}, exists("mesh")},
	})
	return r.decide(s)
}

// The label speaks alone where it stands, an explicit word beats both selectors, and the last check
// is the one that decided.
func FuzzDecide(f *testing.F) {
	f.Add("enabled", "true", "false", true, true, true, "shop", false)
	f.Add("disabled", "", "true", true, false, true, "kube-system", true)
	f.Add("perhaps", "yes", "", false, true, false, "", false)
	f.Fuzz(func(t *testing.T, policy, label, annotation string, labelled, never, always bool, namespace string, host bool) {
		labels := map[string]string{}
		if labelled {
			labels[injectKey] = label
		}
		if never {
			labels["batch"] = ""
		}
		if always {
			labels["mesh"] = ""
		}
		s := subject{head: headOf(labels, map[string]string{injectKey: annotation}), namespace: namespace}
		s.head.Spec.HostNetwork = host
		d := ruled(policy, s)
		if d.DecidedBy != d.Checks[len(d.Checks)-1].Name || d.Reason == reason.None {
			t.Errorf("decided by %q, for %q, after %v", d.DecidedBy, d.Reason, d.Checks)
		}
		if labelled {
			s.head.Metadata.Annotations[injectKey] = "false"
			if diff := cmp.Diff(d, ruled(policy, s)); diff != "" {
				t.Errorf("the annotation counts beside a label:\n%s", diff)
			}
		}
		said := annotation
		if labelled {
			said = label
		}
		possible := !host && knownPolicy(policy) && len(d.Checks) > 3
		if want := said == "true"; possible && (want || said == "false") && d.Inject != want {
			t.Errorf("the pod says %q and the answer is %t, for %s", said, d.Inject, d.Reason)
		}
		if !possible && d.Inject {
			t.Errorf("injected, for %s", d.Reason)
		}
	})
}

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		reason      string
		policy      string
		labels      map[string]string
		annotations map[string]string
		namespace   string
		change      func(*pod.Head)
		inject      bool
		why         reason.Reason
		warnings    []reason.Warning
	}{
		"policy yes": {reason: "nobody says anything", policy: "enabled", inject: true, why: reason.PolicyEnabled},
		"policy no":  {reason: "nobody says anything", policy: "disabled", why: reason.PolicyDisabled},
		"annotation": {
			reason: "it is heard without a label", policy: "disabled",
			annotations: map[string]string{injectKey: "true"}, inject: true, why: reason.PodEnabled,
		},
		"label no": {
			reason: "the label wins", policy: "enabled",
			labels: map[string]string{injectKey: "false"}, annotations: map[string]string{injectKey: "true"}, why: reason.PodDisabled,
		},
		"empty label": {
			reason: "even an empty label silences the annotation", policy: "enabled",
			labels: map[string]string{injectKey: ""}, annotations: map[string]string{injectKey: "false"}, inject: true, why: reason.PolicyEnabled,
		},
		"other label": {
			reason: "letters count; the author is told", policy: "enabled", labels: map[string]string{injectKey: "True"}, inject: true, why: reason.PolicyEnabled,
			warnings: []reason.Warning{{Reason: reason.PodLabelInvalid, Path: "metadata.labels[sidecar.istio.io/inject]", Detail: `is "True", want true or false: it decides nothing`}},
		},
		"other annotation": {
			reason: "the author is told where it stands", policy: "disabled", annotations: map[string]string{injectKey: "no\n"}, why: reason.PolicyDisabled,
			warnings: []reason.Warning{{Reason: reason.PodLabelInvalid, Path: "metadata.annotations[sidecar.istio.io/inject]", Detail: `is "no\\n", want true or false: it decides nothing`}},
		},
		"never":         {reason: "a selector beats the policy", policy: "enabled", labels: map[string]string{"batch": "x"}, why: reason.NeverSelector},
		"always":        {reason: "a selector beats the policy", policy: "disabled", labels: map[string]string{"mesh": ""}, inject: true, why: reason.AlwaysSelector},
		"never, always": {reason: "no beats yes", policy: "enabled", labels: map[string]string{"mesh": "", "batch": ""}, why: reason.NeverSelector},
		"word, never": {
			reason: "the pod's own word beats the selectors", policy: "disabled",
			labels: map[string]string{"batch": "", injectKey: "true"}, inject: true, why: reason.PodEnabled,
		},
		"word, always": {
			reason: "the pod's own word beats the selectors", policy: "enabled",
			labels: map[string]string{"mesh": ""}, annotations: map[string]string{injectKey: "false"}, why: reason.PodDisabled,
		},
		"no such policy": {
			reason: "a configuration that is not understood injects nothing", policy: "Enabled", labels: map[string]string{injectKey: "true"}, why: reason.PolicyDisabled,
			warnings: []reason.Warning{{Reason: reason.PolicyDisabled, Detail: `not injected, though the pod asks: policy is "Enabled", want enabled or disabled: nothing is injected`}},
		},
		"host network": {
			reason: "who asked is told", policy: "enabled", annotations: map[string]string{injectKey: "true"},
			change: func(h *pod.Head) { h.Spec.HostNetwork = true }, why: reason.HostNetwork,
			warnings: []reason.Warning{{Reason: reason.HostNetwork, Detail: "not injected, though the pod asks: hostNetwork is true: the proxy would take the whole node's traffic"}},
		},
		"protected": {
			reason: "who asked is told", policy: "enabled", namespace: "local-path-storage", labels: map[string]string{injectKey: "true"}, why: reason.ProtectedNamespace,
			warnings: []reason.Warning{{Reason: reason.ProtectedNamespace, Detail: "not injected, though the pod asks: local-path-storage is never injected"}},
		},
		"own":            {reason: "the injector needs no proxy", policy: "enabled", namespace: "mesh-system", why: reason.OwnNamespace},
		"near protected": {reason: "only the names themselves", policy: "enabled", namespace: "kube-systems", inject: true, why: reason.PolicyEnabled},
		"mirror": {
			reason: "a static pod runs as its file says", policy: "enabled", labels: map[string]string{injectKey: "true"},
			annotations: map[string]string{mirrorKey: "abc"}, change: func(h *pod.Head) { h.Spec.NodeName = "n1" }, why: reason.MirrorPod,
		},
		"copied mirror": {
			reason: "without a node it is no mirror pod", policy: "enabled",
			annotations: map[string]string{mirrorKey: "abc"}, inject: true, why: reason.PolicyEnabled,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			head := headOf(tc.labels, tc.annotations)
			if tc.change != nil {
				tc.change(head)
			}
			d := ruled(tc.policy, subject{head: head, namespace: tc.namespace, own: "mesh-system"})
			if d.Inject != tc.inject || d.Reason != tc.why {
				t.Errorf("%s: got %t, %s, want %t, %s", tc.reason, d.Inject, d.Reason, tc.inject, tc.why)
			}
			if diff := cmp.Diff(tc.warnings, d.Warnings); diff != "" {
				t.Errorf("%s: warnings (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestChecksTellTheWay(t *testing.T) {
	d := ruled("enabled", subject{head: headOf(map[string]string{"batch": ""}, nil), namespace: "shop"})
	want := []policy.Check{
		{Name: "mirror pod", Detail: "no"}, {Name: "hostNetwork", Detail: "false"}, {Name: "namespace", Detail: "shop"},
		{Name: "policy's value", Detail: "enabled"}, {Name: "pod", Detail: "says nothing"}, {Name: "neverInjectSelector", Detail: "batch matches"},
	}
	if diff := cmp.Diff(want, d.Checks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNotesTellWhatIsIgnored(t *testing.T) {
	bad := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	r, notes := newRules(Config{Policy: "on", NeverInjectSelector: []metav1.LabelSelector{exists("batch"), bad}, AlwaysInjectSelector: []metav1.LabelSelector{bad}})
	want := []note{
		{"neverInjectSelector[1]", `the selector is ignored: "Near" is not a valid label selector operator`},
		{"alwaysInjectSelector[0]", `the selector is ignored: "Near" is not a valid label selector operator`},
		{"policy", `it is "on", want enabled or disabled: nothing is injected`},
	}
	if diff := cmp.Diff(want, notes, cmp.AllowUnexported(note{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(r.never) != 1 || len(r.always) != 0 {
		t.Errorf("got %d and %d selectors", len(r.never), len(r.always))
	}
	if _, notes := newRules(Config{Policy: "disabled", NeverInjectSelector: []metav1.LabelSelector{{}}}); len(notes) > 0 {
		t.Errorf("an empty selector is no fault: %v", notes)
	}
}

func TestDecisionNamesTheTemplates(t *testing.T) {
	doc, err := pod.Parse([]byte(`{"metadata":{"annotations":{"inject.istio.io/templates":"both, plain"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Policy: "enabled", Aliases: map[string][]string{"both": {"a", "b"}}}
	d := &dialect{config: c, own: "mesh-system"}
	d.rules, _ = newRules(c)
	w := &inject.Work{In: doc, Result: inject.Result{Namespace: "shop"}}
	if diff := cmp.Diff([]string{"a", "b", "plain"}, d.decide(w).Templates); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.Namespace = "mesh-system"
	if got := d.decide(w); got.Inject || got.Templates != nil {
		t.Errorf("got %v", got)
	}
}
