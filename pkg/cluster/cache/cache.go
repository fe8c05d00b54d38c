// SPDX-License-Identifier: Apache-2.0

// Package cache keeps the little that requests and writers must know of the cluster: labels and
// annotations of namespaces, the nodes with an old kubelet, and the webhook configurations.
//
// It needs get, list and watch on namespaces and nodes, and on mutatingwebhookconfigurations where
// they are asked for.
package cache

import (
	"context"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options are what the cache is made of.
type Options struct {
	Config *rest.Config
	HTTP   *http.Client
	Mapper meta.RESTMapper

	// OldKubelet tells by its version whether a node's kubelet does not run native sidecars. It must
	// always answer alike: a node is asked about when it changes only. Nil: those before 1.29.
	OldKubelet func(version string) bool
}

// Cache fills Facts while it runs.
type Cache struct {
	Facts
	informers ctrlcache.Cache
}

// New makes a cache and calls no API server: a process whose API server is away still starts, and
// says that it is not ready.
func New(o Options) (*Cache, error) {
	namespace, node, configuration := namespaceMetadata(), &corev1.Node{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	informers, err := ctrlcache.New(o.Config, ctrlcache.Options{
		HTTPClient:                  o.HTTP,
		Mapper:                      o.Mapper,
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]ctrlcache.ByObject{
			namespace:     {Transform: stripNamespace},
			node:          {Transform: stripNode},
			configuration: {Transform: stripConfiguration},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	c := &Cache{informers: informers}
	c.oldKubelet = o.OldKubelet
	namespaces, err := c.follow(namespace, c.namespaceEvents())
	if err != nil {
		return nil, err
	}
	nodes, err := c.follow(node, c.nodeEvents())
	if err != nil {
		return nil, err
	}
	synced := func() bool { return namespaces() && nodes() }
	c.synced.Store(&synced)
	return c, nil
}

// Start follows the cluster until the context ends. It does not wait for the informers then: one that
// backs off from an API server that is away sleeps for half a minute and hears nothing.
func (c *Cache) Start(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- c.informers.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// Configurations follows the webhook configurations too, and tells the name of each that changes or
// goes. The answer tells whether all that stood at the start have been told.
func (c *Cache) Configurations(changed func(name string)) (synced func() bool, err error) {
	tell := func(obj any) {
		if name, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			changed(name)
		}
	}
	return c.follow(&admissionregistrationv1.MutatingWebhookConfiguration{}, toolscache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		UpdateFunc: func(_, obj any) { tell(obj) },
		DeleteFunc: tell,
	})
}

// Configuration is a copy of a webhook configuration as last seen, or nil when there is none.
func (c *Cache) Configuration(ctx context.Context, name string) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	out := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := c.informers.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the webhook configuration %s from the cache: %w", name, err)
	}
	return out, nil
}

func (c *Cache) follow(obj client.Object, h toolscache.ResourceEventHandler) (synced func() bool, err error) {
	informer, err := c.informers.GetInformer(context.Background(), obj, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch %T: %w", obj, err)
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return nil, fmt.Errorf("follow %T: %w", obj, err)
	}
	return registration.HasSynced, nil
}

func (c *Cache) namespaceEvents() toolscache.ResourceEventHandler {
	set := func(obj any) {
		if ns, ok := obj.(*metav1.PartialObjectMetadata); ok {
			c.setNamespace(ns.Name, ns.Labels, ns.Annotations)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, obj any) { set(obj) },
		DeleteFunc: dropped(c.dropNamespace),
	}
}

func (c *Cache) nodeEvents() toolscache.ResourceEventHandler {
	set := func(obj any) {
		if node, ok := obj.(*corev1.Node); ok {
			c.setNode(node.Name, node.Status.NodeInfo.KubeletVersion, node.Labels)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, obj any) { set(obj) },
		DeleteFunc: dropped(c.dropNode),
	}
}

// dropped hears of an object that is gone, be it by its tombstone only.
func dropped(drop func(name string)) func(any) {
	return func(obj any) {
		if name, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			drop(name)
		}
	}
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return ns
}
