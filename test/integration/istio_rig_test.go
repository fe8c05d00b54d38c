// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/revision"
)

const (
	meshSystem = "istio-system" // where the mesh keeps its ConfigMaps; no test removes it
	meshStatus = "sidecar.istio.io/status"
	meshProxy  = "istio-proxy"
	meshInit   = "istio-init"
)

// meshed tells whether a pod has the proxy and the record of an injection.
func meshed(pod *corev1.Pod) bool {
	c, _ := proxy(pod)
	return c != nil && pod.Annotations[meshStatus] != ""
}

// proxy is the proxy's container, and whether it is a native sidecar.
func proxy(pod *corev1.Pod) (c *corev1.Container, native bool) {
	is := func(c corev1.Container) bool { return c.Name == meshProxy }
	if i := slices.IndexFunc(pod.Spec.Containers, is); i >= 0 {
		return &pod.Spec.Containers[i], false
	}
	if i := slices.IndexFunc(pod.Spec.InitContainers, is); i >= 0 {
		return &pod.Spec.InitContainers[i], true
	}
	return nil, false
}

// env is a variable of the proxy.
func env(pod *corev1.Pod, name string) string {
	c, _ := proxy(pod)
	if c == nil {
		return ""
	}
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// proxyArg tells whether the proxy is started with an argument.
func proxyArg(pod *corev1.Pod, arg string) bool {
	c, _ := proxy(pod)
	return c != nil && slices.Contains(c.Args, arg)
}

func (in *injector) meshLabels() map[string]string {
	if in.revision == revision.Default {
		return map[string]string{"istio-injection": "enabled"}
	}
	return map[string]string{"istio.io/rev": in.revision}
}

// mesh is an injector of the Istio dialect with the two ConfigMaps that it reads.
type mesh struct {
	*injector
	config, mesh *corev1.ConfigMap // as they were sent last
}

// newMesh applies the ConfigMaps of the example, their names with a suffix. Nothing serves yet.
func newMesh(t *testing.T, rev, suffix string) *mesh {
	t.Helper()
	_, err := shared.Client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: meshSystem}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	m := &mesh{injector: &injector{revision: rev, mesh: true}}
	m.config, m.mesh = example(t, "istio-sidecar-injector"), example(t, "istio")
	for _, c := range []*corev1.ConfigMap{m.config, m.mesh} {
		c.Name += suffix
		m.put(t, c)
		t.Cleanup(func() {
			_ = configMaps().Delete(context.Background(), c.Name, metav1.DeleteOptions{}) // the test may have done so
		})
	}
	return m
}

func example(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/istio/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		t.Fatal(err)
	}
	if c.Namespace != meshSystem || c.Name != name {
		t.Fatalf("the example is %s/%s", c.Namespace, c.Name)
	}
	return c
}

func configMaps() interface {
	Create(context.Context, *corev1.ConfigMap, metav1.CreateOptions) (*corev1.ConfigMap, error)
	Update(context.Context, *corev1.ConfigMap, metav1.UpdateOptions) (*corev1.ConfigMap, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
} {
	return shared.Client().CoreV1().ConfigMaps(meshSystem)
}

// put makes a ConfigMap what it is here, in one write.
func (m *mesh) put(t *testing.T, c *corev1.ConfigMap) {
	t.Helper()
	_, err := configMaps().Update(t.Context(), c, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = configMaps().Create(t.Context(), c, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serve serves the revision to a user who may read its two ConfigMaps, the ProxyConfig resources if
// asked, and what every injector needs: nothing else.
func (m *mesh) serve(t *testing.T, resources bool, args ...string) {
	t.Helper()
	allow(t, m.user(), meshSystem, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
		ResourceNames: []string{m.config.Name, m.mesh.Name},
	})
	if resources {
		m.allowResources(t)
	}
	m.run(t, args...)
}

// serveAsDocumented serves the revision with the rights that the documentation grants, as it does.
func (m *mesh) serveAsDocumented(t *testing.T, args ...string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/istio.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "all the rights that it needs")
	_, after, _ = strings.Cut(after, "```yaml\n")
	rights, _, ok := strings.Cut(after, "```\n")
	if !ok {
		t.Fatal("the documentation does not show the rights")
	}
	if _, report, err := kubectl(t, rights, "apply", "-f", "-"); err != nil {
		t.Fatal(report)
	}
	t.Cleanup(func() {
		if _, err := shared.Kubectl(context.Background(), rights, "delete", "-f", "-"); err != nil {
			t.Error(err)
		}
	})
	m.account = "system:serviceaccount:pillion-system:injector"
	m.run(t, args...)
}

// run serves the revision as soon as the ConfigMaps may be read.
func (m *mesh) run(t *testing.T, args ...string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(as(m.user()))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the right to read the ConfigMaps", func() bool {
		_, err := client.CoreV1().ConfigMaps(meshSystem).Get(t.Context(), m.mesh.Name, metav1.GetOptions{})
		if err == nil && m.account != "" { // its other rights are not awaited elsewhere
			_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
		}
		return err == nil
	})
	m.injector.serve(t, append([]string{
		"--config", "configmap/" + meshSystem + "/" + m.config.Name, "--mesh", "configmap/" + meshSystem + "/" + m.mesh.Name,
	}, args...)...)
}

// lacksNothing holds the log to the rights: what is forbidden is told there.
func (m *mesh) lacksNothing(t *testing.T) {
	t.Helper()
	if text := m.said(t); strings.Contains(text, "forbidden") {
		t.Errorf("it lacks a right:\n%s", text)
	}
}

func (m *mesh) allowResources(t *testing.T) {
	t.Helper()
	allow(t, m.user(), "", rbacv1.PolicyRule{APIGroups: []string{"networking.istio.io"}, Resources: []string{"proxyconfigs"}, Verbs: []string{"list", "watch"}})
}

// edit replaces a text that stands once in a key of a ConfigMap, here only: put sends it.
func edit(t *testing.T, c *corev1.ConfigMap, key, old, now string) {
	t.Helper()
	if n := strings.Count(c.Data[key], old); n != 1 {
		t.Fatalf("%q stands %d times in %s of %s", old, n, key, c.Name)
	}
	c.Data[key] = strings.Replace(c.Data[key], old, now, 1)
}

// next asks for pods of the injector's namespace until one is as wanted. Each of them is injected.
func (m *mesh) next(t *testing.T, what string, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	return m.nextLike(t, what, bare(m.namespace, "asking"), wanted)
}

func (m *mesh) nextLike(t *testing.T, what string, like *corev1.Pod, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	await(t, what, func() bool {
		var err error
		if pod, err = dryRun(t, like); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !meshed(pod) {
			t.Fatalf("%s: a pod without the proxy: %v", what, pod.Annotations)
		}
		return wanted(pod)
	})
	return pod
}
