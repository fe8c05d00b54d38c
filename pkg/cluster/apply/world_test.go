// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// world is an Objects whose cache is never behind, unless a test says so, and whose every change
// touches the registrar as an informer would. What a real API server does with the patches is for
// the integration tests.
type world struct {
	t         *testing.T
	mu        sync.Mutex
	version   int
	objects   map[string]*Configuration
	stale     map[string]*Configuration // shown instead, while set
	faults    int                       // of the writes to come
	forbidden string                    // the object that may not be written
	writes    []write
	edit      func(c *Configuration) // somebody else's hand, after every write
	reports   []string
	told      []string // bundles published
	bundle    string
	ready     bool
	changed   chan struct{}
	r         *Registrar
}

type write struct {
	At            time.Duration
	Name, Manager string
	Patch         string
}

// run gives a test a world whose registrar runs from now on in virtual time.
func run(t *testing.T, mode Mode, test func(w *world)) { runWith(t, mode, nil, test) }

// runWith is run with kin.
func runWith(t *testing.T, mode Mode, kin *Kin, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, objects: map[string]*Configuration{}, stale: map[string]*Configuration{},
			bundle: "one", ready: true, changed: make(chan struct{}, 1)}
		var err error
		w.r, err = New(Options{
			Mode: mode, Wanted: wanted, Kin: kin, Changed: w.changed,
			CABundle:  func() []byte { return []byte(locked(w, func() string { return w.bundle })) },
			Ready:     func(context.Context) bool { return locked(w, func() bool { return w.ready }) },
			Published: func(b []byte) { locked(w, func() bool { w.told = append(w.told, string(b)); return true }) },
			Report: func(name, result, reason string) {
				locked(w, func() bool { w.reports = append(w.reports, name+" "+result+" "+reason); return true })
			},
		}, w)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.r.Start(ctx) }()
		test(w)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the registrar ended with %v", err)
		}
	})
}

func locked[T any](w *world, f func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f()
}

// wanted is one configuration with two hooks, and one with one.
func wanted(bundle []byte) ([]*Configuration, error) {
	hook := func(name string) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name:         name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: service("ours"), CABundle: bundle},
			NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "inject", Operator: metav1.LabelSelectorOpExists},
			}},
		}
	}
	return []*Configuration{
		{ObjectMeta: metav1.ObjectMeta{Name: "main", Labels: map[string]string{"app": "injector"}},
			Webhooks: []admissionregistrationv1.MutatingWebhook{hook("namespace.x"), hook("object.x")}},
		{ObjectMeta: metav1.ObjectMeta{Name: "tag"}, Webhooks: []admissionregistrationv1.MutatingWebhook{hook("namespace.x")}},
	}, nil
}

func service(name string) *admissionregistrationv1.ServiceReference {
	return &admissionregistrationv1.ServiceReference{Namespace: "ns", Name: name}
}

func (w *world) Configuration(_ context.Context, name string) (*Configuration, error) {
	return locked(w, func() *Configuration {
		if c := w.stale[name]; c != nil {
			return c.DeepCopy()
		}
		return w.objects[name].DeepCopy()
	}), nil
}

func (w *world) Apply(_ context.Context, name, manager string, patch []byte) (*Configuration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, write{w.now(), name, manager, string(patch)})
	if name == w.forbidden {
		return nil, errors.New("forbidden")
	}
	if w.faults > 0 {
		w.faults--
		return nil, errors.New("etcdserver: request timed out")
	}
	var in Configuration
	if err := json.Unmarshal(patch, &in); err != nil {
		w.t.Errorf("patch of %s: %v", name, err)
	}
	live := w.objects[name]
	if manager == BundleManager {
		live = live.DeepCopy()
		for _, h := range in.Webhooks {
			i := slices.IndexFunc(live.Webhooks, func(l admissionregistrationv1.MutatingWebhook) bool { return l.Name == h.Name })
			live.Webhooks[i].ClientConfig.CABundle = h.ClientConfig.CABundle
		}
	} else {
		live = &in
	}
	got := w.store(live)
	if w.edit != nil {
		other := got.DeepCopy()
		w.edit(other)
		w.store(other)
	}
	return got, nil
}

// store keeps the object under its next version and tells its event. The lock is held.
func (w *world) store(c *Configuration) *Configuration {
	w.version++
	c = c.DeepCopy()
	c.UID = types.UID("uid-" + c.Name)
	c.ResourceVersion = strconv.Itoa(w.version)
	w.objects[c.Name] = c
	w.r.Touch(c.Name)
	return c.DeepCopy()
}

// put is somebody else's write.
func (w *world) put(c *Configuration) {
	locked(w, func() *Configuration { return w.store(c) })
}

func (w *world) remove(name string) {
	locked(w, func() bool { delete(w.objects, name); return true })
	w.r.Touch(name)
}

// rotate makes another bundle the one to write.
func (w *world) rotate(bundle string) {
	locked(w, func() bool { w.bundle = bundle; return true })
	w.changed <- struct{}{}
}

// pass lets virtual time go by, and the registrar come to rest.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) now() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// names lists the objects written so far, in order.
func (w *world) names() []string {
	var out []string
	for _, x := range w.written() {
		out = append(out, x.Name)
	}
	return out
}

func (w *world) written() []write {
	return locked(w, func() []write { return slices.Clone(w.writes) })
}

func (w *world) reported() []string {
	return locked(w, func() []string { return slices.Clone(w.reports) })
}

func (w *world) published() []string {
	return locked(w, func() []string { return slices.Clone(w.told) })
}

// object is a copy of what the API server has.
func (w *world) object(name string) *Configuration {
	return locked(w, func() *Configuration { return w.objects[name].DeepCopy() })
}

// live is an object as the installation makes it: without a bundle, with a hook of its own.
func (w *world) live(name string) *Configuration {
	all, _ := wanted(nil)
	i := slices.IndexFunc(all, func(c *Configuration) bool { return c.Name == name })
	all[i].Webhooks = append(all[i].Webhooks, admissionregistrationv1.MutatingWebhook{Name: "foreign.x"})
	return all[i]
}
