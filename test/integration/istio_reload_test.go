// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	meshReloadOK  = "injector_config_last_reload_successful"
	meshComplaint = "the new configuration cannot be used; the old one stays in force"
)

// The ConfigMaps are edited while pods come and go: the next pods show what can be used, and nothing
// else ever shows. Templates and values go into force together.
func TestIstioReload(t *testing.T) {
	t.Parallel()
	m := newMesh(t, "pillion", "") // as the documentation calls it
	m.serveAsDocumented(t)
	meshRegistered(t, m)
	meshCounted(t, m)
	meshEdited(t, m)
	meshTogether(t, m)
	meshBroken(t, m)
	m.lacksNothing(t)
}

// meshRegistered looks at the webhooks that stand in the cluster without any flag.
func meshRegistered(t *testing.T, m *mesh) {
	t.Helper()
	var names []string
	for _, h := range m.stored(t).Webhooks {
		names = append(names, h.Name)
		if *h.ReinvocationPolicy != admissionregistrationv1.NeverReinvocationPolicy || *h.FailurePolicy != admissionregistrationv1.Fail || *h.TimeoutSeconds != 10 {
			t.Errorf("%s: reinvocation %s, failure %s, %d seconds", h.Name, *h.ReinvocationPolicy, *h.FailurePolicy, *h.TimeoutSeconds)
		}
	}
	if diff := cmp.Diff([]string{"rev.namespace.sidecar-injector.istio.io", "rev.object.sidecar-injector.istio.io"}, names); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
}

