// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/cluster/sources"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/metrics"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// more is what the dialect learns from the cluster beside its configuration.
type more struct {
	held   atomic.Pointer[istio.More]
	wanted bool // readiness waits for the first answer
}

func (m *more) facts() any {
	if held := m.held.Load(); held != nil {
		return *held
	}
	return nil
}

func (m *more) ready() bool { return !m.wanted || m.held.Load() != nil }

// foreign tells whether the Istio dialect is served.
func (w *works) foreign() bool {
	e := w.engine.Load()
	return e != nil && e.Config().Dialect == config.DialectIstio
}

// newMetrics are the metrics; dashboards of the Istio dialect find those that they know, too.
func newMetrics(rev string, foreign bool) *metrics.Metrics {
	o := metrics.Options{Revision: rev}
	if foreign {
		o.Alias = "sidecar_injection"
	}
	return metrics.With(o)
}

// watchResources follows the ProxyConfig resources until the context ends.
func (w *works) watchResources(ctx context.Context, o cluster.Options) {
	if !w.more.wanted {
		return
	}
	watched := sources.Resource{
		Config: o.Config, Group: istio.ResourceGroup, Resource: istio.ResourceName, Versions: istio.ResourceVersions(), Log: w.log,
	}
	err := sources.WatchResource(ctx, watched, func(objects [][]byte, err error) {
		if err != nil {
			w.log.Error("ProxyConfig resources cannot be read; the last ones seen count", "error", err)
			w.more.held.CompareAndSwap(nil, &istio.More{})
			return
		}
		next, faults := istio.NewMore(objects)
		for _, fault := range faults {
			w.log.Error("a ProxyConfig resource is left out", "error", fault)
		}
		w.more.held.Store(&next)
	})
	if err != nil {
		w.log.Error("ProxyConfig resources cannot be followed", "error", err)
		w.more.held.CompareAndSwap(nil, &istio.More{})
	}
}

// speak puts the webhook configuration into the words of the dialect.
func (f *serveFlags) speak(v revision.Values) revision.Values {
	if !f.foreign {
		return v
	}
	v.Entries = istio.Entries(f.engine.revision)
	if !f.said("reinvocation-policy") {
		v.ReinvocationPolicy = "Never"
	}
	if !f.said("webhook-timeout") {
		v.TimeoutSeconds = 10
	}
	return v
}

// kin are the configurations that are not ours by name but lead to us: revision tags.
func (f *serveFlags) kin() *apply.Kin {
	if !f.foreign {
		return nil
	}
	return &apply.Kin{Labels: map[string]string{"istio.io/rev": f.engine.revision}, HookSuffix: istio.HookSuffix}
}
