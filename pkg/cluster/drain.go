// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Drain begins the end: the server is no longer ready, yet goes on answering for the drain's time,
// and closes each connection with its answer. So the API server comes back on a new connection,
// which leads elsewhere as soon as the endpoint is gone from its sight. Closing the port or the idle
// connections at once, as http.Server does, fails the requests that are on their way.
func (s *Server) Drain() {
	s.drainOnce.Do(func() {
		s.o.Log.Info("draining", "for", s.o.DrainFor.String())
		s.drained = s.after(s.o.DrainFor)
		s.draining.Store(true)
	})
}

// stopTime is the longest that a stop may take.
func (s *Server) stopTime() time.Duration {
	return s.o.DrainFor + s.o.WebhookTimeout + lastAnswers + lastCloses
}

// shutdown closes the port and waits for the requests under way.
func (s *Server) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.WebhookTimeout+lastAnswers)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return fmt.Errorf("stop serving webhooks: requests still under way: %w", err)
	}
	s.o.Log.Info("stopped serving webhooks")
	return nil
}

// serve is the whole of what answers on the port, whatever the path.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, server: s}
	if !s.o.Ready() {
		a.Header().Set("Retry-After", "1")
		http.Error(a, "not ready yet", http.StatusServiceUnavailable)
		return
	}
	s.o.Handler.ServeHTTP(a, r)
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
}

// answer looks at the drain when an answer begins, not when its request came, so that a request that
// was under way when the drain began closes its connection too.
type answer struct {
	http.ResponseWriter
	server *Server
	begun  bool
}

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun = true
		if a.server.draining.Load() {
			a.Header().Set("Connection", "close")
		}
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write begins the answer where that has not been done.
func (a *answer) Write(b []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
