// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/cluster/sources"
)

// answers are what a watch told.
type answers struct {
	mu   sync.Mutex
	list []string
}

func (a *answers) add(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, text)
}

func (a *answers) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) == 0 {
		return "nothing"
	}
	return a.list[len(a.list)-1]
}

func (a *answers) await(t *testing.T, want string) {
	t.Helper()
	await(t, "the answer "+want, func() bool { return a.last() == want })
}

// watching runs a watch until the test ends.
func watching(t *testing.T, watch func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// allow gives a user rights in one namespace, or everywhere.
func allow(t *testing.T, user, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	rbac, ctx := shared.Client().RbacV1(), context.Background()
	meta := metav1.ObjectMeta{Name: "allow-" + user, Namespace: namespace}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	var errRole, errBinding error
	if namespace != "" {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}
		_, errRole = rbac.Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
		_, errBinding = rbac.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		t.Cleanup(func() { // the namespace may outlive the test
			_ = rbac.RoleBindings(namespace).Delete(ctx, meta.Name, metav1.DeleteOptions{})
			_ = rbac.Roles(namespace).Delete(ctx, meta.Name, metav1.DeleteOptions{})
		})
	} else {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}
		_, errRole = rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
		_, errBinding = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		t.Cleanup(func() {
			_ = rbac.ClusterRoleBindings().Delete(ctx, meta.Name, metav1.DeleteOptions{})
			_ = rbac.ClusterRoles().Delete(ctx, meta.Name, metav1.DeleteOptions{})
		})
	}
	if errRole != nil || errBinding != nil {
		t.Fatal(errRole, errBinding)
	}
}

