// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configurations "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
)

// The field managers. They differ, because an apply takes back every field that the same manager
// applied before and leaves out now: one that writes the bundle alone would strip, under the name of
// the other, all the rest of an object.
const (
	Manager       = "pillion"
	BundleManager = "pillion-ca-bundle"
)

// plan is what stands between the live object and the wanted one.
type plan struct {
	stands  bool   // nothing
	reason  string // this, and a write would not mend it
	patch   []byte // else this patch
	manager string
}

func (r *Registrar) plan(want, live *Configuration, rec *record, bundle []byte) (plan, error) {
	if r.o.Mode == Static || r.kin[want.Name] != nil {
		return planBundle(want, live, bundle)
	}
	return planWhole(want, live, rec)
}

// planBundle writes the bundle into the hooks that both know. The patch names the object's uid: should
// it be gone by then, the API server answers with a conflict and makes nothing.
func planBundle(want, live *Configuration, bundle []byte) (plan, error) {
	if live == nil {
		return plan{reason: NotFound}, nil
	}
	patch := configurations.MutatingWebhookConfiguration(live.Name).WithUID(live.UID)
	found, stands := false, true
	for i := range live.Webhooks {
		hook := &live.Webhooks[i]
		if findHook(want, hook.Name) == nil {
			continue
		}
		found = true
		stands = stands && bytes.Equal(hook.ClientConfig.CABundle, bundle)
		patch.WithWebhooks(configurations.MutatingWebhook().WithName(hook.Name).
			WithClientConfig(configurations.WebhookClientConfig().WithCABundle(bundle...)))
	}
	if !found {
		return plan{reason: EntryNotFound}, nil
	}
	if stands {
		return plan{stands: true}, nil
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return plan{}, fmt.Errorf("encode the patch: %w", err)
	}
	return plan{patch: body, manager: BundleManager}, nil
}

// planWhole writes the object as wanted. The live one stands when it says what the API server made
// of the last write; so defaults need not be known here, and the first pass always writes.
func planWhole(want, live *Configuration, rec *record) (plan, error) {
	body, err := json.Marshal(bare(want))
	if err != nil {
		return plan{}, fmt.Errorf("encode the patch: %w", err)
	}
	stands := live != nil && rec.got != nil && bytes.Equal(rec.patch, body) && holds(want, rec.got, live)
	return plan{stands: stands, patch: body, manager: Manager}, nil
}

// bare is the object without what only the API server may set.
func bare(c *Configuration) *Configuration {
	return &Configuration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(),
			Kind:       "MutatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: c.Labels, Annotations: c.Annotations},
		Webhooks:   c.Webhooks,
	}
}

// holds tells whether the live object still says all that was written. Labels, annotations and hooks
// that others added are theirs.
func holds(want, got, live *Configuration) bool {
	if !within(want.Labels, live.Labels) || !within(want.Annotations, live.Annotations) {
		return false
	}
	for _, w := range want.Webhooks {
		g, l := findHook(got, w.Name), findHook(live, w.Name)
		if g == nil || l == nil || !sameHook(g, l) {
			return false
		}
	}
	return true
}

func within(part, whole map[string]string) bool {
	for k, v := range part {
		if w, ok := whole[k]; !ok || w != v {
			return false
		}
	}
	return true
}

// sameHook tolerates expressions added to the selectors: a managed cluster adds its own to keep
// webhooks off its system namespaces, and would add them again.
func sameHook(got, live *admissionregistrationv1.MutatingWebhook) bool {
	trimmed := *live
	trimmed.NamespaceSelector = trim(live.NamespaceSelector, got.NamespaceSelector)
	trimmed.ObjectSelector = trim(live.ObjectSelector, got.ObjectSelector)
	return equality.Semantic.DeepEqual(*got, trimmed)
}

// trim is the selector without the expressions that the other one lacks.
func trim(s, other *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil || other == nil {
		return s
	}
	out := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		if slices.ContainsFunc(other.MatchExpressions, func(o metav1.LabelSelectorRequirement) bool {
			return equality.Semantic.DeepEqual(e, o)
		}) {
			out.MatchExpressions = append(out.MatchExpressions, e)
		}
	}
	return out
}

func findHook(c *Configuration, name string) *admissionregistrationv1.MutatingWebhook {
	for i := range c.Webhooks {
		if c.Webhooks[i].Name == name {
			return &c.Webhooks[i]
		}
	}
	return nil
}
