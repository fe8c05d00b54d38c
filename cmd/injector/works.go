// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/cert"
	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/metrics"
	"github.com/pillion-dev/pillion/pkg/revision"
	"github.com/pillion-dev/pillion/pkg/webhook"
)

// works is all that serve runs, wired together.
type works struct {
	flags   *serveFlags
	log     *slog.Logger
	metrics *metrics.Metrics
	engine  atomic.Pointer[inject.Engine]
	certs   *cert.SelfSigned
	mutator *webhook.Mutator
	manager *cluster.Manager
	probe   *probe
	host    string        // of the API server; empty without a cluster
	changed chan struct{} // what is registered may have to change

	reloading sync.Mutex
	texts     texts            // as they were read last
	unread    map[string]error // why a source could not be read last; nil: it could
	inForce   string           // the hash of the texts in force; empty: those read last could not be used
	more      more
	options   cluster.Options
}

// certEvery is how often the certificate is looked at: by the wall clock, since a paused machine
// fires no timer.
const certEvery = time.Minute

// maxInFlight sheds load before the API server's own timeout would: it asks again after a second.
const maxInFlight = 512

func newWorks(ctx context.Context, f *serveFlags, log *slog.Logger) (*works, error) {
	w := &works{flags: f, log: log, changed: make(chan struct{}, 1), unread: map[string]error{}}
	if err := w.loadFirst(ctx); err != nil {
		return nil, err
	}
	listener, err := f.listen(ctx, "--port", f.port)
	if err != nil {
		return nil, err
	}
	if f.url == ownURL {
		f.url = "https://" + localAddress(listener) + "/inject"
	}
	if w.certs, err = cert.NewSelfSigned(w.names(), time.Now()); err != nil {
		return nil, err
	}
	w.mutator = &webhook.Mutator{
		Engine: w.engine.Load, Proof: &webhook.Proof{Failed: w.metrics.ProofFailed}, Log: log, Now: time.Now, More: w.more.facts,
	}
	router := &admission.Router{}
	router.HandlePrefix("/inject", w.handler())
	options := cluster.Options{
		UserAgent: "pillion-injector/" + version,
		Log:       log,
		Server: cluster.ServerOptions{
			Listener: listener, Handler: router, GetCertificate: w.certs.GetCertificate, MinTLS: f.minTLS(),
			DrainFor:       max(f.drain, 1), // no drain; zero asks for the server's own default
			WebhookTimeout: time.Duration(f.wanted().TimeoutSeconds) * time.Second,
			Ready:          func() bool { return w.engine.Load() != nil && w.more.ready() }, Log: log,
		},
	}
	self := &webhook.Mutator{Engine: w.engine.Load, Proof: &webhook.Proof{}} // its namespace is in no cache
	w.probe = &probe{handler: admission.Handler(self, admission.Options{Mount: "/inject"}), tell: w.metrics.SelfProbe}
	if err := w.plain(ctx, &options); err != nil {
		return nil, err
	}
	if !f.offline {
		if options.Config, err = cluster.Load(f.kubeconfig); err != nil {
			return nil, &failure{exitUnreachable, err, "name a kubeconfig with --kubeconfig, or serve without a cluster with --offline"}
		}
		w.host, options.Register = options.Config.Host, w.registration()
	}
	if w.foreign() {
		options.OldKubelet, w.more.wanted = istio.OldKubelet, !f.offline
	}
	w.options = options
	if w.manager, err = cluster.New(options); err != nil {
		return nil, &failure{exitUnreachable, err, ""}
	}
	if !f.offline {
		w.mutator.Facts = w.manager.Facts()
	}
	log.Info("listening", "webhook", listener.Addr().String(), "url", f.url, "registration", f.registration, "revision", f.engine.revision, "version", version)
	return w, nil
}