// meshCounted holds the metrics of the mesh's dashboards to what really happened.
func meshCounted(t *testing.T, m *mesh) {
	t.Helper()
	counts := func() map[string]float64 {
		out := map[string]float64{}
		for _, name := range []string{"requests_total", "success_total", "skip_total", "failure_total", "time_seconds_count"} {
			out[name] = m.metric(t, "sidecar_injection_"+name)
		}
		out["own"] = m.metric(t, "injector_admission_requests_total")
		return out
	}
	before := counts()
	skipped, wrong := bare(m.namespace, "skipped"), bare(m.namespace, "wrong")
	skipped.Annotations = map[string]string{"sidecar.istio.io/inject": "false"}
	wrong.Annotations = map[string]string{"sidecar.istio.io/interceptionMode": "none"}
	for range 2 {
		if pod, err := dryRun(t, bare(m.namespace, "asking")); err != nil || !meshed(pod) {
			t.Fatal(err)
		}
	}
	if pod, err := dryRun(t, skipped); err != nil || meshed(pod) {
		t.Fatalf("a pod that says no: %v", err)
	}
	if _, err := dryRun(t, wrong); err == nil {
		t.Fatal("a wrong annotation was accepted")
	}
	want := map[string]float64{"requests_total": 4, "success_total": 2, "skip_total": 1, "failure_total": 1, "time_seconds_count": 4, "own": 4}
	var diff string
	await(t, "the requests are counted", func() bool { // a count comes a moment after its answer
		got := counts()
		for name, n := range before {
			got[name] -= n
		}
		diff = cmp.Diff(want, got)
		return got["own"] >= want["own"] && got["requests_total"] >= want["requests_total"]
	})
	if diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

// meshEdited edits one thing at a time.
func meshEdited(t *testing.T, m *mesh) {
	t.Helper()
	m.next(t, "the example", func(pod *corev1.Pod) bool { return proxyArg(pod, "--proxyLogLevel=warning") })
	edit(t, m.config, "values", `"logLevel": "warning"`, `"logLevel": "debug"`)
	m.put(t, m.config)
	m.next(t, "another log level", func(pod *corev1.Pod) bool { return proxyArg(pod, "--proxyLogLevel=debug") })

	edit(t, m.config, "config", "- sidecar\n        - --domain", "- sidecar\n        - --concurrency=2\n        - --domain")
	m.put(t, m.config)
	m.next(t, "another template", func(pod *corev1.Pod) bool {
		return proxyArg(pod, "--concurrency=2") && proxyArg(pod, "--proxyLogLevel=debug")
	})

	edit(t, m.mesh, "mesh", "proxyMetadata:\n", "proxyMetadata:\n    MESH_EDITED: \"yes\"\n")
	m.put(t, m.mesh)
	m.next(t, "other metadata of the mesh", func(pod *corev1.Pod) bool { return env(pod, "MESH_EDITED") == "yes" })
}

// meshTogether edits templates and values in one write, again and again: no pod gets some of each, and
// none an earlier version after a later one.
func meshTogether(t *testing.T, m *mesh) {
	t.Helper()
	edit(t, m.config, "config", "- sidecar\n", "- sidecar\n        - --edition=0\n")
	edit(t, m.config, "values", `"tag": "1.0"`, `"tag": "0"`)
	seen := 0
	for n := 1; n <= 6; n++ {
		last, now := strconv.Itoa(n-1), strconv.Itoa(n)
		edit(t, m.config, "config", "--edition="+last, "--edition="+now)
		edit(t, m.config, "values", `"tag": "`+last+`"`, `"tag": "`+now+`"`)
		m.put(t, m.config)
		m.next(t, "edition "+now, func(pod *corev1.Pod) bool {
			c, _ := proxy(pod)
			_, tag, _ := strings.Cut(c.Image, ":")
			at, err := strconv.Atoi(tag)
			if tag == "1.0" {
				return false // before the first edition
			}
			if err != nil || !proxyArg(pod, "--edition="+tag) || at < seen {
				t.Fatalf("the image %s comes with the arguments %q, after edition %d", c.Image, c.Args, seen)
			}
			seen = at
			return at == n
		})
	}
}

// meshBroken makes edits that cannot be used. Pods go on being injected as before; the metric and the
// log tell. What is mended counts again, be it by going back.
func meshBroken(t *testing.T, m *mesh) {
	t.Helper()
	same := func(pod *corev1.Pod) bool {
		return proxyArg(pod, "--edition=6") && proxyArg(pod, "--proxyLogLevel=debug") && env(pod, "MESH_EDITED") == "yes"
	}
	line := 1 + strings.Count(m.config.Data["config"][:strings.Index(m.config.Data["config"], "- --edition=6")], "\n")
	for _, c := range []struct {
		name          string
		mesh          bool // or the injector's ConfigMap
		key, old, now string
		told          []string
	}{
		{"a template that does not parse", false, "config", "- --edition=6", "- {{ if }}", []string{"sidecar", "config:" + strconv.Itoa(line)}},
		{"a function that is none", false, "config", "- --edition=6", "- {{ nothing 1 }}", []string{"sidecar", "nothing", "config:" + strconv.Itoa(line)}},
		{"a template that fails on every pod", false, "config", "- --edition=6", "- {{ index .Values.global `nowhere` `name` }}", []string{"sidecar", "on a sample pod: index", "config:" + strconv.Itoa(line)}},
		{"a number for a text", false, "values", `"cpu": "2"`, `"cpu": [2]`, []string{"cpu"}},
		{"no YAML", false, "config", "policy: enabled", "policy: [enabled", []string{"config"}},
		{"a wrong type in the mesh", true, "mesh", "enablePrometheusMerge: true", "enablePrometheusMerge: perhaps", []string{"enablePrometheusMerge"}},
	} {
		of := m.config
		if c.mesh {
			of = m.mesh
		}
		n := len(m.said(t))
		edit(t, of, c.key, c.old, c.now)
		m.put(t, of)
		text := m.complained(t, c.name, n, same)
		holds(t, c.name+": the log", text, c.told...)
		edit(t, of, c.key, c.now, c.old) // back to what is in force
		m.put(t, of)
		m.next(t, c.name+": taken back", func(pod *corev1.Pod) bool { return same(pod) && m.metric(t, meshReloadOK) == 1 })
	}

	n := len(m.said(t))
	if err := configMaps().Delete(t.Context(), m.config.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	holds(t, "the ConfigMap is gone: the log", m.complained(t, "the ConfigMap is gone", n, same), m.config.Name)
	edit(t, m.config, "values", `"logLevel": "debug"`, `"logLevel": "info"`)
	m.put(t, m.config)
	m.next(t, "it is there again, edited", func(pod *corev1.Pod) bool {
		return proxyArg(pod, "--proxyLogLevel=info") && m.metric(t, meshReloadOK) == 1
	})
}

// complained waits for the complaint about an edit and the metric of it, while pods stay the same, and
// gives the log after its first n bytes.
func (m *mesh) complained(t *testing.T, what string, n int, same func(*corev1.Pod) bool) string {
	t.Helper()
	text := ""
	m.next(t, what, func(pod *corev1.Pod) bool {
		if !same(pod) {
			t.Fatalf("%s: a pod shows it: %v", what, pod.Spec.InitContainers)
		}
		text = m.said(t)[n:]
		return strings.Contains(text, meshComplaint) && m.metric(t, meshReloadOK) == 0
	})
	m.next(t, what+": one more", same)
	return text
}
