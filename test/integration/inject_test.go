// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// TestInject shows what users see of an injector with the embedded configuration. All its parts share
// one process.
func TestInject(t *testing.T) {
	in := serve(t, revision.Default)
	for name, part := range map[string]func(*testing.T, *injector){
		"workloads": workloads, "untouched": untouched, "restricted": restricted, "matrix": matrix,
		"refusal": refusal, "warning": warning, "subresources": subresources,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, in)
		})
	}
}

const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: deployment}
spec: {selector: {matchLabels: {app: deployment}}, template: {metadata: {labels: {app: deployment}}, spec: {containers: [{name: app, image: "registry.example/app:1"}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: statefulset}
spec: {serviceName: none, selector: {matchLabels: {app: statefulset}}, template: {metadata: {labels: {app: statefulset}}, spec: {containers: [{name: app, image: "registry.example/app:1"}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec: {template: {metadata: {labels: {app: job}}, spec: {restartPolicy: Never, containers: [{name: app, image: "registry.example/app:1"}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cronjob}
spec: {schedule: "0 0 1 1 *", suspend: true, jobTemplate: {spec: {template: {metadata: {labels: {app: cronjob}}, spec: {restartPolicy: Never, containers: [{name: app, image: "registry.example/app:1"}]}}}}}
`

// Each controller's pod is accepted with the sidecar, and the controller does not see it as another's.
func workloads(t *testing.T, in *injector) {
	ns := namespace(t, in.enrol())
	if _, report, err := kubectl(t, workload, "apply", "-n", ns, "-f", "-"); err != nil {
		t.Fatal(report)
	}
	if _, report, err := kubectl(t, "", "create", "job", "by-hand", "--from=cronjob/cronjob", "-n", ns); err != nil {
		t.Fatal(report)
	}
	for app, kind := range map[string]string{"deployment": "ReplicaSet", "statefulset": "StatefulSet", "job": "Job", "cronjob": "Job"} {
		pod := awaitPod(t, ns, func(pod *corev1.Pod) bool { return pod.Labels["app"] == app })
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.Kind != kind {
			t.Errorf("%s: owner %v, want a %s", app, owner, kind)
		}
		if pod.Status.Phase != corev1.PodPending {
			t.Errorf("%s: phase %s, want Pending", app, pod.Status.Phase)
		}
		wantSidecars(t, pod, "fluent-bit")
	}
}

// wantSidecars checks that a pod has exactly these native sidecars, beside its application, and that
// its record says so.
func wantSidecars(t *testing.T, pod *corev1.Pod, names ...string) {
	t.Helper()
	var got []string
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			got = append(got, c.Name)
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("pod %s has the sidecars %q, want %q", pod.Name, got, names)
	}
	if len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Name != "app" {
		t.Errorf("pod %s has other containers beside its application", pod.Name)
	}
	var record struct {
		Decision, Revision, Hash string
		Templates                []string
	}
	if err := json.Unmarshal([]byte(pod.Annotations[annotation.Status]), &record); err != nil {
		t.Fatalf("pod %s: annotation %s: %v", pod.Name, annotation.Status, err)
	}
	if !injected(pod) || record.Decision != "injected" || record.Revision != revision.Default || record.Hash == "" || len(record.Templates) == 0 {
		t.Errorf("pod %s: labels %v, record %+v", pod.Name, pod.Labels, record)
	}
}

// These pods would be skipped whatever the configuration says, so the API server does not even call:
// they start while the injector is down.
func untouched(t *testing.T, in *injector) {
	enrolled := namespace(t, in.enrol())
	mark(t, metav1.NamespaceSystem, `"enabled"`)
	defer mark(t, metav1.NamespaceSystem, "null")
	for name, c := range map[string]struct {
		namespace string
		change    func(*corev1.Pod)
	}{
		"opted-out":      {enrolled, func(p *corev1.Pod) { p.Labels[annotation.Inject] = annotation.Disabled }},
		"host-network":   {enrolled, func(p *corev1.Pod) { p.Spec.HostNetwork = true }},
		"windows":        {enrolled, func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }},
		"other-revision": {enrolled, func(p *corev1.Pod) { p.Labels[annotation.Revision] = "nobody" }},
		"kube-system":    {metav1.NamespaceSystem, func(*corev1.Pod) {}},
		"not-asked":      {"", func(p *corev1.Pod) { p.Labels = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			ns := c.namespace
			if ns == "" {
				ns = namespace(t, nil)
			}
			pod := bare(ns, "untouched-"+name)
			pod.Labels = map[string]string{annotation.Inject: annotation.Enabled}
			c.change(pod)
			got, err := create(t, pod)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = shared.Client().CoreV1().Pods(ns).Delete(context.Background(), pod.Name, metav1.DeleteOptions{}) // its namespace may have gone
			})
			if len(got.Spec.InitContainers) > 0 || got.Annotations[annotation.Status] != "" || !maps.Equal(got.Labels, pod.Labels) {
				t.Errorf("it was touched: labels %v, annotations %v", got.Labels, got.Annotations)
			}
			if r := awaitCreation(t, pod); r.ours() {
				t.Errorf("the injector was called: %v", r.Annotations)
			}
		})
	}
}

// mark sets a namespace's label to a value in JSON.
func mark(t *testing.T, namespace, value string) {
	t.Helper()
	patch := `{"metadata":{"labels":{"` + annotation.Inject + `":` + value + `}}}`
	if _, err := shared.Client().CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A namespace at the Pod Security level restricted takes pods with each of the shipped templates.
func restricted(t *testing.T, in *injector) {
	labels := in.enrol()
	labels["pod-security.kubernetes.io/enforce"] = "restricted"
	ns := namespace(t, labels)
	if _, err := create(t, bare(ns, "careless")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `PodSecurity "restricted`) {
		t.Errorf("a pod that is not restricted: %v, want it to be forbidden by Pod Security", err)
	}
	yes, no := true, false
	secrets := map[string]string{"vault.pillion.dev/secrets": "db.json=secret/data/shop/db"}
	instances := map[string]string{"sql.pillion.dev/instances": "example-project:europe-west1:shop"}
	collector := map[string]string{"otel.pillion.dev/endpoint": "collector.observability.svc:4317"}
	every := map[string]string{}
	for _, more := range []map[string]string{secrets, instances, collector} {
		maps.Copy(every, more)
	}
	for templates, c := range map[string]struct {
		parameters map[string]string
		sidecars   []string
	}{
		"log-shipper":                         {nil, []string{"fluent-bit"}},
		"vault-agent":                         {secrets, []string{"vault-agent"}},
		"sql-proxy":                           {instances, []string{"cloud-sql-proxy"}},
		"otel-agent":                          {collector, []string{"otel-agent"}},
		"observability":                       {collector, []string{"otel-agent", "fluent-bit"}},
		"vault-agent,sql-proxy,observability": {every, []string{"vault-agent", "cloud-sql-proxy", "otel-agent", "fluent-bit"}},
	} {
		pod := bare(ns, strings.ReplaceAll(templates, ",", "-"))
		pod.Annotations = maps.Clone(c.parameters)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[annotation.Templates] = templates
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
		got, err := create(t, pod)
		if err != nil {
			t.Errorf("%s: %v", templates, err)
			continue
		}
		wantSidecars(t, got, c.sidecars...)
	}
}
