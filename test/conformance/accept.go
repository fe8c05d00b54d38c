// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/test/controlplane"
)

// ask is a pod to be shown to an API server, before and after.
type ask struct {
	name          string
	before, after map[string]any
}

// ask notes a pod.
func (r *runner) ask(name string, before map[string]any, after any) {
	tree, ok := after.(map[string]any)
	if !r.asking || !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asks = append(r.asks, ask{name, before, tree})
}

// court is a real API server, which judges pods by a server-side dry run.
type court struct {
	client     *kubernetes.Clientset
	mu         sync.Mutex
	namespaces map[string]bool
}

// acceptance shows every pod to a real API server, and tells of those that it refuses although it takes
// what came in.
func acceptance(ctx context.Context, asks []ask, logf func(string, ...any)) (refused []string, judged int, err error) {
	cluster.RouteLogs(slog.DiscardHandler) // the control plane's own tools would log to the terminal
	plane, err := controlplane.Start(ctx, controlplane.Options{Logf: logf})
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if stopped := plane.Stop(); err == nil {
			err = stopped
		}
	}()
	config := rest.CopyConfig(plane.Config)
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, 0, err
	}
	c := &court{client: client, namespaces: map[string]bool{}}
	var mu sync.Mutex
	err = parallel(len(asks), func(i int) error {
		why, counted, err := c.judge(ctx, asks[i])
		mu.Lock()
		defer mu.Unlock()
		if why != "" {
			refused = append(refused, asks[i].name+": "+why)
		}
		if counted {
			judged++
		}
		return err
	})
	slices.Sort(refused)
	logf("the API server judged %d pods; it refused %d more as they came", judged, len(asks)-judged)
	return refused, judged, err
}

// judge tells why a result is refused; a pod that was refused as it came does not count.
func (c *court) judge(ctx context.Context, a ask) (why string, counted bool, err error) {
	why, err = c.post(ctx, a.after)
	if err != nil || why == "" {
		return "", err == nil, err
	}
	before, err := c.post(ctx, a.before)
	if err != nil || before != "" {
		return "", false, err
	}
	return why, true, nil
}

// post creates a pod in a dry run, and tells why it is refused.
func (c *court) post(ctx context.Context, tree map[string]any) (string, error) {
	tree = creatable(tree)
	namespace := pod.Text(pod.Object(tree, "metadata"), "namespace")
	if err := c.namespace(ctx, namespace); err != nil {
		return "", err
	}
	err := c.client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").
		Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationIgnore).
		SetHeader("Content-Type", "application/json").Body([]byte(text(tree))).Do(ctx).Error()
	switch {
	case err == nil:
		return "", nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return err.Error(), nil
	}
	return "", fmt.Errorf("create a pod in %s: %w", namespace, err)
}

// creatable is the pod as a client may create it: without what the API server itself writes, with a name,
// a namespace, a service account, and owners that have a uid.
func creatable(tree map[string]any) map[string]any {
	meta := map[string]any{}
	for k, v := range pod.Object(tree, "metadata") {
		switch k {
		case "managedFields", "uid", "creationTimestamp", "resourceVersion", "generation", "deletionTimestamp":
		default:
			meta[k] = v
		}
	}
	if pod.Text(meta, "namespace") == "" {
		meta["namespace"] = metav1.NamespaceDefault
	}
	if pod.Text(meta, "name") == "" && pod.Text(meta, "generateName") == "" {
		meta["generateName"] = "pod-"
	}
	for _, key := range []string{"name", "generateName"} {
		if called := pod.Text(meta, key); called != "" {
			meta[key] = strings.ToLower(called) // recorded names need not be names
		}
	}
	var owners []any
	for _, item := range pod.Items(meta, "ownerReferences") {
		owner, _ := item.(map[string]any)
		if pod.Text(owner, "uid") == "" {
			owner = pod.With(owner, "uid", "00000000-0000-4000-8000-000000000001")
		}
		owners = append(owners, owner)
	}
	if owners != nil {
		meta["ownerReferences"] = owners
	}
	spec := pod.Object(tree, "spec")
	if spec["serviceAccountName"] == nil {
		spec = pod.With(spec, "serviceAccountName", "default") // as the API server does, where accounts are kept
	}
	out := pod.With(pod.With(pod.With(tree, "metadata", meta), "spec", spec), "status", nil)
	out["apiVersion"], out["kind"] = "v1", "Pod"
	return out
}

// namespace makes a namespace once; a dry run needs it too.
func (c *court) namespace(ctx context.Context, called string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.namespaces[called] {
		return nil
	}
	c.namespaces[called] = true
	raw := text(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": called}})
	err := c.client.CoreV1().RESTClient().Post().Resource("namespaces").SetHeader("Content-Type", "application/json").Body([]byte(raw)).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) && !strings.Contains(err.Error(), "Invalid value") {
		return fmt.Errorf("create namespace %s: %w", called, err)
	}
	return nil
}
