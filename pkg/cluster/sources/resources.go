// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
)

// Resource is the custom resource to watch.
type Resource struct {
	Config   *rest.Config
	Group    string
	Resource string   // in plural, as in the API's path
	Versions []string // that the caller can read, the best first
	Log      *slog.Logger
}

// lookEvery is how often a resource that is not served is looked for.
const lookEvery = 30 * time.Second

// WatchResource follows all objects of a resource until the context ends, and calls changed with all
// of them, by namespace and name, whenever the answer is another than last time, also about an end of
// errors. The first answer comes once it is known what there is, even if that is nothing. Each object
// is JSON of metadata.{name,namespace,creationTimestamp} and spec; the same object is the same bytes.
// While the API server does not serve the resource, there is none, and it is looked for now and then.
// An error is a refusal of the API server, which a person must mend; while it is only away, nothing
// is told. The error that comes back means that nothing could be watched at all.
func WatchResource(ctx context.Context, r Resource, changed func(objects [][]byte, err error)) error {
	finder, err := discovery.NewDiscoveryClientForConfig(r.Config)
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", r.Config.Host, err)
	}
	client, err := dynamic.NewForConfig(r.Config)
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", r.Config.Host, err)
	}
	r.watch(ctx, inCluster{finder, client}, changed)
	return nil
}

// api is where a resource is looked for and read.
type api interface {
	// resources are those of a version of a group; there are none where it is not served.
	resources(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error)
	objects(gvr schema.GroupVersionResource) toolscache.ListerWatcher
}

func (r Resource) watch(ctx context.Context, in api, changed func([][]byte, error)) {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	dirty := make(chan struct{}, 1)
	f := &follower[[]byte]{keep: essence, dirty: dirty, log: r.Log.With("resource", r.Resource+"."+r.Group)}
	go r.follow(ctx, in, f)
	var told bool
	var last [][]byte
	var lastErr string
	settle(ctx, dirty, func() {
		kept, seen, err := f.state()
		objects, text := sorted(kept), ""
		switch {
		case err != nil:
			objects, text = nil, err.Error()
			err = fmt.Errorf("watch %s.%s: %w", r.Resource, r.Group, err)
		case !seen:
			return
		}
		if told && text == lastErr && slices.EqualFunc(objects, last, bytes.Equal) {
			return
		}
		told, last, lastErr = true, objects, text
		changed(objects, err)
	})
}

// follow looks for the resource, and follows its objects for as long as it is served.
func (r Resource) follow(ctx context.Context, in api, f *follower[[]byte]) {
	var pause pauses
	for more := true; more; {
		begun := time.Now()
		version, err := r.served(ctx, in)
		switch {
		case err != nil:
			f.failed(err)
			more = pause.after(ctx, 0)
		case version == "":
			_ = f.Replace(nil, "") // keeping nothing does not fail
			more = sleep(ctx, lookEvery)
		default:
			f.objects = in.objects(schema.GroupVersionResource{Group: r.Group, Version: version, Resource: r.Resource})
			f.run(ctx, &unstructured.Unstructured{}, apierrors.IsNotFound)
			more = pause.after(ctx, time.Since(begun))
		}
	}
}

// served is the best version that the API server serves; empty when there is none.
func (r Resource) served(ctx context.Context, in api) (string, error) {
	for _, version := range r.Versions {
		resources, err := in.resources(ctx, schema.GroupVersion{Group: r.Group, Version: version})
		if err != nil {
			return "", fmt.Errorf("look for version %s: %w", version, err)
		}
		if slices.ContainsFunc(resources, func(found metav1.APIResource) bool {
			return found.Name == r.Resource && slices.Contains(found.Verbs, "list") && slices.Contains(found.Verbs, "watch")
		}) {
			return version, nil
		}
	}
	return "", nil
}

func sorted(kept map[types.NamespacedName][]byte) [][]byte {
	names := slices.SortedFunc(maps.Keys(kept), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out := make([][]byte, len(names))
	for i, name := range names {
		out[i] = kept[name]
	}
	return out
}

// essence is what is wanted of an object. The rest, managed fields above all, is not kept.
func essence(obj any) ([]byte, error) {
	object := obj.(*unstructured.Unstructured).Object
	metadata := map[string]any{}
	for _, key := range []string{"name", "namespace", "creationTimestamp"} {
		if value, ok, _ := unstructured.NestedFieldNoCopy(object, "metadata", key); ok {
			metadata[key] = value
		}
	}
	out := map[string]any{"metadata": metadata}
	if spec, ok := object["spec"]; ok {
		out["spec"] = spec
	}
	return json.Marshal(out)
}

// inCluster is the api of a real API server.
type inCluster struct {
	finder discovery.DiscoveryInterfaceWithContext
	client dynamic.Interface
}

func (c inCluster) resources(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	list, err := c.finder.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list.APIResources, nil
}

func (c inCluster) objects(gvr schema.GroupVersionResource) toolscache.ListerWatcher {
	objects := c.client.Resource(gvr)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, o)
		},
	}
}
