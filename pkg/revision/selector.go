// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/annotation"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// entries are selectors of which at most one selects any pod, in whatever revisions are installed:
// the revision that a pod's own label names, or else its namespace's, serves it; only where neither
// names one does the label inject reach the default revision. A no of the pod or of its namespace
// always holds.
func (v Values) entries() []Entry {
	podMayNot := is(annotation.Inject, metav1.LabelSelectorOpNotIn, annotation.Disabled)
	namespaceMayNot := podMayNot
	ours := is(annotation.Revision, metav1.LabelSelectorOpIn, v.Revision)
	unnamed := is(annotation.Revision, metav1.LabelSelectorOpDoesNotExist)
	enabled := is(annotation.Inject, metav1.LabelSelectorOpIn, annotation.Enabled)
	unsaid := is(annotation.Inject, metav1.LabelSelectorOpNotIn, annotation.Disabled, annotation.Enabled)

	entries := []Entry{
		{"rev.namespace.injector.pillion.dev", all(ours, namespaceMayNot), all(unnamed, podMayNot)},
		{"rev.object.injector.pillion.dev", all(namespaceMayNot), all(ours, podMayNot)},
	}
	if v.Revision != Default {
		return entries
	}
	return append(entries,
		Entry{"namespace.injector.pillion.dev", all(enabled, unnamed), all(unnamed, podMayNot)},
		Entry{"object.injector.pillion.dev", all(unsaid, unnamed), all(unnamed, enabled)},
	)
}

// outside is a selector that leaves out the namespaces without which nothing comes up again. The API
// server itself sets the label, and lets nobody change it.
func (v Values) outside(s metav1.LabelSelector) *metav1.LabelSelector {
	names := []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, v.Namespace}
	slices.Sort(names)
	out := s.DeepCopy()
	out.MatchExpressions = append(out.MatchExpressions, is(corev1.LabelMetadataName, metav1.LabelSelectorOpNotIn, slices.Compact(names)...))
	return out
}

func is(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func all(requirements ...metav1.LabelSelectorRequirement) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: requirements}
}

// Selects tells which entry of a webhook configuration selects a pod by its labels, the first if
// there are several. An entry with a selector that is not valid selects nothing. Rules and match
// conditions are not looked at.
func Selects(c *admissionregistrationv1.MutatingWebhookConfiguration, namespaceLabels, podLabels map[string]string, namespace string) (entry string, ok bool) {
	set := labels.Set{}
	maps.Copy(set, namespaceLabels)
	set[corev1.LabelMetadataName] = namespace // as the API server does, whatever the labels say
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		if matches(w.NamespaceSelector, set) && matches(w.ObjectSelector, podLabels) {
			return w.Name, true
		}
	}
	return "", false
}

// matches follows the API's rule for a webhook: no selector selects everything.
func matches(s *metav1.LabelSelector, set labels.Set) bool {
	if s == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(set)
}
