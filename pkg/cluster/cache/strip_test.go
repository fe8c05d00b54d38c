// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

func TestStrip(t *testing.T) {
	full := metav1.ObjectMeta{
		Name: "x", UID: "1", ResourceVersion: "7", Generation: 3, Finalizers: []string{"f"},
		Labels:        map[string]string{"l": "1"},
		Annotations:   map[string]string{"a": "1", corev1.LastAppliedConfigAnnotation: "{}"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}
	kept := metav1.ObjectMeta{Name: "x", UID: "1", ResourceVersion: "7", Labels: full.Labels, Annotations: map[string]string{"a": "1"}}
	bare := kept
	bare.Annotations = nil
	kubelet := corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.28.0"}}
	whole := kubelet
	whole.Images = []corev1.ContainerImage{{Names: []string{"registry.example/app:1"}}}
	whole.NodeInfo.OperatingSystem = "windows"
	unmanaged := full
	unmanaged.ManagedFields = nil
	hooks := []admissionregistrationv1.MutatingWebhook{{Name: "w"}}
	tomb := toolscache.DeletedFinalStateUnknown{Key: "x"}

	for name, c := range map[string]struct {
		reason   string
		strip    func(any) (any, error)
		in, want any
	}{
		"namespace": {
			"a template reads labels and annotations only", stripNamespace,
			&metav1.PartialObjectMetadata{ObjectMeta: full}, &metav1.PartialObjectMetadata{ObjectMeta: kept},
		},
		"node": {
			"native sidecars ask for the labels and the kubelet's version", stripNode,
			&corev1.Node{ObjectMeta: full, Spec: corev1.NodeSpec{ProviderID: "p"}, Status: whole},
			&corev1.Node{ObjectMeta: bare, Status: kubelet},
		},
		"configuration": {
			"writers compare the hooks", stripConfiguration,
			&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: full, Webhooks: hooks},
			&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: unmanaged, Webhooks: hooks},
		},
		"tombstone": {"an informer may lose sight of a deletion", stripNode, tomb, tomb},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // an object can come through twice
				got, err := c.strip(c.in)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
				c.in = got
			}
		})
	}
}
