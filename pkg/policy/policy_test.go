// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// say builds labels from key=value words; "enabled" alone stands for the inject label.
func say(words ...string) map[string]string {
	labels := map[string]string{}
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if !ok {
			k, v = injectKey, w
		}
		labels[k] = v
	}
	return labels
}

func TestDecide(t *testing.T) {
	selector := func(k, v string) []metav1.LabelSelector {
		return []metav1.LabelSelector{{}, {MatchLabels: map[string]string{k: v}}}
	}
	base := Config{Revision: "default", OwnNamespace: "pillion-system", Enabled: true, IgnoredNamespaces: []string{"attic"},
		Never: selector("job", "batch"), Always: selector("tier", "web")}
	off := base
	off.Enabled = false
	plain := []Template{{Name: "t", OS: "linux"}}
	cases := map[string]struct {
		why       string
		config    Config
		namespace string
		ns, pod   map[string]string
		notes     map[string]string
		spec      string
		templates []Template
		away      bool // not selected
		inject    bool
		reason    reason.Reason
		warned    bool
	}{
		"row none":                {why: "an enabled namespace is enough", ns: say("enabled"), inject: true, reason: reason.NamespaceEnabled},
		"row label no":            {why: "the pod's no beats the namespace's yes", ns: say("enabled"), pod: say("disabled"), reason: reason.PodDisabled},
		"row annotation no":       {why: "a no in the wrong place is heard", ns: say("enabled"), notes: say("disabled"), reason: reason.PodDisabled},
		"row label yes":           {why: "a pod may ask by itself", pod: say("enabled"), inject: true, reason: reason.PodEnabled},
		"row annotation yes":      {why: "no selector sees an annotation", notes: say("enabled"), away: true, reason: reason.NotSelected},
		"row namespace no":        {why: "a disabled namespace is final", ns: say("disabled"), pod: say("enabled"), reason: reason.NamespaceDisabled, warned: true},
		"row yes, annotation no":  {why: "the label is preferred", ns: say("enabled"), pod: say("enabled"), notes: say("disabled"), inject: true, reason: reason.PodEnabled},
		"row no, annotation yes":  {why: "the label is preferred", ns: say("enabled"), pod: say("disabled"), notes: say("enabled"), reason: reason.PodDisabled},
		"policy off, label yes":   {why: "the policy speaks last", config: off, pod: say("enabled"), inject: true, reason: reason.PodEnabled},
		"policy off":              {why: "nothing asks", config: off, reason: reason.PolicyDisabled},
		"policy on":               {why: "a selected pod that says nothing", inject: true, reason: reason.PolicyEnabled},
		"not selected":            {why: "the webhook is not called", away: true, reason: reason.NotSelected},
		"typo on the pod":         {why: "never a silent default", ns: say("enabled"), pod: say("true"), reason: reason.PodLabelInvalid, warned: true},
		"typo on the namespace":   {why: "never a silent default", ns: say("yes"), reason: reason.NamespaceLabelInvalid, warned: true},
		"never beats always":      {why: "no beats yes", pod: say("job=batch", "tier=web"), reason: reason.NeverSelector},
		"always":                  {why: "beats the policy", config: off, pod: say("tier=web"), inject: true, reason: reason.AlwaysSelector},
		"label beats never":       {why: "said is said", pod: say("enabled", "job=batch"), inject: true, reason: reason.PodEnabled},
		"our revision":            {why: "asks for us", ns: say(revisionKey + "=default"), inject: true, reason: reason.NamespaceRevision},
		"other revision":          {why: "asks for another", ns: say("enabled", revisionKey+"=canary"), reason: reason.NotSelected},
		"pod's revision wins":     {why: "the pod beats its namespace", ns: say(revisionKey + "=canary"), pod: say(revisionKey + "=default"), inject: true, reason: reason.NamespaceRevision},
		"own namespace":           {why: "we need no sidecar to start", namespace: "pillion-system", pod: say("enabled"), reason: reason.OwnNamespace, warned: true},
		"kube-system":             {why: "never lock a cluster out", namespace: "kube-system", ns: say("enabled"), reason: reason.ProtectedNamespace},
		"ignored":                 {why: "configured", namespace: "attic", ns: say("enabled"), reason: reason.IgnoredNamespace},
		"mirror":                  {why: "the kubelet runs the file", notes: say("kubernetes.io/config.mirror=x"), spec: `{"nodeName":"n"}`, reason: reason.MirrorPod},
		"half a mirror":           {why: "a copied annotation is no mirror pod", ns: say("enabled"), notes: say("kubernetes.io/config.mirror=x"), inject: true, reason: reason.NamespaceEnabled},
		"host network":            {why: "would redirect the node", pod: say("enabled"), spec: `{"hostNetwork":true}`, reason: reason.HostNetwork, warned: true},
		"no host network":         {why: "written out is still no", pod: say("enabled"), spec: `{"hostNetwork":false}`, inject: true, reason: reason.PodEnabled},
		"host network allowed":    {why: "the template says so", spec: `{"hostNetwork":true}`, templates: []Template{{Name: "a", OS: "any"}, {Name: "b", OS: "any", AllowHostNetwork: true}}, inject: true, reason: reason.PolicyEnabled},
		"windows by os":           {why: "Linux images", pod: say("enabled"), spec: `{"os":{"name":"windows"}}`, reason: reason.OSMismatch, warned: true},
		"windows by nodeSelector": {why: "Linux images", spec: `{"nodeSelector":{"kubernetes.io/os":"windows"}}`, reason: reason.OSMismatch},
		"windows by affinity":     {why: "Linux images", spec: `{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["windows"]}]}]}}}}`, reason: reason.OSMismatch},
		"either by affinity":      {why: "terms are alternatives", spec: `{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["windows"]}]},{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["linux"]}]}]}}}}`, inject: true, reason: reason.PolicyEnabled},
		"prefers windows":         {why: "a preference binds nothing", spec: `{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"kubernetes.io/os","operator":"In","values":["windows"]}]}}]}}}`, inject: true, reason: reason.PolicyEnabled},
		"windows template":        {why: "it runs there", spec: `{"os":{"name":"windows"}}`, templates: []Template{{Name: "w", OS: "windows"}}, inject: true, reason: reason.PolicyEnabled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.config.Revision == "" {
				c.config = base
			}
			rules, err := New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			s := Subject{Pod: head(t, c.spec), Namespace: "shop", NamespaceLabels: c.ns, Selected: !c.away, Templates: plain}
			s.Pod.Metadata.Labels, s.Pod.Metadata.Annotations = c.pod, c.notes
			if c.namespace != "" {
				s.Namespace = c.namespace
			}
			if c.templates != nil {
				s.Templates = c.templates
			}
			d := Decide(rules, s)
			if d.Inject != c.inject || d.Reason != c.reason || (len(d.Warnings) > 0) != c.warned {
				t.Errorf("%s: got %v %v, warnings %v\n%v", c.why, d.Inject, d.Reason, d.Warnings, d.Checks)
			}
			if last := d.Checks[len(d.Checks)-1]; last.Name != d.DecidedBy {
				t.Errorf("the last check is %q, decided by %q", last.Name, d.DecidedBy)
			}
		})
	}
}

func head(t *testing.T, spec string) *pod.Head {
	t.Helper()
	if spec == "" {
		spec = "{}"
	}
	d, err := pod.Parse([]byte(`{"spec":` + spec + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return d.Head()
}

func TestDecideDropsTemplatesThatDoNotAccept(t *testing.T) {
	rules, _ := New(Config{Enabled: true})
	d := Decide(rules, Subject{Pod: head(t, `{"hostNetwork":true}`), Selected: true, Templates: []Template{{Name: "a", OS: "any"}, {Name: "b", OS: "any", AllowHostNetwork: true}}})
	if len(d.Templates) != 1 || d.Templates[0] != "b" {
		t.Errorf("got %v", d.Templates)
	}
}

func TestNewNamesTheBadSelector(t *testing.T) {
	_, err := New(Config{Always: []metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}})
	if err == nil || !strings.Contains(err.Error(), `alwaysInjectSelector[0]`) {
		t.Errorf("got %v", err)
	}
}
