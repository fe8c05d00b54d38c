// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// What a rule says of a pod whose namespace is known is what the API server does with it.
func TestWebhookSelects(t *testing.T) {
	type m = map[string]string
	tests := map[string]struct {
		reason        string
		revision      string
		namespace     m
		labels, notes m
		want          reason.Reason
		detail        string
	}{
		"enabled":             {"the namespace asks", "", m{namespaceKey: "enabled"}, nil, nil, reason.PolicyEnabled, "namespace.sidecar-injector.istio.io selects it"},
		"unlabelled":          {"nobody asks", "", nil, nil, nil, reason.NotSelected, "revision default is not called: the namespace has neither istio-injection nor istio.io/rev, the pod neither sidecar.istio.io/inject nor istio.io/rev"},
		"label alone":         {"the pod asks by its label", "", nil, m{injectKey: "true"}, nil, reason.PodEnabled, "object.sidecar-injector.istio.io selects it"},
		"annotation alone":    {"no selector sees it", "", nil, nil, m{injectKey: "true"}, reason.NotSelected, "the pod neither sidecar.istio.io/inject nor istio.io/rev"},
		"disabled":            {"the namespace wins over the pod", "", m{namespaceKey: "disabled"}, m{injectKey: "true"}, nil, reason.NotSelected, "the namespace has istio-injection: disabled, the pod sidecar.istio.io/inject: true"},
		"label no":            {"the rule that reads it says so", "", m{namespaceKey: "enabled"}, m{injectKey: "false"}, nil, reason.PodDisabled, "the pod's label says no"},
		"label no, elsewhere": {"wherever the pod is", "", nil, m{injectKey: "false"}, nil, reason.PodDisabled, "the pod's label says no"},
		"annotation no":       {"it is called, and skips", "", m{namespaceKey: "enabled"}, nil, m{injectKey: "false"}, reason.PodDisabled, "selects it"},
		"other revision":      {"it has another webhook", "", m{revisionKey: "canary"}, nil, nil, reason.NotSelected, "the namespace has istio.io/rev: canary"},
		"this revision":       {"the namespace names it", "canary", m{revisionKey: "canary"}, nil, nil, reason.PolicyEnabled, "rev.namespace.sidecar-injector.istio.io selects it"},
		"pod's revision":      {"the pod names it", "canary", nil, m{revisionKey: "canary"}, nil, reason.PolicyEnabled, "rev.object.sidecar-injector.istio.io selects it"},
		"default elsewhere":   {"enabled asks the default revision", "canary", m{namespaceKey: "enabled", revisionKey: "canary"}, nil, nil, reason.NotSelected, "istio-injection: enabled and istio.io/rev: canary"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, _ := newRules(Config{Policy: policyEnabled})
			r.hooks = hooks(tc.revision)
			s := subject{head: headOf(tc.labels, tc.notes), namespace: "shop", labels: tc.namespace}
			d := r.decide(s)
			if d.Reason != tc.want || d.Checks[0].Name != "webhook" || !strings.Contains(d.Checks[0].Detail, tc.detail) {
				t.Errorf("%s: %s after %v", tc.reason, d.Reason, d.Checks)
			}
			if d.Reason == reason.NotSelected && s.head.Metadata.Labels[injectKey]+s.head.Metadata.Annotations[injectKey] == "true" && len(d.Warnings) != 1 {
				t.Errorf("whoever asks is told: %v", d.Warnings)
			}
			s.selected = true
			if d := r.decide(s); d.Reason == reason.NotSelected || d.Checks[0].Name == "webhook" {
				t.Errorf("a pod that was sent is asked about again: %v", d.Checks)
			}
		})
	}
}
