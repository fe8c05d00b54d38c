// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/revision"
)

// TestIstio shows what a mesh operator sees who comes with the two ConfigMaps of istiod. All its parts
// share one process with no right beyond the documented ones.
func TestIstio(t *testing.T) {
	m := newMesh(t, revision.Default, "")
	m.serve(t, true, "--reinvocation-policy", "IfNeeded")
	t.Run("parts", func(t *testing.T) {
		for name, part := range map[string]func(*testing.T, *mesh){
			"selected": meshSelected, "workloads": meshWorkloads, "shape": meshShape, "twice": meshTwice,
			"reinvoked": meshReinvoked, "refused": meshRefused, "tag": meshTag,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				part(t, m)
			})
		}
	})
	t.Run("nodes", func(t *testing.T) { meshNodes(t, m) }) // alone: a node is everybody's
	m.lacksNothing(t)
}

// Which pods the API server asks about, and which of those get the proxy.
func meshSelected(t *testing.T, m *mesh) {
	const inject, rev, injection = "sidecar.istio.io/inject", "istio.io/rev", "istio-injection"
	spaces := map[string]map[string]string{
		"none": nil, "enabled": {injection: "enabled"}, "disabled": {injection: "disabled"}, "odd": {injection: "on"},
		"rev": {rev: "default"}, "canary": {rev: "canary"}, "both": {injection: "enabled", rev: "canary"},
	}
	names := map[string]string{"system": metav1.NamespaceSystem}
	for space, labels := range spaces {
		names[space] = "mesh-selected-" + space
		if err := shared.Namespace(t.Context(), names[space], labels); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeNamespace(t, names[space]) })
	}
	yes, no := map[string]string{inject: "true"}, map[string]string{inject: "false"}
	ours, theirs := map[string]string{rev: "default"}, map[string]string{rev: "canary"}
	never := map[string]string{"job.example/short": "true"} // of the example's neverInjectSelector
	cases := []struct {
		space               string
		labels, annotations map[string]string
		node                bool // on the node's network
		want                bool
	}{
		{space: "enabled", want: true},
		{space: "enabled", labels: yes, want: true},
		{space: "enabled", labels: no},
		{space: "enabled", annotations: no},
		{space: "enabled", labels: yes, annotations: no, want: true},
		{space: "enabled", labels: map[string]string{inject: "maybe"}, want: true},
		{space: "enabled", labels: theirs, want: true},
		{space: "enabled", labels: never},
		{space: "enabled", labels: map[string]string{inject: "true", "job.example/short": "true"}, want: true},
		{space: "enabled", node: true},
		{space: "disabled"},
		{space: "disabled", labels: yes},
		{space: "disabled", labels: ours},
		{space: "odd"},
		{space: "odd", labels: yes},
		{space: "rev", want: true},
		{space: "rev", labels: no},
		{space: "rev", labels: theirs, want: true},
		{space: "canary"},
		{space: "canary", labels: yes},
		{space: "canary", labels: ours},
		{space: "both", want: true},
		{space: "none"},
		{space: "none", labels: yes, want: true},
		{space: "none", labels: map[string]string{inject: "TRUE"}},
		{space: "none", annotations: yes},
		{space: "none", labels: ours, want: true},
		{space: "none", labels: map[string]string{rev: "default", inject: "false"}},
		{space: "none", labels: theirs},
		{space: "none", labels: map[string]string{rev: "canary", inject: "true"}},
		{space: "system", labels: yes},
		{space: "system", labels: ours},
	}
	for i, c := range cases {
		pod := bare(names[c.space], "mesh-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		pod.Labels, pod.Annotations, pod.Spec.HostNetwork = c.labels, c.annotations, c.node
		got, err := create(t, pod)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		t.Cleanup(func() {
			_ = shared.Client().CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{}) // its namespace may have gone
		})
		untouched := len(got.Spec.InitContainers) == 0 && len(got.Spec.Containers) == 1 && len(got.Annotations) == len(c.annotations)
		if meshed(got) != c.want || untouched == c.want {
			t.Errorf("%+v: injected %t, untouched %t", c, meshed(got), untouched)
		}
	}
}

// Each controller's pod gets the proxy, which knows what it works for.
func meshWorkloads(t *testing.T, m *mesh) {
	ns := namespace(t, m.enrol())
	if _, report, err := kubectl(t, workload, "apply", "-n", ns, "-f", "-"); err != nil {
		t.Fatal(report)
	}
	if _, report, err := kubectl(t, "", "create", "job", "cronjob-29000000", "--from=cronjob/cronjob", "-n", ns); err != nil {
		t.Fatal(report)
	}
	for app, owner := range map[string]string{
		"deployment":  "kubernetes://apis/apps/v1/namespaces/" + ns + "/deployments/deployment",
		"statefulset": "kubernetes://apis/apps/v1/namespaces/" + ns + "/statefulsets/statefulset",
		"job":         "kubernetes://apis/batch/v1/namespaces/" + ns + "/jobs/job",
		"cronjob":     "kubernetes://apis/batch/v1/namespaces/" + ns + "/cronjobs/cronjob",
	} {
		pod := awaitPod(t, ns, func(pod *corev1.Pod) bool { return pod.Labels["app"] == app })
		if _, native := proxy(pod); !meshed(pod) || !native {
			t.Errorf("%s: containers %v, init containers %v", app, pod.Spec.Containers, pod.Spec.InitContainers)
		}
		if got := env(pod, "ISTIO_META_OWNER"); got != owner {
			t.Errorf("%s: owner %q, want %q", app, got, owner)
		}
		if pod.Labels["service.istio.io/canonical-name"] != app || pod.Labels["security.istio.io/tlsMode"] != "istio" {
			t.Errorf("%s: labels %v", app, pod.Labels)
		}
	}
}

// An annotation that is wrong is told to the person who applies the pod, with its value and the rule; so
// are all of them.
func meshRefused(t *testing.T, m *mesh) {
	ns := namespace(t, m.enrol())
	manifest := `{apiVersion: v1, kind: Pod, metadata: {name: wrong, annotations: {sidecar.istio.io/interceptionMode: tproxy, sidecar.istio.io/proxyCPU: lots}},
spec: {containers: [{name: app, image: "registry.example/app:1"}]}}`
	_, report, err := kubectl(t, manifest, "apply", "-n", ns, "-f", "-")
	if err == nil {
		t.Fatal("wrong annotations were accepted")
	}
	holds(t, "kubectl", report, "sidecar.istio.io/interceptionMode", "tproxy", "REDIRECT", "sidecar.istio.io/proxyCPU", "lots")
}
