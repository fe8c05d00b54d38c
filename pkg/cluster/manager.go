// SPDX-License-Identifier: Apache-2.0

// Package cluster is where the project meets Kubernetes: the webhook server, the caches that
// requests read, and the writers, run by one controller-runtime manager. Nothing else imports
// client-go or controller-runtime.
package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/cluster/cache"
)

// Options are what a Manager runs.
type Options struct {
	Config    *rest.Config // nil: without a cluster; no facts are known then, and nothing is registered
	UserAgent string

	Server ServerOptions
	Plain  []Plain

	// OldKubelet is the cache's: which kubelets do not run native sidecars; nil: those before 1.29.
	OldKubelet func(version string) bool

	// Register writes the webhook configurations; nil leaves them alone.
	Register *apply.Options

	Log *slog.Logger
}

// Manager runs the webhook server, the caches and the registrar together, and stops them in an order
// that fails no request: the server drains while probes and metrics still answer.
type Manager struct {
	server *Server
	facts  *cache.Facts
	run    func(context.Context) error
}

// New builds all parts and calls no API server.
func New(o Options) (*Manager, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{facts: &cache.Facts{}}
	if o.Config == nil {
		return m.offline(o)
	}
	config := rest.CopyConfig(o.Config)
	if o.UserAgent != "" {
		config.UserAgent = o.UserAgent
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", config.Host, err)
	}
	watched, err := cache.New(cache.Options{Config: config, HTTP: client, Mapper: mapper(), OldKubelet: o.OldKubelet})
	if err != nil {
		return nil, err
	}
	m.facts = &watched.Facts
	o.Server.Ready = both(watched.Synced, o.Server.Ready)
	if m.server, err = NewServer(withLog(o)); err != nil {
		return nil, err
	}
	runnables := []manager.Runnable{nonLeader(watched.Start)}
	if o.Register != nil {
		r, err := registrar(*o.Register, watched, config, client)
		if err != nil {
			return nil, err
		}
		runnables = append(runnables, r)
	}
	return m.managed(o, config, runnables)
}

// managed hands all parts to a controller-runtime manager. The cache is a part like any other: as the
// manager's own, it would keep a stop waiting for ever while the API server is away.
func (m *Manager) managed(o Options, config *rest.Config, runnables []manager.Runnable) (*Manager, error) {
	logger := logr.FromSlogHandler(o.Log.Handler())
	stop := m.server.stopTime() + plainStopTimeout
	mgr, err := manager.New(config, manager.Options{
		Logger:                  logger,
		MapperProvider:          func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		LeaderElection:          false,
		WebhookServer:           m.server,
		GracefulShutdownTimeout: &stop,
		BaseContext:             func() context.Context { return logr.NewContext(context.Background(), logger) },
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	for _, p := range o.Plain {
		runnables = append(runnables, p.server(o.Log))
	}
	for _, r := range runnables {
		if err := mgr.Add(r); err != nil {
			return nil, fmt.Errorf("add a part to the manager: %w", err)
		}
	}
	mgr.GetWebhookServer() // the first call adds it to the manager's parts
	m.run = mgr.Start
	return m, nil
}

func registrar(o apply.Options, watched *cache.Cache, config *rest.Config, client *http.Client) (manager.Runnable, error) {
	writer, err := admissionclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make a client for webhook configurations: %w", err)
	}
	r, err := apply.New(o, apply.InCluster{Seen: watched, Client: writer.MutatingWebhookConfigurations()})
	if err != nil {
		return nil, err
	}
	synced, err := watched.Configurations(r.Touch)
	if err != nil {
		return nil, err
	}
	return nonLeader(func(ctx context.Context) error {
		if !toolscache.WaitForCacheSync(ctx.Done(), synced) {
			return nil // told to stop before
		}
		return r.Start(ctx)
	}), nil
}

// Server is the webhook server, for its readiness.
func (m *Manager) Server() *Server { return m.server }

// Facts is what the caches know.
func (m *Manager) Facts() *cache.Facts { return m.facts }

// Start runs all parts until the context ends or one of them fails. Readiness goes first, at once.
func (m *Manager) Start(ctx context.Context) error {
	stop := context.AfterFunc(ctx, m.server.Drain)
	defer stop()
	return m.run(ctx)
}

// nonLeader is a part that runs in every replica.
type nonLeader func(context.Context) error

// Start runs the part.
func (f nonLeader) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is false.
func (nonLeader) NeedLeaderElection() bool { return false }

func withLog(o Options) ServerOptions {
	if o.Server.Log == nil {
		o.Server.Log = o.Log
	}
	return o.Server
}

func both(a, b func() bool) func() bool {
	if b == nil {
		return a
	}
	return func() bool { return a() && b() }
}
