// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// hook is an entry of the webhook configuration of a revision, ready to be asked about a pod that no API
// server has sent: whoever wants to know why a pod has no sidecar wants to know this first.
type hook struct {
	name           string
	revision       string
	namespace, pod labels.Selector
}

func hooks(rev string) []hook {
	rev = cmp.Or(rev, revision.Default)
	var out []hook
	for _, e := range Entries(rev) {
		out = append(out, hook{e.Name, rev, compiled(e.NamespaceSelector), compiled(e.ObjectSelector)})
	}
	return out
}

// compiled is a selector of Entries, all of which are valid; one that is not would select nothing.
func compiled(s metav1.LabelSelector) labels.Selector {
	out, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return labels.Nothing()
	}
	return out
}

// webhook asks the selectors of the revision's webhook. A pod whose label forbids injection is left to
// the rule that says so.
func (r rules) webhook(s subject) answer {
	given := s.head.Metadata.Labels
	if given[injectKey] == "false" {
		return silent("the pod's label says no")
	}
	for _, h := range r.hooks {
		if h.namespace.Matches(labels.Set(s.labels)) && h.pod.Matches(labels.Set(given)) {
			return silent(h.name + " selects it")
		}
	}
	return skip(reason.NotSelected, fmt.Sprintf("the one of revision %s is not called: the namespace has %s, the pod %s",
		r.hooks[0].revision, held(s.labels, namespaceKey, revisionKey), held(given, injectKey, revisionKey)))
}

// held tells which of the labels are there, and what they say.
func held(given map[string]string, keys ...string) string {
	var out []string
	for _, key := range keys {
		if v, ok := given[key]; ok {
			out = append(out, key+": "+shown(v))
		}
	}
	if len(out) == 0 {
		return "neither " + strings.Join(keys, " nor ")
	}
	return strings.Join(out, " and ")
}
