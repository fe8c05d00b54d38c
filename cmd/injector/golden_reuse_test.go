// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/test/reuse"
)

// lawOf compiles a case's configuration once for each size of the memory for finished injections.
func lawOf(t *testing.T, args []string) *reuse.Law {
	t.Helper()
	var flags engineFlags
	cmd := &cobra.Command{}
	flags.add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	texts, err := flags.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	law, err := reuse.New(func(size int64) (*inject.Engine, error) {
		return flags.compile(texts, inject.Options{Revision: flags.revision, OwnNamespace: ownNamespace, Offline: true, Reuse: size})
	})
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// reuse holds every pod of the case, twice, to the law that what is kept of one changes nothing for another:
// as its author wrote it, and as the workload's controller makes it.
func (g *golden) reuse(subjects []subject, args []string) {
	g.t.Helper()
	law := lawOf(g.t, args)
	for range 2 {
		for _, one := range subjects {
			_, written := law.Hold(one.doc.Raw(), one.facts)
			live := one.facts
			live.Owner, live.Trusted = nil, false
			_, made := law.Hold(controlled(g.t, one), live)
			if err := errors.Join(written, made); err != nil {
				g.t.Errorf("%s: %v", one.pod.Object(), err)
			}
		}
	}
}

// reuseHTTP posts a review twice to handlers that keep finished injections.
func reuseHTTP(t *testing.T, args []string, body, want []byte) {
	t.Helper()
	for _, e := range lawOf(t, args).Engines() {
		h := handler(e, inject.Facts{})
		for range 2 {
			if got := post(h, body).Body.Bytes(); !bytes.Equal(got, want) {
				t.Errorf("where outcomes are kept, the handler answers %s\nnot %s", got, want)
			}
		}
	}
}
