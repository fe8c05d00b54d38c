// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
)

// Ref names a ConfigMap.
type Ref types.NamespacedName

// String is the reference as ParseRef reads it.
func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// ParseRef reads namespace/name.
func ParseRef(text string) (Ref, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		return Ref{}, fmt.Errorf("%q names no ConfigMap: want namespace/name", text)
	}
	faults := append(validation.IsDNS1123Label(namespace), validation.IsDNS1123Subdomain(name)...)
	if len(faults) > 0 {
		return Ref{}, fmt.Errorf("%q names no ConfigMap: %s", text, faults[0])
	}
	return Ref{Namespace: namespace, Name: name}, nil
}

// ConfigMap is what a ConfigMap holds, text and binary alike, as files would.
type ConfigMap struct {
	Found bool
	Data  map[string][]byte // nobody may write to it
}

// GetConfigMaps reads the ConfigMaps once. One that is not there is no error.
func GetConfigMaps(ctx context.Context, config *rest.Config, refs []Ref) (map[Ref]ConfigMap, error) {
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	out := map[Ref]ConfigMap{}
	for _, ref := range refs {
		object, err := client.ConfigMaps(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			out[ref] = ConfigMap{}
		case err != nil:
			return nil, fmt.Errorf("get the ConfigMap %s: %w", ref, err)
		default:
			out[ref] = ConfigMap{Found: true, Data: content(object)}
		}
	}
	return out, nil
}

func content(c *corev1.ConfigMap) map[string][]byte {
	data := make(map[string][]byte, len(c.Data)+len(c.BinaryData))
	for key, text := range c.Data {
		data[key] = []byte(text)
	}
	maps.Copy(data, c.BinaryData)
	return data
}

// ConfigMaps is what to watch.
type ConfigMaps struct {
	Config *rest.Config
	Refs   []Ref
	Known  map[Ref]ConfigMap // what the caller has read already, so that no change between is lost
	Log    *slog.Logger      // nil: none
}

// WatchConfigMaps follows ConfigMaps until the context ends, and calls changed with all of them
// whenever the answer is another than last time: other content of any, one that is there or gone, an
// error, or an end of errors. Changes that come together are told together. An error is a refusal of
// the API server, which a person must mend; while it is only away, nothing is told. The error that
// comes back means that nothing could be watched at all.
func WatchConfigMaps(ctx context.Context, w ConfigMaps, changed func(all map[Ref]ConfigMap, err error)) error {
	client, err := corev1client.NewForConfig(w.Config)
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", w.Config.Host, err)
	}
	w.watch(ctx, func(ref Ref) toolscache.ListerWatcher {
		named, one := client.ConfigMaps(ref.Namespace), fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String()
		return &toolscache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.FieldSelector = one
				return named.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.FieldSelector = one
				return named.Watch(ctx, o)
			},
		}
	}, changed)
	return nil
}

func (w ConfigMaps) watch(ctx context.Context, objects func(Ref) toolscache.ListerWatcher, changed func(map[Ref]ConfigMap, error)) {
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	w.Refs = distinct(w.Refs)
	dirty := make(chan struct{}, 1)
	followers := map[Ref]*follower[map[string][]byte]{}
	for _, ref := range w.Refs {
		f := &follower[map[string][]byte]{
			objects: objects(ref), dirty: dirty, log: w.Log.With("configMap", ref.String()),
			keep: func(obj any) (map[string][]byte, error) { return content(obj.(*corev1.ConfigMap)), nil },
		}
		followers[ref] = f
		go f.run(ctx, &corev1.ConfigMap{}, func(error) bool { return false })
	}
	last := answer{all: w.Known}
	settle(ctx, dirty, func() {
		now, complete := w.collect(followers)
		if !complete || now.same(last) {
			return
		}
		last = now
		changed(now.all, now.err)
	})
}

func distinct(refs []Ref) []Ref {
	var out []Ref
	for _, ref := range refs {
		if !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// answer is what is told of all ConfigMaps.
type answer struct {
	all map[Ref]ConfigMap
	err error
}

// collect is the answer of the moment; it is not complete until each ConfigMap has been looked for.
func (w ConfigMaps) collect(followers map[Ref]*follower[map[string][]byte]) (now answer, complete bool) {
	now.all, complete = map[Ref]ConfigMap{}, true
	var errs []error
	for _, ref := range w.Refs {
		kept, seen, err := followers[ref].state()
		if err != nil {
			errs = append(errs, fmt.Errorf("watch the ConfigMap %s: %w", ref, err))
		}
		data, found := kept[types.NamespacedName(ref)]
		now.all[ref] = ConfigMap{Found: found, Data: data}
		complete = complete && seen
	}
	if errs != nil {
		return answer{err: errors.Join(errs...)}, true
	}
	return now, complete
}

func (a answer) same(b answer) bool {
	if a.err != nil || b.err != nil {
		return a.err != nil && b.err != nil && a.err.Error() == b.err.Error()
	}
	return maps.EqualFunc(a.all, b.all, func(x, y ConfigMap) bool {
		return x.Found == y.Found && maps.EqualFunc(x.Data, y.Data, bytes.Equal)
	})
}
