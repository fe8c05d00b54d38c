// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

const editsPerMinute = 3

// reconcile is one pass over one object. It asks to be called again after a while, or at once and
// ever later with an error.
func (r *Registrar) reconcile(ctx context.Context, name string) (again time.Duration, err error) {
	bundle, wanted, err := r.wanted()
	if err != nil {
		return 0, err
	}
	if r.o.Kin == nil && named(wanted, name) == nil {
		return 0, nil // somebody else's; or no longer wanted, and nothing is ever removed here
	}
	if r.o.Mode == AfterReady && !r.o.Ready(ctx) {
		return readyEvery, nil
	}
	live, err := r.objects.Configuration(ctx, name)
	if err != nil {
		return 0, err
	}
	want := r.want(name, live, wanted)
	if want == nil {
		r.publish(bundle, wanted) // one that has left is not waited for
		return 0, nil
	}
	rec := r.record(name)
	if live != nil && rec.got != nil {
		if older(live, rec.got) {
			return 0, nil // the cache has yet to show our own write; its event brings us back
		}
		rec.seen = true
	}
	p, err := r.plan(want, live, rec, bundle)
	if err != nil {
		return 0, fmt.Errorf("plan the webhook configuration %s: %w", name, err)
	}
	rec.missing = p.reason != ""
	switch {
	case p.reason != "":
		r.o.Report(name, Failure, p.reason)
		r.o.Log.Warn("webhook configuration cannot be written", "name", name, "reason", p.reason)
	case p.stands:
		rec.carries = bundle
	default:
		if err := r.write(ctx, name, p, rec); err != nil {
			return 0, err
		}
		if rec.stopped {
			return 0, nil
		}
		rec.carries = bundle
	}
	r.publish(bundle, wanted)
	return 0, nil
}

func (r *Registrar) record(name string) *record {
	if r.records[name] == nil {
		r.records[name] = &record{}
	}
	return r.records[name]
}

func (r *Registrar) write(ctx context.Context, name string, p plan, rec *record) error {
	undone := rec.seen && bytes.Equal(rec.patch, p.patch)
	if undone && r.contended(name, rec) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	got, err := r.objects.Apply(ctx, name, p.manager, p.patch)
	if err != nil {
		r.o.Report(name, Failure, UpdateFailed)
		return fmt.Errorf("apply the webhook configuration %s: %w", name, err)
	}
	edits := rec.edits
	if undone {
		edits = append(edits, time.Now())
	}
	*rec = record{patch: p.patch, got: got, edits: edits}
	r.o.Report(name, Success, "")
	r.o.Log.Info("webhook configuration written", "name", name, "manager", p.manager, "against_an_edit", undone)
	return nil
}

// contended tells whether the object is left to whoever keeps undoing the write.
func (r *Registrar) contended(name string, rec *record) bool {
	if rec.stopped {
		return true
	}
	minuteAgo := time.Now().Add(-time.Minute)
	rec.edits = slices.DeleteFunc(rec.edits, func(t time.Time) bool { return t.Before(minuteAgo) })
	if len(rec.edits) < editsPerMinute {
		return false
	}
	rec.stopped, rec.carries = true, nil
	r.o.Report(name, Failure, Contended)
	r.o.Log.Error("somebody keeps changing the webhook configuration; leaving it alone until the wanted one changes",
		"name", name)
	return true
}

// publish tells the bundle once all that shall carry it do.
func (r *Registrar) publish(bundle []byte, wanted []*Configuration) {
	if bytes.Equal(bundle, r.published) {
		return
	}
	carried := false
	for _, w := range slices.AppendSeq(slices.Clone(wanted), maps.Values(r.kin)) {
		rec := r.record(w.Name)
		if rec.missing {
			continue
		}
		if !bytes.Equal(rec.carries, bundle) {
			return
		}
		carried = true
	}
	if carried {
		r.published = bundle
		r.o.Published(bundle)
	}
}

func older(a, b *Configuration) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order < 0
}
