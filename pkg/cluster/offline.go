// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"sync"
)

// offline runs the servers alone.
func (m *Manager) offline(o Options) (*Manager, error) {
	if o.Register != nil {
		return nil, errors.New("webhooks cannot be registered without a cluster")
	}
	var err error
	if m.server, err = NewServer(withLog(o)); err != nil {
		return nil, err
	}
	m.run = func(ctx context.Context) error { return runOffline(ctx, m.server, o) }
	return m, nil
}

// runOffline keeps the manager's order: the plain servers stop after the drain.
func runOffline(ctx context.Context, server *Server, o Options) error {
	ctx, fail := context.WithCancel(ctx)
	defer fail()
	plainCtx, stopPlain := context.WithCancel(context.WithoutCancel(ctx))
	errs := make([]error, len(o.Plain))
	var plain sync.WaitGroup
	for i, p := range o.Plain {
		plain.Go(func() {
			errs[i] = p.server(o.Log).Start(plainCtx)
			fail()
		})
	}
	err := server.Start(ctx)
	stopPlain()
	plain.Wait()
	return errors.Join(append(errs, err)...)
}
