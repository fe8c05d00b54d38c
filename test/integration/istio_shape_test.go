// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// meshPod is a pod with what the mesh has to change: probes, scraping, and wishes of its author.
const meshPod = `
apiVersion: v1
kind: Pod
metadata:
  name: shop
  labels: {app: shop, version: v2}
  annotations:
    prometheus.io/scrape: "true"
    prometheus.io/port: "9100"
    sidecar.istio.io/userVolumeMount: '{"scratch": {"mountPath": "/scratch"}}'
spec:
  initContainers:
  - {name: migrate, image: "registry.example/migrate:1"}
  containers:
  - name: app
    image: registry.example/app:1
    ports: [{name: web, containerPort: 8080}, {name: metrics, containerPort: 9100}]
    readinessProbe: {httpGet: {path: /ready, port: web}, periodSeconds: 7}
    livenessProbe: {tcpSocket: {port: 8080}}
  - {name: logs, image: "registry.example/logs:1"}
  - name: istio-proxy
    image: auto
    env: [{name: CA_ADDR, value: "ca.example:15012"}]
  volumes:
  - {name: scratch, emptyDir: {}}
`

func shopIn(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(meshPod), pod); err != nil {
		t.Fatal(err)
	}
	pod.Namespace = namespace
	return pod
}

func containerNames(list []corev1.Container) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

// The pod that the API server stores is the one that the mesh runs: the proxy in its place, probes and
// scraping by way of it, and the author's wishes kept.
func meshShape(t *testing.T, m *mesh) {
	pod, err := create(t, shopIn(t, namespace(t, m.enrol())))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{"containers": containerNames(pod.Spec.Containers), "init containers": containerNames(pod.Spec.InitContainers)}
	want := map[string]any{"containers": []string{"app", "logs"}, "init containers": []string{meshInit, meshProxy, "migrate"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	c, _ := proxy(pod)
	if c.Image != "registry.example/mesh/proxyv2:1.0" || c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Errorf("the proxy is %s, restarted %v", c.Image, c.RestartPolicy)
	}
	if c.TerminationMessagePath == "" || c.ReadinessProbe == nil || c.ReadinessProbe.FailureThreshold != 3 || c.ReadinessProbe.HTTPGet.Scheme != corev1.URISchemeHTTP {
		t.Errorf("the API server's defaults are not there: %+v", c)
	}
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	if mounts["scratch"] != "/scratch" || mounts["istio-token"] != "/var/run/secrets/tokens" {
		t.Errorf("mounts of the proxy %v", mounts)
	}
	if ca := env(pod, "CA_ADDR"); ca != "ca.example:15012" {
		t.Errorf("the author's CA_ADDR is %q", ca)
	}
	meshShapeOfApp(t, pod)
}

func meshShapeOfApp(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	app := pod.Spec.Containers[0]
	for path, probe := range map[string]*corev1.Probe{"/app-health/app/readyz": app.ReadinessProbe, "/app-health/app/livez": app.LivenessProbe} {
		if probe.HTTPGet == nil || probe.TCPSocket != nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.IntValue() != 15020 {
			t.Errorf("want a probe by way of the proxy at %s, got %+v", path, probe.ProbeHandler)
		}
	}
	if app.ReadinessProbe.PeriodSeconds != 7 {
		t.Errorf("the author's period became %d", app.ReadinessProbe.PeriodSeconds)
	}
	var probers map[string]struct {
		HTTPGet   *corev1.HTTPGetAction
		TCPSocket *corev1.TCPSocketAction
	}
	if err := json.Unmarshal([]byte(env(pod, "ISTIO_KUBE_APP_PROBERS")), &probers); err != nil {
		t.Fatal(err)
	}
	ready, live := probers["/app-health/app/readyz"].HTTPGet, probers["/app-health/app/livez"].TCPSocket
	if ready == nil || ready.Path != "/ready" || ready.Port.IntValue() != 8080 || live == nil || live.Port.IntValue() != 8080 {
		t.Errorf("the proxy is told of the probes %+v", probers)
	}
	scraping := map[string]string{}
	for _, key := range []string{"scrape", "port", "path"} {
		scraping[key] = pod.Annotations["prometheus.io/"+key]
	}
	if diff := cmp.Diff(map[string]string{"scrape": "true", "port": "15020", "path": "/stats/prometheus"}, scraping); diff != "" {
		t.Errorf("scraping (-want +got):\n%s", diff)
	}
	if text := env(pod, "ISTIO_PROMETHEUS_ANNOTATIONS"); text != `{"scrape":"true","path":"","port":"9100"}` {
		t.Errorf("the proxy is told to scrape %s", text)
	}
	if pod.Labels["service.istio.io/canonical-name"] != "shop" || pod.Labels["service.istio.io/canonical-revision"] != "v2" || pod.Annotations["kubectl.kubernetes.io/default-container"] != "app" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
}

// anew is a created pod as somebody would create it again.
func anew(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, Annotations: pod.Annotations},
		Spec:       *pod.Spec.DeepCopy(),
	}
}

