// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// While a node does not run native sidecars, the pods that may land on it get an ordinary one: the
// pod of a DaemonSet, say. It does not run in parallel, for a node is everybody's.
func TestOldNodesGetOrdinarySidecars(t *testing.T) {
	in := serve(t, "old-nodes")
	if pod, err := dryRun(t, bare(in.namespace, "before")); err != nil || isOrdinary(pod) {
		t.Errorf("an ordinary sidecar without any node: %v", err)
	}
	node(t, "aged", "v1.28.15", "linux")
	await(t, "the injector sees the node", func() bool {
		pod, err := dryRun(t, bare(in.namespace, "anywhere"))
		return err == nil && isOrdinary(pod)
	})
	away := bare(in.namespace, "away")
	away.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "another"}
	if pod, err := dryRun(t, away); err != nil || !injected(pod) || isOrdinary(pod) {
		t.Errorf("a pod that cannot land on the node has an ordinary sidecar: %v", err)
	}

	template := deployment("agent").Spec.Template
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}
	if _, err := shared.Client().AppsV1().DaemonSets(in.namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := awaitPod(t, in.namespace, func(pod *corev1.Pod) bool { return pod.Labels["app"] == "agent" })
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.Kind != "DaemonSet" || !isOrdinary(pod) {
		t.Errorf("owner %v, containers %v, init containers %v", owner, pod.Spec.Containers, pod.Spec.InitContainers)
	}

	kubelet(t, "aged", "v1.37.2")
	await(t, "an upgrade brings native sidecars", func() bool {
		pod, err := dryRun(t, bare(in.namespace, "afterwards"))
		return err == nil && injected(pod) && !isOrdinary(pod)
	})
}

// isOrdinary tells whether the sidecar stands with the application.
func isOrdinary(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == "fluent-bit" })
}
