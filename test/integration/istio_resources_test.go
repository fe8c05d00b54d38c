// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// proxyConfigs is the definition of the mesh's resource, as far as the API server needs one.
const proxyConfigs = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: proxyconfigs.networking.istio.io}, spec: {
  group: networking.istio.io, scope: Namespaced, names: {plural: proxyconfigs, singular: proxyconfig, kind: ProxyConfig, listKind: ProxyConfigList},
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

// ProxyConfig resources count from when they are there until they are gone: nearer ones over farther
// ones. There is no definition of them at first, then one that the injector may not read; pods go on
// meanwhile.
func TestIstioProxyConfigs(t *testing.T) {
	t.Parallel()
	m := newMesh(t, "mesh-tuned", "-mesh-tuned")
	const root = "mesh-tuned-root" // of this mesh alone, since the others' pods must not change
	if err := shared.Namespace(t.Context(), root, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeNamespace(t, root) })
	m.mesh.Data["mesh"] += "rootNamespace: " + root + "\n"
	m.put(t, m.mesh)
	m.serve(t, false)
	run := func(manifest string, args ...string) {
		t.Helper()
		if _, report, err := kubectl(t, manifest, args...); err != nil {
			t.Fatal(report)
		}
	}
	run(proxyConfigs, "apply", "-f", "-")
	t.Cleanup(func() { // a test that ended early left it
		_, _ = shared.Kubectl(context.Background(), "", "delete", "crd", "proxyconfigs.networking.istio.io", "--ignore-not-found", "--wait=false")
	})
	run("", "wait", "--for=condition=Established", "crd/proxyconfigs.networking.istio.io", "--timeout=60s")
	put := func(namespace, name, spec string) {
		t.Helper()
		run(fmt.Sprintf(`{apiVersion: networking.istio.io/v1beta1, kind: ProxyConfig, metadata: {name: %s, namespace: %s}, spec: {%s}}`, name, namespace, spec), "apply", "-f", "-")
	}
	put(root, "everywhere", `concurrency: 3, environmentVariables: {TUNED: root, ROOT: "yes"}`)
	await(t, "the resource is found, and may not be listed", func() bool {
		return m.told(t, "ProxyConfig resources cannot be read; the last ones seen count") == 1
	})
	m.next(t, "pods go on", func(pod *corev1.Pod) bool { return env(pod, "TUNED") == "" })
	m.allowResources(t)

	// tuned tells whether a pod has the values; those of the root namespace stay where nearer ones
	// have none.
	tuned := func(name, threads string) func(*corev1.Pod) bool {
		return func(pod *corev1.Pod) bool {
			return env(pod, "TUNED") == name && concurrency(t, pod) == threads && (env(pod, "ROOT") == "yes") == (name != "")
		}
	}
	chosen := bare(m.namespace, "chosen")
	chosen.Labels = map[string]string{"tier": "front"}
	own := bare(m.namespace, "own")
	own.Annotations = map[string]string{"proxy.istio.io/config": "concurrency: 7\nproxyMetadata: {TUNED: annotation}\n"}
	m.next(t, "of the root namespace", tuned("root", "3"))
	put(m.namespace, "here", `concurrency: 4, environmentVariables: {TUNED: here}`)
	m.next(t, "of the pod's namespace", tuned("here", "4"))
	m.nextLike(t, "an annotation is nearer", own, tuned("annotation", "7"))
	put(m.namespace, "few", `selector: {matchLabels: {tier: front}}, concurrency: 5, environmentVariables: {TUNED: few}`)
	m.nextLike(t, "with a selector", chosen, tuned("few", "5"))
	m.next(t, "which selects others", tuned("here", "4"))
	put(m.namespace, "few", `selector: {matchLabels: {tier: front}}, concurrency: 6, environmentVariables: {TUNED: few}`)
	m.nextLike(t, "an edit", chosen, tuned("few", "6"))
	put(m.namespace, "wrong", `selector: {matchLabels: {tier: front}}, concurrency: many`)
	m.nextLike(t, "one that cannot be read is left out, and told", chosen, func(pod *corev1.Pod) bool {
		return tuned("few", "6")(pod) && strings.Contains(m.said(t), "a ProxyConfig resource is left out")
	})
	holds(t, "the log", m.said(t), m.namespace+"/wrong", "concurrency")
	run("", "delete", "proxyconfig", "few", "-n", m.namespace)
	m.nextLike(t, "without the selector's", chosen, tuned("here", "4"))
	run("", "delete", "proxyconfig", "here", "-n", m.namespace)
	m.next(t, "without the namespace's", tuned("root", "3"))
	run("", "delete", "crd", "proxyconfigs.networking.istio.io")
	m.next(t, "without any", tuned("", ""))
}

// concurrency is the number of threads that the proxy is told to run; empty for none.
func concurrency(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	var config struct{ Concurrency json.Number }
	if err := json.Unmarshal([]byte(env(pod, "PROXY_CONFIG")), &config); err != nil {
		t.Fatal(err)
	}
	return config.Concurrency.String()
}