// wantSame compares all that a pod's author, a webhook or a template may have written.
func wantSame(t *testing.T, what string, want, got *corev1.Pod) {
	t.Helper()
	if diff := cmp.Diff(anew(want), anew(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A pod that has been injected is as it should be: made from what the API server stored, it comes out
// the same, with all that the API server has set by default.
func meshTwice(t *testing.T, m *mesh) {
	ns := namespace(t, m.enrol())
	classic := shopIn(t, ns)
	classic.Name, classic.Annotations["sidecar.istio.io/nativeSidecar"] = "classic", "false"
	traced := shopIn(t, ns)
	traced.Name, traced.Annotations["inject.istio.io/templates"] = "traced", "traced"
	for _, pod := range []*corev1.Pod{shopIn(t, ns), classic, traced, bare(ns, "bare")} {
		t.Run(pod.Name, func(t *testing.T) {
			first, err := dryRun(t, pod)
			if err != nil {
				t.Fatal(err)
			}
			if _, native := proxy(first); !meshed(first) || native != (pod.Name != "classic") {
				t.Fatalf("native %t: %v", native, first.Annotations)
			}
			if want := map[bool]string{true: "10", false: ""}[pod.Name == "traced"]; env(first, "TRACING_SAMPLING") != want {
				t.Errorf("the second template set %q, want %q", env(first, "TRACING_SAMPLING"), want)
			}
			second, err := dryRun(t, anew(first))
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "the second injection", first, second)
		})
	}
}

// Another webhook, called after ours, changes the pod; the API server then asks us again. Nothing comes
// twice, and nothing that it added to the author's containers or to the proxy is lost.
func meshReinvoked(t *testing.T, m *mesh) {
	ns := namespace(t, m.enrol())
	stranger(t, ns)
	pod := shopIn(t, ns)
	await(t, "the API server knows the other webhook", func() bool {
		dry, err := dryRun(t, pod)
		return err == nil && dry.Labels["stranger"] == "was-here"
	})
	got, err := create(t, pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{meshInit, meshProxy, "stranger", "migrate"}, containerNames(got.Spec.InitContainers)); diff != "" {
		t.Errorf("init containers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"app", meshInit, meshProxy, "logs", "migrate", "stranger"}, marked(got)); diff != "" {
		t.Errorf("containers with the stranger's variable (-want +got):\n%s", diff)
	}
	if ca := env(got, "CA_ADDR"); ca != "ca.example:15012" {
		t.Errorf("the author's CA_ADDR is %q", ca)
	}
	r := awaitCreation(t, pod)
	hook := mutation{m.configuration(), "namespace.sidecar-injector.istio.io", true}
	if diff := cmp.Diff([]mutation{hook}, r.calls(t, "1")); diff != "" {
		t.Errorf("second round (-want +got):\n%s", diff)
	}
	meshShapeOfApp(t, got)
}

// meshTagged is a tag of the revision, as istioctl makes one: named and labelled in its way, and with a
// path that tells of another cluster.
const meshTagged = "istio-revision-tag-prod"

// A tag leads to us once we have written our bundle into it. Its path sets the cluster and the network;
// of that cluster's nodes nothing is known, so the proxy is an ordinary container.
func meshTag(t *testing.T, m *mesh) {
	bind(t, m.user(), false, meshTagged)
	url, effects := m.url+"/cluster/east/net/north", admissionregistrationv1.SideEffectClassNone
	tag := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: meshTagged, Labels: map[string]string{"istio.io/rev": m.revision, "istio.io/tag": "prod"}},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "rev.namespace.sidecar-injector.istio.io",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"istio.io/rev": "prod"}},
			SideEffects:             &effects,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	if _, err := configurations().Create(t.Context(), tag, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := configurations().Delete(context.Background(), meshTagged, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	ns := namespace(t, map[string]string{"istio.io/rev": "prod"})
	var pod *corev1.Pod
	await(t, "a pod by the tag", func() bool {
		var err error
		pod, err = dryRun(t, bare(ns, "tagged")) // refused until the bundle is there
		return err == nil && meshed(pod)
	})
	if cluster, network := env(pod, "ISTIO_META_CLUSTER_ID"), env(pod, "ISTIO_META_NETWORK"); cluster != "east" || network != "north" {
		t.Errorf("cluster %q, network %q", cluster, network)
	}
	if _, native := proxy(pod); native || pod.Labels["topology.istio.io/network"] != "north" || pod.Annotations["istio.io/rev"] != m.revision {
		t.Errorf("native %t, labels %v, annotations %v", native, pod.Labels, pod.Annotations)
	}
	second, err := dryRun(t, anew(pod))
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the second injection", pod, second)
}
