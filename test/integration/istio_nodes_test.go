// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod that is bound to a node gets the kind of proxy that its node runs; any other pod a native one
// only while every node runs such.
func meshNodes(t *testing.T, m *mesh) {
	is := func(native bool) func(*corev1.Pod) bool {
		return func(pod *corev1.Pod) bool {
			_, is := proxy(pod)
			return is == native
		}
	}
	bound := func(to string) *corev1.Pod {
		pod := bare(m.namespace, "bound")
		pod.Spec.NodeName = to
		return pod
	}
	wants := func(t *testing.T, when string, native bool, pod *corev1.Pod) {
		t.Helper()
		got, err := dryRun(t, pod)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if !meshed(got) || !is(native)(got) {
			t.Errorf("%s: want the proxy native %t: containers %v, init containers %v",
				when, native, containerNames(got.Spec.Containers), containerNames(got.Spec.InitContainers))
		}
	}
	wants(t, "without a node", true, bare(m.namespace, "asking"))
	node(t, "mesh-fresh", "v1.33.0", "linux")
	node(t, "mesh-aged", "v1.32.9", "linux")
	m.nextLike(t, "the new node is seen", bound("mesh-fresh"), is(true))
	m.nextLike(t, "the old node is seen", bound("mesh-aged"), is(false))
	m.next(t, "one old node of two", is(false))
	wants(t, "bound to the new node", true, bound("mesh-fresh"))
	wants(t, "bound to a node that nobody knows", false, bound("mesh-nowhere"))
	asked := bare(m.namespace, "asked")
	asked.Annotations = map[string]string{"sidecar.istio.io/nativeSidecar": "true"}
	wants(t, "its author wants a native one", true, asked)

	kubelet(t, "mesh-aged", "v1.34.1")
	m.next(t, "an upgrade", is(true))
	kubelet(t, "mesh-aged", "unknown")
	m.next(t, "a version that nobody can read", is(false))
	if err := shared.Client().CoreV1().Nodes().Delete(context.Background(), "mesh-aged", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	m.next(t, "the node is gone", is(true))
}
