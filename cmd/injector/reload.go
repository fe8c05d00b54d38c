// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/sources"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/metrics"
)

// loadFirst loads the configuration at the start. A bad one stops the start: there is none to keep.
func (w *works) loadFirst(ctx context.Context) error {
	w.flags.engine.kubeconfig = &w.flags.kubeconfig
	t, err := w.readFirst(ctx)
	if err != nil {
		return err
	}
	if w.flags.foreign, err = w.flags.engine.speaksIstio(t); err != nil {
		return err
	}
	if w.flags.foreign { // an edit that spoils the shape changes no dialect
		w.flags.engine.dialect = config.DialectIstio
	}
	w.metrics = newMetrics(w.flags.engine.revision, w.flags.foreign)
	w.texts, w.inForce = t, t.hash()
	return w.load(t)
}

// readAgain is how long a start waits before it asks an API server again that is away.
const readAgain = time.Second

// readFirst reads the texts at the start, and waits for an API server that is away: a process that
// ends for it would be started again ever later, and keep pods waiting when the API server is back.
func (w *works) readFirst(ctx context.Context) (texts, error) {
	for told := (time.Time{}); ; {
		t, err := w.flags.engine.read(ctx)
		if err == nil || !away(err) {
			return t, err
		}
		if time.Since(told) >= awaitEvery {
			told = time.Now()
			w.log.Warn("the configuration cannot be read from the API server yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return t, err
		case <-time.After(readAgain):
		}
	}
}

// away tells whether an API server did not answer, or not for now: a refusal is for a person to mend.
func away(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= 500 || code == 429
	}
	var call *url.Error
	return errors.As(err, &call)
}

// load compiles a configuration and puts it in force, all of it or nothing. Requests that have begun
// end with the engine that they began with.
func (w *works) load(t texts) error {
	e, err := w.flags.engine.compile(t, inject.Options{Revision: w.flags.engine.revision, OwnNamespace: w.flags.namespace, Reuse: w.flags.reuse})
	if err != nil {
		return err
	}
	if was := w.engine.Load(); was != nil && was.Config().Dialect != e.Config().Dialect {
		return usage("start another injector for it", "the configuration changed from dialect %s to %s", was.Config().Dialect, e.Config().Dialect)
	}
	w.engine.Store(e)
	list := e.Config().Templates
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	w.metrics.Reloaded(metrics.Loaded{Hash: t.hash(), Templates: names, At: time.Now()})
	w.log.Info("configuration in force", "hash", t.hash(), "templates", names)
	w.advise(t)
	return nil
}

// advise tells of what lint would warn of: it is in force, and most probably not meant.
func (w *works) advise(t texts) {
	findings, err := w.flags.engine.findings(t)
	if err != nil {
		w.log.Warn("the configuration in force could not be linted", "error", err)
		return
	}
	for _, f := range findings {
		w.log.Warn("a warning about the configuration in force",
			"id", f.ID, "object", f.Object, "path", f.Path, "file", f.File, "line", f.Line, "detail", f.Detail, "hint", f.Hint)
	}
	if w.flags.foreign && t.mesh == nil && !istio.Holds(t.config, meshFlag) {
		w.log.Warn("there is no mesh configuration, so the defaults of a mesh hold", "hint", "name it with --mesh")
	}
}

// hashOf is 12 hex digits that tell one set of configuration files from another.
func hashOf(sources map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		h.Write([]byte(name))
		h.Write([]byte{0})
		h.Write(sources[name])
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// watchConfig loads the configuration again whenever its files or its ConfigMaps change. All of its
// texts are read again then, and go into force together.
func (w *works) watchConfig(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	config, mesh, _ := w.flags.engine.refs() // it was checked at the start
	first := w.texts                         // before anything can change them
	var refs []sources.Ref
	for _, part := range []struct {
		ref  *sources.Ref
		path string
		of   func(*texts) *map[string][]byte
	}{
		{config, w.flags.engine.config, func(t *texts) *map[string][]byte { return &t.config }},
		{mesh, w.flags.engine.mesh, func(t *texts) *map[string][]byte { return &t.mesh }},
	} {
		switch {
		case part.ref != nil:
			refs = append(refs, *part.ref)
		case part.path != "":
			group.Go(func() {
				files.Watch(ctx, files.Watched{Path: part.path, Known: *part.of(&first)}, func(read map[string][]byte, err error) {
					w.reload(part.path, err, func(t *texts) error { *part.of(t) = read; return nil })
				})
			})
		}
	}
	if len(refs) > 0 {
		w.watchConfigMaps(ctx, refs, func(all map[sources.Ref]sources.ConfigMap, err error) {
			w.reload(refPrefix, err, func(t *texts) error { return t.take(all, config, mesh) })
		})
	}
}

// watchConfigMaps follows ConfigMaps until the context ends.
func (w *works) watchConfigMaps(ctx context.Context, refs []sources.Ref, changed func(map[sources.Ref]sources.ConfigMap, error)) {
	config, err := cluster.Load(w.flags.kubeconfig)
	if err == nil {
		err = sources.WatchConfigMaps(ctx, sources.ConfigMaps{Config: config, Refs: refs, Log: w.log}, changed)
	}
	if err != nil {
		w.log.Error("the configuration in the cluster cannot be followed; what was read at the start stays in force", "error", err)
	}
}

// reload takes what a source tells, and puts in force what all of them told last, or keeps the old
// configuration while any of it cannot be used. Going back to what is in force mends a fault too.
func (w *works) reload(source string, err error, change func(*texts) error) {
	w.reloading.Lock()
	defer w.reloading.Unlock()
	next := w.texts
	if err == nil {
		err = change(&next)
	}
	if err == nil {
		w.texts = next
	}
	w.unread[source] = err
	if err = w.faults(); err == nil && w.texts.hash() == w.inForce {
		return
	}
	if err == nil {
		err = w.load(w.texts)
	}
	if err != nil {
		w.inForce = ""
		w.refused(err)
		return
	}
	w.inForce = w.texts.hash()
	w.wake()
}

// faults are those of the sources that cannot be read now.
func (w *works) faults() error {
	var all []error
	for _, source := range slices.Sorted(maps.Keys(w.unread)) {
		all = append(all, w.unread[source])
	}
	return errors.Join(all...)
}

// refused tells of a configuration that cannot be used.
func (w *works) refused(err error) {
	w.metrics.ReloadFailed()
	told := []any{"error", err}
	if f := (*failure)(nil); errors.As(err, &f) && f.hint != "" {
		told = append(told, "hint", f.hint)
	}
	w.log.Error("the new configuration cannot be used; the old one stays in force", told...)
}
