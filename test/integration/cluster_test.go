// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/cert"
	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/inject"
)

// authority is a certificate for the webhook server, with the bundle that verifies it.
func authority(t *testing.T) *cert.SelfSigned {
	t.Helper()
	c, err := cert.NewSelfSigned(cert.Options{IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// manage runs a manager until the test ends; without a registrar when register is nil.
func manage(t *testing.T, config *rest.Config, register *apply.Options) *cluster.Manager {
	t.Helper()
	return manageWith(t, cluster.Options{Config: config, Register: register})
}

// manageWith is manage with more of the options.
func manageWith(t *testing.T, o cluster.Options) *cluster.Manager {
	t.Helper()
	cluster.RouteLogs(slog.DiscardHandler) // informers log past the end of a test
	l, err := cluster.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Server = cluster.ServerOptions{
		Listener: l, Handler: &admission.Router{}, GetCertificate: authority(t).GetCertificate, DrainFor: time.Millisecond,
	}
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	m, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
	})
	return m
}

// await asks until the answer is yes, or the test has waited a minute for it.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-deadline:
			t.Fatalf("waited a minute for this: %s", what)
		case <-tick.C:
		}
	}
}

func TestFactsFollowTheCluster(t *testing.T) {
	ns := namespace(t, map[string]string{"team": "a"})
	bind(t, "facts-reader", false)
	m := manage(t, as("facts-reader"), nil)
	await(t, "synced and ready", m.Server().Ready)

	labels, annotations, known := m.Facts().Namespace(ns)
	if !known || labels["team"] != "a" || labels[corev1.LabelMetadataName] != ns || len(annotations) != 0 {
		t.Errorf("at the start: %v, %v, %t", labels, annotations, known)
	}
	patch := `{"metadata":{"labels":{"team":"b"},"annotations":{"note":"n"}}}`
	if _, err := shared.Client().CoreV1().Namespaces().Patch(t.Context(), ns, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the new label and annotation", func() bool {
		labels, annotations, _ := m.Facts().Namespace(ns)
		return labels["team"] == "b" && maps.Equal(annotations, map[string]string{"note": "n"})
	})

	late := "late-" + ns
	if err := shared.Namespace(t.Context(), late, nil); err != nil {
		t.Fatal(err)
	}
	await(t, "a new namespace", func() bool { _, _, known := m.Facts().Namespace(late); return known })
	if err := shared.Client().CoreV1().Namespaces().Delete(t.Context(), late, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a namespace that goes", func() bool { _, _, known := m.Facts().Namespace(late); return !known })
}

func TestOldNodesFollowTheCluster(t *testing.T) {
	bind(t, "facts-reader", false)
	m := manage(t, as("facts-reader"), nil)
	strict := manageWith(t, cluster.Options{Config: as("facts-reader"), OldKubelet: func(version string) bool { return version != "v1.30.0" }})
	await(t, "synced", m.Facts().Synced)
	await(t, "synced", strict.Facts().Synced)
	if old := m.Facts().OldNodes(); len(old) != 0 {
		t.Fatalf("there is no node, and yet %v", old)
	}
	node(t, "old", "v1.28.15", "linux")
	node(t, "new", "v1.29.0", "linux")
	node(t, "windows", "v1.27.1", "windows")
	namesOf := func(m *cluster.Manager) []string {
		var out []string
		for _, n := range m.Facts().OldNodes() {
			out = append(out, n.Name)
		}
		return out
	}
	names := func() []string { return namesOf(m) }
	await(t, "who is old by another rule", func() bool { return slices.Equal(namesOf(strict), []string{"new", "old", "windows"}) })
	if facts := m.Facts(); !facts.NodeKnown("new") || !facts.NodeKnown("old") || facts.NodeKnown("none") {
		t.Error("not the nodes that there are are known")
	}
	await(t, "the two old nodes, of whatever system", func() bool { return slices.Equal(names(), []string{"old", "windows"}) })
	i := slices.IndexFunc(m.Facts().OldNodes(), func(n inject.Node) bool { return n.Name == "windows" })
	if labels := m.Facts().OldNodes()[i].Labels; labels[corev1.LabelOSStable] != "windows" {
		t.Errorf("its labels are %v", labels)
	}

	kubelet(t, "old", "v1.30.0")
	await(t, "an upgrade", func() bool { return slices.Equal(names(), []string{"windows"}) })
	await(t, "by the other rule too", func() bool { return slices.Equal(namesOf(strict), []string{"new", "windows"}) })
	if err := shared.Client().CoreV1().Nodes().Delete(t.Context(), "windows", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a node that goes", func() bool { return len(names()) == 0 && !m.Facts().NodeKnown("windows") })
}

// node makes a node on which nothing can be scheduled, and removes it with the test.
func node(t *testing.T, name, version, system string) {
	t.Helper()
	nodes := shared.Client().CoreV1().Nodes()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: system}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
	}
	if _, err := nodes.Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = nodes.Delete(context.Background(), name, metav1.DeleteOptions{}) // the test may have done so
	})
	kubelet(t, name, version)
}

// kubelet sets the version that a node's kubelet reports.
func kubelet(t *testing.T, name, version string) {
	t.Helper()
	patch := `{"status":{"nodeInfo":{"kubeletVersion":"` + version + `"}}}`
	_, err := shared.Client().CoreV1().Nodes().Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}