// Two ConfigMaps are followed with rights on these two alone: what changes, comes and goes is told,
// and a refusal, until the rights are there.
func TestConfigMapsAreFollowed(t *testing.T) {
	t.Parallel()
	ns := namespace(t, nil)
	one, two := sources.Ref{Namespace: ns, Name: "one"}, sources.Ref{Namespace: ns, Name: "two"}
	maps := shared.Client().CoreV1().ConfigMaps(ns)
	put := func(name, text string) {
		t.Helper()
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": text}}
		_, err := maps.Update(t.Context(), c, metav1.UpdateOptions{})
		if err != nil {
			_, err = maps.Create(t.Context(), c, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	told := func(all map[sources.Ref]sources.ConfigMap, err error) string {
		switch {
		case err != nil && strings.Contains(err.Error(), "forbidden") && strings.Contains(err.Error(), one.String()):
			return "refused"
		case err != nil:
			return err.Error()
		}
		text := func(r sources.Ref) string {
			if !all[r].Found {
				return "-"
			}
			return string(all[r].Data["k"])
		}
		return text(one) + " " + text(two)
	}
	put("one", "1")
	put("another", "x")
	var got answers
	user, refs := as("follower-of-maps"), []sources.Ref{one, two}
	if all, err := sources.GetConfigMaps(t.Context(), user, refs); told(all, err) != "refused" {
		t.Errorf("without rights: %v, %v", all, err)
	}
	watching(t, func(ctx context.Context) error {
		return sources.WatchConfigMaps(ctx, sources.ConfigMaps{Config: user, Refs: refs}, func(all map[sources.Ref]sources.ConfigMap, err error) {
			got.add(told(all, err))
		})
	})
	got.await(t, "refused")
	allow(t, "follower-of-maps", ns, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}, ResourceNames: []string{"one", "two"},
	})
	got.await(t, "1 -")
	put("one", "2")
	got.await(t, "2 -")
	put("two", "2")
	got.await(t, "2 2")
	put("another", "y")
	if err := maps.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	got.await(t, "- 2")
	put("one", "3")
	got.await(t, "3 2")
	all, err := sources.GetConfigMaps(t.Context(), user, append(refs, sources.Ref{Namespace: ns, Name: "one"}))
	if told(all, err) != "3 2" || len(all) != 2 {
		t.Errorf("read once: %v, %v", all, err)
	}
}

// definition is a custom resource that serves one of two versions.
func definition(served string) string {
	version := func(name string) string {
		on := "false"
		if name == served {
			on = "true"
		}
		return `{name: ` + name + `, served: ` + on + `, storage: ` + on + `, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`
	}
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: knobs.sources.example}, spec: {
  group: sources.example, scope: Namespaced, names: {plural: knobs, singular: knob, kind: Knob, listKind: KnobList},
  versions: [` + version("v1") + `, ` + version("v1beta1") + `]}}`
}

// A custom resource is followed from before there is one until it is gone again, through a change of
// its version, with no more rights than to list and watch it.
func TestResourceIsFollowed(t *testing.T) {
	t.Parallel()
	ns := namespace(t, nil)
	user := as("follower-of-knobs", "system:authenticated")
	var got answers
	watching(t, func(ctx context.Context) error {
		r := sources.Resource{Config: user, Group: "sources.example", Resource: "knobs", Versions: []string{"v1", "v1beta1"}}
		return sources.WatchResource(ctx, r, func(objects [][]byte, err error) { got.add(knobs(t, objects, err)) })
	})
	got.await(t, "none")

	run := func(manifest string, args ...string) {
		t.Helper()
		if _, report, err := kubectl(t, manifest, args...); err != nil {
			t.Fatal(report)
		}
	}
	run(definition("v1beta1"), "apply", "-f", "-")
	t.Cleanup(func() { // a test that ended early left it
		_, _ = shared.Kubectl(context.Background(), "", "delete", "crd", "knobs.sources.example", "--ignore-not-found", "--wait=false")
	})
	run("", "wait", "--for=condition=Established", "crd/knobs.sources.example", "--timeout=60s")
	knob := func(version, name, value string) string {
		return `{apiVersion: sources.example/` + version + `, kind: Knob, metadata: {name: ` + name + `, namespace: ` + ns + `}, spec: {value: "` + value + `"}}`
	}
	run(knob("v1beta1", "b", "1"), "apply", "-f", "-")
	got.await(t, "refused")
	allow(t, "follower-of-knobs", "", rbacv1.PolicyRule{APIGroups: []string{"sources.example"}, Resources: []string{"knobs"}, Verbs: []string{"list", "watch"}})
	got.await(t, "b=1")
	run(knob("v1beta1", "a", "2"), "apply", "-f", "-")
	got.await(t, "a=2 b=1")

	run(definition("v1"), "apply", "-f", "-")
	await(t, "the other version", func() bool {
		_, _, err := kubectl(t, knob("v1", "b", "3"), "apply", "-f", "-")
		return err == nil
	})
	got.await(t, "a=2 b=3")
	run("", "delete", "crd", "knobs.sources.example")
	got.await(t, "none")
	got.mu.Lock()
	defer got.mu.Unlock()
	for i, text := range got.list[1 : len(got.list)-1] {
		if text == "none" {
			t.Errorf("answer %d of %q", i+1, got.list)
		}
	}
}

func knobs(t *testing.T, objects [][]byte, err error) string {
	switch {
	case err != nil && strings.Contains(err.Error(), "watch knobs.sources.example: ") && strings.Contains(err.Error(), "forbidden"):
		return "refused"
	case err != nil:
		return err.Error()
	case len(objects) == 0:
		return "none"
	}
	var out []string
	for _, raw := range objects {
		var o struct {
			Metadata struct{ Name, CreationTimestamp string }
			Spec     struct{ Value string }
		}
		if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.CreationTimestamp == "" || strings.Contains(string(raw), "managedFields") {
			t.Errorf("%v: %s", err, raw)
		}
		out = append(out, o.Metadata.Name+"="+o.Spec.Value)
	}
	return strings.Join(out, " ")
}
