// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pillion-dev/pillion/pkg/annotation"
)

const badParameter = "logs.pillion.dev/memory"

// A person who applies a pod, or looks for the pods of a Deployment, reads why there is none and what
// to do.
func refusal(t *testing.T, in *injector) {
	ns := namespace(t, in.enrol())
	manifest := `{apiVersion: v1, kind: Pod, metadata: {name: greedy, annotations: {` + badParameter + `: 9Gi}},
spec: {containers: [{name: app, image: "registry.example/app:1"}]}}`
	_, report, err := kubectl(t, manifest, "apply", "-n", ns, "-f", "-")
	if err == nil {
		t.Fatal("a parameter above its bound was accepted")
	}
	wanted := []string{"INJ303", "metadata.annotations[" + badParameter + "]", "9Gi", "1Gi", "hint:"}
	holds(t, "kubectl", report, wanted...)

	d := deployment("greedy")
	d.Spec.Template.Annotations = map[string]string{badParameter: "9Gi"}
	if _, err := shared.Client().AppsV1().Deployments(ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	message := ""
	await(t, "the refusal in the ReplicaSet's status", func() bool {
		sets, err := shared.Client().AppsV1().ReplicaSets(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range sets.Items {
			for _, c := range set.Status.Conditions {
				message = c.Message
			}
		}
		return message != ""
	})
	holds(t, "the ReplicaSet's condition", message, wanted...)

	refused := awaitRequests(t, 1, ns, "create", "")[0]
	if refused.ResponseStatus.Code != 422 || refused.Annotations["namespace.injector.pillion.dev/reason"] != "parameter_invalid" {
		t.Errorf("HTTP %d, audit annotations %v", refused.ResponseStatus.Code, refused.Annotations)
	}
}

func holds(t *testing.T, who, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", who, want, text)
		}
	}
}

// A mistyped key is told to the person who applies the pod, with the key that was meant.
func warning(t *testing.T, in *injector) {
	ns := namespace(t, in.enrol())
	manifest := `{apiVersion: v1, kind: Pod, metadata: {name: slip, annotations: {logs.pillion.dev/memmory: 96Mi, pillion.dev/inject: enabled}},
spec: {containers: [{name: app, image: "registry.example/app:1"}]}}`
	out, report, err := kubectl(t, manifest, "apply", "-n", ns, "-f", "-")
	if err != nil || out != "pod/slip created\n" {
		t.Fatalf("%s%s", out, report)
	}
	for _, want := range []string{
		"Warning: INJ203 metadata.annotations[logs.pillion.dev/memmory]: no such key, did you mean logs.pillion.dev/memory?\n",
		"Warning: INJ202 metadata.annotations[pillion.dev/inject]: this key belongs among the labels\n",
	} {
		holds(t, "kubectl", report, want)
	}
	if n := strings.Count(report, "Warning:"); n != 2 {
		t.Errorf("%d warnings, want 2:\n%s", n, report)
	}
}

// Whatever happens to a pod after its creation is not the injector's business: a patch of it would be
// refused, or would keep the pod from being debugged.
func subresources(t *testing.T, in *injector) {
	ns := namespace(t, in.enrol())
	resources := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}}
	for name, label := range map[string]string{"with": annotation.Enabled, "without": annotation.Disabled} {
		pod := bare(ns, name)
		pod.Labels = map[string]string{annotation.Inject: label}
		pod.Spec.Containers[0].Resources = resources
		before, err := create(t, pod)
		if err != nil {
			t.Fatal(err)
		}
		if injected(before) != (name == "with") {
			t.Fatalf("%s: labels %v", name, before.Labels)
		}
		if r := awaitCreation(t, pod); r.ours() != injected(before) {
			t.Fatalf("%s: the audit log does not show the call: %v", name, r.Annotations)
		}
		for subresource, patch := range map[string]string{
			"ephemeralcontainers": `{"spec":{"ephemeralContainers":[{"name":"debug","image":"registry.example/debug:1","targetContainerName":"app"}]}}`,
			"resize":              `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"20m"}}}]}}`,
			"":                    `{"metadata":{"labels":{"touched":"true"}}}`,
		} {
			var path []string
			if subresource != "" {
				path = []string{subresource}
			}
			after, err := shared.Client().CoreV1().Pods(ns).Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, path...)
			if err != nil {
				t.Errorf("%s %s: %v", name, subresource, err)
				continue
			}
			if diff := cmp.Diff(before.Spec.InitContainers, after.Spec.InitContainers); diff != "" {
				t.Errorf("%s %s: the sidecars changed:\n%s", name, subresource, diff)
			}
		}
	}
	for _, subresource := range []string{"ephemeralcontainers", "resize", ""} {
		for _, r := range awaitRequests(t, 2, ns, "patch", subresource) {
			if r.ours() || r.ResponseStatus.Code != 200 {
				t.Errorf("%s: HTTP %d, annotations %v", r.RequestURI, r.ResponseStatus.Code, r.Annotations)
			}
		}
	}
}
