// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// deployment is one replica of one container.
func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}}},
			},
		},
	}
}

// awaitPod waits for the first pod of a namespace that is as wanted.
func awaitPod(t *testing.T, namespace string, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A watch without a version begins with the pods that are there already.
	w, err := shared.Client().CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && wanted(pod) {
			return pod
		}
	}
	t.Fatalf("no such pod in %s within a minute", namespace)
	return nil
}

func TestDeploymentBecomesPod(t *testing.T) {
	ns := namespace(t, nil)
	if _, err := shared.Client().AppsV1().Deployments(ns).Create(t.Context(), deployment("app"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	unschedulable := func(pod *corev1.Pod) bool {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
				return true
			}
		}
		return false
	}
	pod := awaitPod(t, ns, unschedulable)
	if pod.Status.Phase != corev1.PodPending {
		t.Errorf("phase %s, want Pending: there is no node", pod.Status.Phase)
	}
	if pod.Spec.ServiceAccountName != "default" || len(pod.Spec.Volumes) != 1 {
		t.Errorf("ServiceAccount admission did not see the pod: account %q, %d volumes", pod.Spec.ServiceAccountName, len(pod.Spec.Volumes))
	}
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.Kind != "ReplicaSet" {
		t.Errorf("owner %v, want a ReplicaSet", owner)
	}
}

func TestServerIsThePinnedRelease(t *testing.T) {
	version, err := shared.Client().Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	pins, err := os.ReadFile("../cluster/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(pins), "k8s.io/kubernetes "+version.GitVersion) {
		t.Errorf("the server is %s, which test/cluster/go.mod does not pin", version.GitVersion)
	}
}

func TestKubectlAndAuditLog(t *testing.T) {
	ns := namespace(t, nil)
	manifest := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"by-hand"},"spec":{"containers":[{"name":"app","image":"registry.example/app:1"}]}}`
	out, err := shared.Kubectl(t.Context(), manifest, "apply", "-n", ns, "-f", "-", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	if out != "pod/by-hand\n" {
		t.Errorf("kubectl said %q", out)
	}
	log, err := os.ReadFile(shared.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	created := `"requestURI":"/api/v1/namespaces/` + ns + `/pods`
	found := false
	for line := range strings.Lines(string(log)) {
		found = found || strings.Contains(line, created) && strings.Contains(line, `"verb":"create"`) && strings.Contains(line, `"requestObject"`)
	}
	if !found {
		t.Error("the audit log does not hold the pod as it was sent")
	}
	if _, err := shared.Kubectl(t.Context(), "", "get", "pod", "nobody", "-n", ns); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("kubectl of a missing pod: %v, want NotFound", err)
	}
}

func TestRightsAreChecked(t *testing.T) {
	client, err := kubernetes.NewForConfig(as("somebody", "system:authenticated"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a user without any binding lists all Secrets: %v, want Forbidden", err)
	}
}