// handler is the webhook's handler, measured.
func (w *works) handler() *admissionHandler {
	h := &admissionHandler{}
	h.Handler = admission.Handler(w.mutator, admission.Options{
		Mount: "/inject", Log: w.log, Now: time.Now,
		Shed: func() bool { return h.inFlight.Load() > maxInFlight },
		InFlight: func(delta int) {
			h.inFlight.Add(int64(delta))
			w.metrics.InFlight(delta)
		},
		Observe: func(o admission.Outcome) {
			if o.Panicked {
				w.metrics.Panicked()
			}
			w.metrics.Admission(metrics.Review{
				Webhook: metrics.Inject, Operation: o.Operation, Decision: metrics.Decision(o.Decision), Reason: o.Reason,
				DryRun: o.DryRun, Duration: o.Duration, PatchBytes: o.PatchBytes, Templates: o.Templates, Reused: o.Reused,
			})
		},
	})
	return h
}

// names are what the serving certificate vouches for: the Service, and every address by which a
// local API server may call.
func (w *works) names() cert.Options {
	f := w.flags
	service := f.service
	if service == "" {
		service = "injector"
		if f.engine.revision != revision.Default {
			service += "-" + f.engine.revision
		}
	}
	o := cert.Options{
		DNSNames: []string{service + "." + f.namespace + ".svc", service + "." + f.namespace + ".svc.cluster.local", "localhost"},
		IPs:      []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	hosts := []string{f.bind}
	if u, err := url.Parse(f.url); err == nil {
		hosts = append(hosts, u.Hostname())
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
			o.IPs = append(o.IPs, ip)
		} else if ip == nil && host != "" {
			o.DNSNames = append(o.DNSNames, host)
		}
	}
	return o
}

// registration says what stands in the cluster.
func (w *works) registration() *apply.Options {
	f := w.flags
	return &apply.Options{
		Mode: apply.Mode(f.registration),
		Wanted: func(bundle []byte) ([]*admissionregistrationv1.MutatingWebhookConfiguration, error) {
			v, engine := f.wanted(), w.engine.Load()
			v.CABundle, v.DropHostNetwork, v.DropWindows = bundle, !engine.AcceptsHostNetwork(), !engine.AcceptsOS("windows")
			return revision.Wanted(v)
		},
		Kin:       f.kin(),
		CABundle:  w.certs.CABundle,
		Changed:   w.changed,
		Ready:     w.probe.ok,
		Published: w.certs.Published,
		Report: func(name, result, why string) {
			w.metrics.WebhookPatch(name, patchReason(result, why))
		},
		Log: w.log,
	}
}

func patchReason(result, why string) metrics.PatchReason {
	if result == "success" {
		return metrics.PatchOK
	}
	return metrics.PatchReason(why)
}

// run starts everything and waits until the context ends.
func (w *works) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { w.watchConfig(ctx) })
	group.Go(func() { w.watchResources(ctx, w.options) })
	group.Go(func() { w.renewCerts(ctx) })
	group.Go(func() { w.awaitCluster(ctx) })
	err := w.manager.Start(ctx)
	stop()
	group.Wait()
	if err != nil {
		return &failure{exitFindings, fmt.Errorf("serve: %w", err), ""}
	}
	w.log.Info("stopped")
	return nil
}

// renewCerts looks at the certificate every minute, and tells the registrar of a new bundle.
func (w *works) renewCerts(ctx context.Context) {
	tick := time.NewTicker(certEvery)
	defer tick.Stop()
	for {
		w.metrics.Certificate(w.certs.NotAfter())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changed, err := w.certs.Renew(time.Now())
		if err != nil {
			w.log.Error("could not renew the certificate; the old one is still served", "error", err)
		}
		if changed {
			w.log.Info("renewed the certificate or its CA")
			w.wake()
		}
	}
}

// wake tells the registrar to look again.
func (w *works) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// localAddress is the listener's address as a local client reaches it.
func localAddress(l net.Listener) string {
	addr := l.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(addr.Port))
}
