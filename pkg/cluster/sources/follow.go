// SPDX-License-Identifier: Apache-2.0

// Package sources follows the objects of a cluster that say how to inject: ConfigMaps by their names,
// and all objects of a custom resource. What it tells is told off the requests' path.
//
// A ConfigMap needs get, list and watch on configmaps in its namespace, by resourceName; a custom
// resource needs list and watch in the whole cluster, and the discovery that every account may do.
package sources

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// settling is how long the first of some changes waits for the others: several objects that are
// applied together come into force together.
const settling = 100 * time.Millisecond

// follower keeps what is wanted of the objects that a list and a watch bring. It is the store of a
// reflector, without the copies and queues of an informer.
type follower[T any] struct {
	objects toolscache.ListerWatcher
	keep    func(obj any) (T, error) // what is wanted of an object; nobody may write to it afterwards
	dirty   chan<- struct{}          // told when anything may have changed; holds one
	log     *slog.Logger

	mu   sync.Mutex
	kept map[types.NamespacedName]T
	seen bool  // all that stood at the start
	err  error // that a person must mend; everything else mends itself
}

// run follows until the context ends, or until over says so of an error. A call of the API server
// that is under way when the context ends may outlast this by the half minute of a reflector's pause.
func (f *follower[T]) run(ctx context.Context, example runtime.Object, over func(error) bool) {
	reflector := toolscache.NewReflectorWithOptions(f.objects, example, f, toolscache.ReflectorOptions{Name: "sources"})
	var pause pauses
	for ctx.Err() == nil {
		begun := time.Now()
		err := reflector.ListAndWatchWithContext(ctx)
		if over(err) {
			return
		}
		f.failed(err)
		if !pause.after(ctx, time.Since(begun)) {
			return
		}
	}
}

// failed keeps an error if the API server has refused us, and is silent about an API server that is
// away: the last state seen then goes on.
func (f *follower[T]) failed(err error) {
	if err == nil {
		return
	}
	f.log.Debug("cannot follow a source", "error", err)
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return
	}
	_ = f.change(func() error {
		f.err = cmp.Or(f.err, err) // the first: of one refusal, a list and a watch have different words
		return nil
	})
}

// state is a copy of what is kept, once it is complete, or why there is none.
func (f *follower[T]) state() (kept map[types.NamespacedName]T, seen bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.kept), f.seen, f.err
}

// change is a change of the state, told.
func (f *follower[T]) change(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := do()
	select {
	case f.dirty <- struct{}{}:
	default:
	}
	return err
}

// Add keeps an object.
func (f *follower[T]) Add(obj any) error {
	return f.change(func() error {
		if f.kept == nil {
			f.kept = map[types.NamespacedName]T{}
		}
		return f.put(f.kept, obj)
	})
}

// Update keeps an object anew.
func (f *follower[T]) Update(obj any) error { return f.Add(obj) }

// Delete forgets an object.
func (f *follower[T]) Delete(obj any) error {
	return f.change(func() error {
		name, err := toolscache.DeletionHandlingObjectToName(obj)
		delete(f.kept, types.NamespacedName(name))
		return err
	})
}

// Replace keeps these objects alone, which are all that there are.
func (f *follower[T]) Replace(objects []any, _ string) error {
	return f.change(func() error {
		kept := make(map[types.NamespacedName]T, len(objects))
		for _, obj := range objects {
			if err := f.put(kept, obj); err != nil {
				return err
			}
		}
		f.kept, f.seen, f.err = kept, true, nil
		return nil
	})
}

// Resync has nothing to do.
func (f *follower[T]) Resync() error { return nil }

func (f *follower[T]) put(into map[types.NamespacedName]T, obj any) error {
	name, err := toolscache.ObjectToName(obj)
	if err != nil {
		return err
	}
	value, err := f.keep(obj)
	if err != nil {
		return err
	}
	into[types.NamespacedName(name)] = value
	return nil
}

// settle calls tell whenever changes have had time to come together, until the context ends.
func settle(ctx context.Context, dirty <-chan struct{}, tell func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-dirty:
		}
		if !sleep(ctx, settling) {
			return
		}
		select {
		case <-dirty: // told with the first
		default:
		}
		tell()
	}
}
