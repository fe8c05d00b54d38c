// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// HookSuffix ends the names of the hooks that inject; tools find them by it.
const HookSuffix = "sidecar-injector.istio.io"

// Entries select the pods of a revision as the original's own webhook configuration does: at most one
// of them selects a pod.
func Entries(rev string) []revision.Entry {
	if rev == "" {
		rev = revision.Default
	}
	may := is(injectKey, metav1.LabelSelectorOpNotIn, "false")
	ours := is(revisionKey, metav1.LabelSelectorOpIn, rev)
	unnamed := is(revisionKey, metav1.LabelSelectorOpDoesNotExist)
	unlabelled := is(namespaceKey, metav1.LabelSelectorOpDoesNotExist)
	entries := []revision.Entry{
		entry("rev.namespace", all(ours, unlabelled), all(may)),
		entry("rev.object", all(unnamed, unlabelled), all(may, ours)),
	}
	if rev != revision.Default {
		return entries
	}
	return append(entries,
		entry("namespace", all(is(namespaceKey, metav1.LabelSelectorOpIn, "enabled")), all(may)),
		entry("object", all(unlabelled, unnamed), all(is(injectKey, metav1.LabelSelectorOpIn, "true"), unnamed)),
	)
}

func entry(name string, namespace, pod metav1.LabelSelector) revision.Entry {
	return revision.Entry{Name: name + "." + HookSuffix, NamespaceSelector: namespace, ObjectSelector: pod}
}

func is(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func all(requirements ...metav1.LabelSelectorRequirement) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: requirements}
}

// The custom resource from which pods take settings of their proxy.
const (
	ResourceGroup = "networking.istio.io"
	ResourceName  = "proxyconfigs"
)

// ResourceVersions are the versions of the resource that are read, the best first.
func ResourceVersions() []string { return []string{"v1", "v1beta1"} }

// NewMore reads the ProxyConfig resources of a cluster. One that cannot be read is left out, and told.
func NewMore(objects [][]byte) (More, []error) {
	var list []mesh.Resource
	var faults []error
	for _, raw := range objects {
		one, err := mesh.ParseResource(raw)
		if err != nil {
			faults = append(faults, fmt.Errorf("read the ProxyConfig %s/%s: %w", one.Namespace, one.Name, err))
			continue
		}
		list = append(list, one)
	}
	return More{Resources: mesh.NewResources(list)}, faults
}
