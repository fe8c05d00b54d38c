// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pillion-dev/pillion/pkg/cluster"
)

// admissionHandler is a handler that knows how many requests it is answering.
type admissionHandler struct {
	http.Handler
	inFlight atomic.Int64
}

// plain opens the ports of the probes and of the metrics.
func (w *works) plain(ctx context.Context, o *cluster.Options) error {
	health, err := w.flags.listen(ctx, "--health-port", w.flags.healthPort)
	if err != nil {
		return err
	}
	scrape, err := w.flags.listen(ctx, "--metrics-port", w.flags.metricsPort)
	if err != nil {
		return err
	}
	probes := http.NewServeMux()
	probes.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	probes.HandleFunc("GET /readyz", w.ready)
	meter := http.NewServeMux()
	meter.Handle("GET /metrics", w.metrics.Handler())
	o.Plain = []cluster.Plain{
		{Name: "health", Listener: health, Handler: probes},
		{Name: "metrics", Listener: scrape, Handler: meter},
	}
	w.log.Info("probes and metrics", "health", health.Addr().String(), "metrics", scrape.Addr().String())
	return nil
}

// ready answers whether requests should be sent here: the caches have synced, no stop has begun, and
// a review through the own handler is answered.
func (w *works) ready(rw http.ResponseWriter, r *http.Request) {
	if !w.manager.Server().Ready() {
		http.Error(rw, "not ready: the caches have not synced, or a stop has begun", http.StatusServiceUnavailable)
		return
	}
	if !w.probe.ok(r.Context()) {
		http.Error(rw, "not ready: the self-test failed", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// probe is the self-test: a review of a sample pod through a handler of the same making.
type probe struct {
	handler http.Handler
	tell    func(ok bool, d time.Duration)
}

const probeReview = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"self-test",
"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
"operation":"CREATE","namespace":"self-test","dryRun":true,"userInfo":{"username":"self-test"},
"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"self-test","labels":{"pillion.dev/inject":"enabled"}},
"spec":{"containers":[{"name":"app","image":"registry.example/app:1"}]}}}}`

func (p *probe) ok(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "/inject?timeout=5s", bytes.NewReader([]byte(probeReview)))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(rec, req)
	ok := rec.status == http.StatusOK && bytes.Contains(rec.body.Bytes(), []byte(`"uid":"self-test"`))
	p.tell(ok, time.Since(begin))
	return ok
}

// recorder is an answer kept in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// awaitEvery is how often a start that waits for the API server says so.
const awaitEvery = 10 * time.Second

// awaitCluster tells while the API server has not answered: until it does, no review is.
func (w *works) awaitCluster(ctx context.Context) {
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for w.host != "" && !w.manager.Facts().Synced() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !w.manager.Facts().Synced() {
				w.log.Warn("namespaces and nodes cannot be read from the API server yet; until they can, every review gets 503", "host", w.host)
			}
		}
	}
}
