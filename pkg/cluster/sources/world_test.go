// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// world is the part of an API server that lists and watches, in memory. It streams no initial events,
// as servers before 1.34 do not. What a real one does is for the integration tests.
type world struct {
	mu       sync.Mutex
	version  int
	objects  []metav1.Object
	watchers []*watcher
	served   map[string]bool // versions of the resource
	fault    error           // of every call, while set
	calls    int
}

type watcher struct {
	*watch.FakeWatcher
	wanted func(metav1.Object) bool
}

func (w *world) change(event watch.EventType, obj metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	obj.SetResourceVersion(strconv.Itoa(w.version))
	w.objects = slices.DeleteFunc(w.objects, func(o metav1.Object) bool { return same(o, obj) })
	if event != watch.Deleted {
		w.objects = append(w.objects, obj)
	}
	for _, x := range w.watchers {
		if x.wanted(obj) {
			x.Action(event, obj.(runtime.Object).DeepCopyObject())
		}
	}
}

func same(a, b metav1.Object) bool {
	return a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

// put creates or updates an object, remove deletes it.
func (w *world) put(obj metav1.Object) {
	w.mu.Lock()
	event := watch.Added
	if slices.ContainsFunc(w.objects, func(o metav1.Object) bool { return same(o, obj) }) {
		event = watch.Modified
	}
	w.mu.Unlock()
	w.change(event, obj)
}

func (w *world) remove(obj metav1.Object) { w.change(watch.Deleted, obj) }

// cut ends every watch, and from now on every call with the fault, or with none.
func (w *world) cut(fault error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
	for _, x := range w.watchers {
		x.Stop()
	}
	w.watchers = nil
}

// serve makes these the versions of the resource, as one does who changes its definition.
func (w *world) serve(versions ...string) {
	w.cut(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.served = map[string]bool{}
	for _, v := range versions {
		w.served[v] = true
	}
	if len(versions) == 0 {
		w.objects = nil
	}
}

func (w *world) called() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

// source lists and watches what is wanted, as long as the version is served.
func (w *world) source(version string, list func([]metav1.Object, string) runtime.Object, wanted func(metav1.Object) bool) toolscache.ListerWatcher {
	begin := func() error {
		w.calls++
		if w.fault == nil && version != "" && !w.served[version] {
			return apierrors.NewNotFound(schema.GroupResource{}, "")
		}
		return w.fault
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			var found []metav1.Object
			for _, o := range w.objects {
				if wanted(o) {
					found = append(found, o.(runtime.Object).DeepCopyObject().(metav1.Object))
				}
			}
			return list(found, strconv.Itoa(w.version)), begin()
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch err := begin(); {
			case err != nil:
				return nil, err
			case o.SendInitialEvents != nil:
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
			case o.ResourceVersion != strconv.Itoa(w.version):
				return nil, apierrors.NewResourceExpired("too old")
			}
			x := &watcher{watch.NewFakeWithChanSize(100, false), wanted}
			w.watchers = append(w.watchers, x)
			return x, nil
		},
	}
}

// configMap is the source of one ConfigMap.
func (w *world) configMap(ref Ref) toolscache.ListerWatcher {
	return w.source("", func(objects []metav1.Object, version string) runtime.Object {
		list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
		for _, o := range objects {
			list.Items = append(list.Items, *o.(*corev1.ConfigMap))
		}
		return list
	}, func(o metav1.Object) bool { return o.GetNamespace() == ref.Namespace && o.GetName() == ref.Name })
}

// objectsOf is the source of the resource.
func (w *world) objectsOf(version string) toolscache.ListerWatcher {
	return w.source(version, func(objects []metav1.Object, version string) runtime.Object {
		list := &unstructured.UnstructuredList{}
		list.SetResourceVersion(version)
		for _, o := range objects {
			list.Items = append(list.Items, *o.(*unstructured.Unstructured))
		}
		return list
	}, func(metav1.Object) bool { return true })
}

// serving is the world as one sees it who looks for the resource.
type serving struct{ *world }

func (s serving) resources(_ context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.fault != nil || !s.served[gv.Version] {
		return nil, s.fault
	}
	return []metav1.APIResource{
		{Name: "settings/status", Verbs: metav1.Verbs{"get"}}, {Name: "settings", Verbs: metav1.Verbs{"get", "list", "watch"}},
	}, nil
}

func (s serving) objects(gvr schema.GroupVersionResource) toolscache.ListerWatcher {
	return s.objectsOf(gvr.Version)
}

// The ways in which an API server does not answer.
var (
	errAway    = errors.New("dial tcp: connection refused")
	errRefused = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("no"))
)
