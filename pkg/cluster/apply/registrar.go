// SPDX-License-Identifier: Apache-2.0

// Package apply writes the webhook configurations, by server-side apply, and keeps them written.
//
// It needs patch on the mutatingwebhookconfigurations that it writes, by resourceName, and create
// where it makes them; the cache that it reads needs get, list and watch.
package apply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/util/workqueue"
)

// Mode is how the webhook configurations come to be.
type Mode string

// The modes.
const (
	Static     Mode = "static"     // the installation makes them; only caBundle is written
	AfterReady Mode = "afterReady" // they are made once the server can answer, and made again when deleted
)

// What Report tells: the result of a pass over one configuration, and why it failed.
const (
	Success = "success"
	Failure = "failure"

	NoBundle      = "load_ca_bundle_failure"
	NotFound      = "webhook_config_not_found" // static: the installation has not made it (yet)
	EntryNotFound = "webhook_entry_not_found"  // static: it has none of the hooks that are served
	UpdateFailed  = "webhook_update_failure"   // told for every try that failed
	NotWanted     = "webhook_config_invalid"   // the wanted configurations could not be made
	Contended     = "contended"                // somebody keeps undoing the write; see Registrar
)

const (
	sweepEvery   = 5 * time.Minute // in case an event was lost
	readyEvery   = time.Second
	firstRetry   = 250 * time.Millisecond
	lastRetry    = 30 * time.Second
	writeTimeout = 10 * time.Second
)

// Configuration is the kind of object that is written.
type Configuration = admissionregistrationv1.MutatingWebhookConfiguration

// Options are the wishes behind a Registrar and its ties to the rest.
type Options struct {
	Mode Mode

	// Wanted makes the configurations that shall stand, with the bundle in each. Under Static only
	// the names in them count: of the objects, and of the hooks whose caBundle is written.
	Wanted func(caBundle []byte) ([]*Configuration, error)

	// Kin are configurations beside those, whose bundle is kept true; nil: none.
	Kin *Kin

	// CABundle is the bundle that verifies the certificate served, and after a rotation also the one
	// that will be served next.
	CABundle func() []byte

	// Changed wakes the registrar when Wanted or CABundle would answer differently. It may be nil.
	Changed <-chan struct{}

	// Ready tells whether the server can answer a review. AfterReady waits for it.
	Ready func(context.Context) bool

	// Published is told the bundle once every configuration carries it, so that the certificate that
	// needs it may be served. Under Static a configuration without any hook of ours is not
	// waited for.
	Published func(caBundle []byte)

	// Report is told the result of every pass over a configuration that wrote or failed.
	Report func(name, result, reason string)

	Log *slog.Logger
}

// Objects is where the configurations live.
type Objects interface {
	// Configuration is a copy of the object as last seen, or nil when there is none.
	Configuration(ctx context.Context, name string) (*Configuration, error)

	// Apply sends a server-side apply patch, with force, and gives the object that came of it.
	Apply(ctx context.Context, name, manager string, patch []byte) (*Configuration, error)
}

// Registrar keeps the webhook configurations as wanted. A write that fails is tried again, at a
// growing distance, until it succeeds. When somebody else undoes the writes to one object more often
// than three times a minute, the registrar leaves it alone until what is wanted changes: two writers
// that fight load the API server and help nobody.
//
// It runs in every replica. While each replica has a certificate authority of its own, as with the
// self-signed certificate kept in memory, two replicas would undo each other's bundle, so only one
// replica is supported then.
type Registrar struct {
	o       Options
	objects Objects
	queue   workqueue.TypedRateLimitingInterface[string]

	// Touched by the one worker alone.
	records   map[string]*record
	kin       map[string]*Configuration // by name, as far as they are ours
	published []byte
}

// record is what the registrar knows of one object.
type record struct {
	patch   []byte         // of the last write
	got     *Configuration // what the server made of it
	seen    bool           // the cache has shown it since
	edits   []time.Time    // writes against somebody's edit, of the last minute
	stopped bool
	carries []byte // the bundle that the object is known to carry
	missing bool   // under Static: it does not exist, or has no hook of ours
}

// New makes a Registrar; Start runs it.
func New(o Options, objects Objects) (*Registrar, error) {
	if o.Mode != Static && o.Mode != AfterReady {
		return nil, fmt.Errorf("unknown registration %q: want %s or %s", o.Mode, Static, AfterReady)
	}
	if o.Wanted == nil || o.CABundle == nil {
		return nil, errors.New("registration needs the wanted configurations and a CA bundle")
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) bool { return true }
	}
	if o.Published == nil {
		o.Published = func([]byte) {}
	}
	if o.Report == nil {
		o.Report = func(string, string, string) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Registrar{
		o:       o,
		objects: objects,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
		records: map[string]*record{},
		kin:     map[string]*Configuration{},
	}, nil
}

// Touch asks for a pass over one object, as when it has changed or gone.
func (r *Registrar) Touch(name string) { r.queue.Add(name) }

// sweep is the key in the queue that stands for all objects.
const sweep = ""

// Start works until the context ends.
func (r *Registrar) Start(ctx context.Context) error {
	var helpers sync.WaitGroup
	helpers.Go(func() { r.wake(ctx) })
	defer helpers.Wait()
	r.queue.Add(sweep)
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return nil
		}
		r.work(ctx, name)
	}
}

// wake sweeps whenever something changed and from time to time, and ends the queue with the context.
func (r *Registrar) wake(ctx context.Context) {
	defer r.queue.ShutDown()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	changed := r.o.Changed
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case _, open := <-changed:
			if !open {
				changed = nil
			}
		}
		r.queue.Add(sweep)
	}
}

func (r *Registrar) work(ctx context.Context, name string) {
	defer r.queue.Done(name)
	pass := r.reconcile
	if name == sweep {
		pass = r.sweep
	}
	again, err := pass(ctx, name)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.o.Log.Error("webhook configuration not written; trying again",
			"name", name, "error", err, "tries", r.queue.NumRequeues(name)+1)
		r.queue.AddRateLimited(name)
	case again > 0:
		r.queue.Forget(name)
		r.queue.AddAfter(name, again)
	default:
		r.queue.Forget(name)
	}
}

// sweep asks for a pass over each wanted object.
func (r *Registrar) sweep(context.Context, string) (time.Duration, error) {
	_, wanted, err := r.wanted()
	if err != nil {
		return 0, err
	}
	for _, w := range wanted {
		r.queue.Add(w.Name)
	}
	for name := range r.kin {
		r.queue.Add(name)
	}
	return 0, nil
}

func (r *Registrar) wanted() (bundle []byte, wanted []*Configuration, err error) {
	bundle = slices.Clone(r.o.CABundle())
	if len(bundle) == 0 {
		r.o.Report("", Failure, NoBundle)
		return nil, nil, errors.New("there is no CA bundle yet")
	}
	wanted, err = r.o.Wanted(bundle)
	if err != nil {
		r.o.Report("", Failure, NotWanted)
		return nil, nil, fmt.Errorf("make the wanted webhook configurations: %w", err)
	}
	return bundle, wanted, nil
}
