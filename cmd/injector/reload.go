// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/metrics"
)

// loadFirst loads the configuration at the start. A bad one stops the start: there is none to keep.
func (w *works) loadFirst() error {
	sources, err := readConfig(w.flags.engine.config)
	if err != nil {
		return err
	}
	w.sources = sources
	return w.load(sources)
}

// load compiles a configuration and puts it in force, all of it or nothing. Requests that have begun
// end with the engine that they began with.
func (w *works) load(sources map[string][]byte) error {
	c, err := config.Parse(sources)
	if err != nil {
		return badConfig(err)
	}
	if c, err = w.flags.engine.override(c); err != nil {
		return err
	}
	e, err := inject.New(c, inject.Options{Revision: w.flags.engine.revision, OwnNamespace: w.flags.namespace})
	if err != nil {
		return badConfig(err)
	}
	w.engine.Store(e)
	names := make([]string, len(c.Templates))
	for i, t := range c.Templates {
		names[i] = t.Name
	}
	w.metrics.Reloaded(metrics.Loaded{Hash: hashOf(sources), Templates: names, At: time.Now()})
	w.log.Info("configuration in force", "hash", hashOf(sources), "templates", names)
	return nil
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

// watchConfig loads the configuration again whenever its files change.
func (w *works) watchConfig(ctx context.Context) {
	path := w.flags.engine.config
	if path == "" {
		return
	}
	files.Watch(ctx, files.Watched{Path: path, Known: w.sources}, func(sources map[string][]byte, err error) {
		if err == nil {
			err = w.load(sources)
		}
		if err != nil {
			w.metrics.ReloadFailed()
			told := []any{"error", err}
			if f := (*failure)(nil); errors.As(err, &f) && f.hint != "" {
				told = append(told, "hint", f.hint)
			}
			w.log.Error("the new configuration cannot be used; the old one stays in force", told...)
			return
		}
		w.wake()
	})
}
