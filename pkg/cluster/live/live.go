// SPDX-License-Identifier: Apache-2.0

// Package live reads single objects from a cluster, for the command line. Nothing of it stands on a
// request's path.
package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// ErrNotFound tells that the cluster was asked and has no such object, or that the reference names
// none. Any other error means that the cluster could not be asked.
var ErrNotFound = errors.New("not found")

// resources are the kinds that hold pods, by every name that kubectl takes for them.
var resources = map[string]string{
	"pod": "/api/v1/%s/pods", "po": "/api/v1/%s/pods", "pods": "/api/v1/%s/pods",
	"replicationcontroller": "/api/v1/%s/replicationcontrollers", "rc": "/api/v1/%s/replicationcontrollers",
	"deployment": "/apis/apps/v1/%s/deployments", "deploy": "/apis/apps/v1/%s/deployments", "deployments": "/apis/apps/v1/%s/deployments",
	"replicaset": "/apis/apps/v1/%s/replicasets", "rs": "/apis/apps/v1/%s/replicasets", "replicasets": "/apis/apps/v1/%s/replicasets",
	"statefulset": "/apis/apps/v1/%s/statefulsets", "sts": "/apis/apps/v1/%s/statefulsets", "statefulsets": "/apis/apps/v1/%s/statefulsets",
	"daemonset": "/apis/apps/v1/%s/daemonsets", "ds": "/apis/apps/v1/%s/daemonsets", "daemonsets": "/apis/apps/v1/%s/daemonsets",
	"job": "/apis/batch/v1/%s/jobs", "jobs": "/apis/batch/v1/%s/jobs",
	"cronjob": "/apis/batch/v1/%s/cronjobs", "cj": "/apis/batch/v1/%s/cronjobs", "cronjobs": "/apis/batch/v1/%s/cronjobs",
}

// Reader reads objects with one client.
type Reader struct{ client rest.Interface }

// New makes a Reader; it does not call the cluster yet.
func New(config *rest.Config) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{Version: "v1"}
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	return &Reader{client}, nil
}

// Object is the JSON of kind/name in a namespace, without what only the cluster may set.
func (r *Reader) Object(ctx context.Context, ref, namespace string) ([]byte, error) {
	kind, name, ok := strings.Cut(ref, "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is no kind/name, such as deployment/web: %w", ref, ErrNotFound)
	}
	path, ok := resources[strings.ToLower(kind)]
	if !ok {
		return nil, fmt.Errorf("%q is no kind that holds pods: %w", kind, ErrNotFound)
	}
	raw, err := r.get(ctx, fmt.Sprintf(path, "namespaces/"+namespace)+"/"+name)
	if err != nil {
		return nil, err
	}
	return applicable(raw)
}

// applicable is an object without what the cluster keeps book of, so that it can be applied again.
func applicable(raw []byte) ([]byte, error) {
	value, err := pod.Decode(raw)
	if err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any)
	delete(object, "status")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, key := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
			delete(metadata, key)
		}
	}
	return pod.Encode(value), nil
}

// Namespace is the JSON of a namespace.
func (r *Reader) Namespace(ctx context.Context, name string) ([]byte, error) {
	return r.get(ctx, "/api/v1/namespaces/"+name)
}

func (r *Reader) get(ctx context.Context, path string) ([]byte, error) {
	raw, err := r.client.Get().AbsPath(path).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get %s: %w", path, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", path, err)
	}
	return raw, nil
}

// Names tells whether a word is kind/name of a kind that holds pods.
func Names(word string) bool {
	kind, name, ok := strings.Cut(word, "/")
	_, known := resources[strings.ToLower(kind)]
	return ok && known && name != "" && !strings.Contains(name, "/")
}
