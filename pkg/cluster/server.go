// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	headerTimeout  = 5 * time.Second   // a client that dribbles its headers
	bodyTimeout    = 15 * time.Second  // headers and body together
	idleTimeout    = 120 * time.Second // over the API server's 90 s, so that it is never us who closes first
	maxHeaderBytes = 64 << 10
	keepAlive      = 15 * time.Second

	// defaultDrain is longer than a removed endpoint takes to reach the API servers and the nodes,
	// which is seldom over three seconds.
	defaultDrain = 5 * time.Second

	// defaultWebhookTimeout is the API server's own default.
	defaultWebhookTimeout = 10 * time.Second

	// lastAnswers is for what is under way when the port closes, beyond the webhook timeout, and
	// lastCloses for the connections that are then cut: crypto/tls waits 5 s for a peer that does not
	// read.
	lastAnswers = 2 * time.Second
	lastCloses  = 6 * time.Second
)

// Router answers on the webhook port: an exact table of paths, with no redirect in it.
type Router interface {
	http.Handler
	Handle(path string, h http.Handler)
}

// ServerOptions are what a Server is made of.
type ServerOptions struct {
	Listener net.Listener // wins over Addr; see Listen
	Addr     string

	Handler        Router
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

	// MinTLS is tls.VersionTLS13 (also when zero), or tls.VersionTLS12 with AEAD suites only.
	MinTLS uint16

	// DrainFor is how long the server goes on answering after it was told to stop; default 5 s.
	DrainFor time.Duration

	// WebhookTimeout is the longest timeoutSeconds of the webhooks served; default 10 s.
	WebhookTimeout time.Duration

	// Ready tells whether a review can be answered. Until then every request gets 503 and is asked
	// to come again, which the API server does within the webhook's timeout.
	Ready func() bool

	Log *slog.Logger
}

// Server serves the webhooks as the API server likes them: HTTP/1.1 over TLS, and a stop that fails
// no request. It takes the place of controller-runtime's server in a manager, and nothing of
// controller-runtime's answers on its port.
type Server struct {
	o    ServerOptions
	http *http.Server

	started   atomic.Bool
	draining  atomic.Bool
	drainOnce sync.Once
	drained   <-chan time.Time

	after func(time.Duration) <-chan time.Time
}

var _ webhook.Server = (*Server)(nil)

// NewServer makes a Server; Start runs it.
func NewServer(o ServerOptions) (*Server, error) {
	switch {
	case o.Handler == nil:
		return nil, errors.New("the webhook server needs a handler")
	case o.GetCertificate == nil:
		return nil, errors.New("the webhook server needs a certificate")
	case o.MinTLS != 0 && o.MinTLS != tls.VersionTLS12 && o.MinTLS != tls.VersionTLS13:
		return nil, fmt.Errorf("minimum TLS version %s: want TLS 1.2 or TLS 1.3", tls.VersionName(o.MinTLS))
	case o.DrainFor < 0 || o.WebhookTimeout < 0:
		return nil, fmt.Errorf("drain %s and webhook timeout %s: want none below zero", o.DrainFor, o.WebhookTimeout)
	}
	if o.DrainFor == 0 {
		o.DrainFor = defaultDrain
	}
	if o.WebhookTimeout == 0 {
		o.WebhookTimeout = defaultWebhookTimeout
	}
	if o.Ready == nil {
		o.Ready = func() bool { return true }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, after: time.After}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		TLSConfig:         tlsConfig(o),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      bodyTimeout + o.WebhookTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         http1(),
		ErrorLog:          log.New(errorLog{o.Log}, "", 0),
	}
	return s, nil
}

// http1 leaves HTTP/2 out: the API server does not speak it to webhooks, it costs twice the CPU, and
// its floods are then no concern.
func http1() *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(true)
	return p
}

func tlsConfig(o ServerOptions) *tls.Config {
	c := &tls.Config{
		GetCertificate: o.GetCertificate,
		MinVersion:     tls.VersionTLS13,
	}
	if o.MinTLS == tls.VersionTLS12 {
		c.MinVersion = tls.VersionTLS12
		c.CipherSuites = []uint16{ // of TLS 1.2; those of 1.3 are all AEAD
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
			tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		}
	}
	return c
}

// Listen opens a TCP port whose dead connections are noticed.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	config := net.ListenConfig{KeepAlive: keepAlive}
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}

// NeedLeaderElection is false: every replica answers.
func (s *Server) NeedLeaderElection() bool { return false }

// Register puts a handler on the router.
func (s *Server) Register(path string, h http.Handler) { s.o.Handler.Handle(path, h) }

// WebhookMux is there for the interface. Nothing serves it: a ServeMux redirects, and the API server
// follows a redirect to wherever it leads.
func (s *Server) WebhookMux() *http.ServeMux { return http.NewServeMux() }

// StartedChecker is healthy while the port is open.
func (s *Server) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.started.Load() {
			return errors.New("the webhook server does not listen")
		}
		return nil
	}
}

// Ready tells whether this server should be sent requests: it listens, can answer and is not about
// to stop.
func (s *Server) Ready() bool {
	return s.started.Load() && !s.draining.Load() && s.o.Ready()
}

// Start serves until the context ends and the drain is over.
func (s *Server) Start(ctx context.Context) error {
	l := s.o.Listener
	if l == nil {
		var err error
		if l, err = Listen(ctx, s.o.Addr); err != nil {
			return err
		}
	}
	served := make(chan error, 1)
	go func() { served <- s.http.ServeTLS(l, "", "") }()
	s.started.Store(true)
	defer s.started.Store(false)
	s.o.Log.Info("serving webhooks", "address", l.Addr().String())

	select {
	case err := <-served:
		return fmt.Errorf("serve webhooks on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.Drain()
	select {
	case err := <-served:
		return fmt.Errorf("serve webhooks on %s: %w", l.Addr(), err)
	case <-s.drained:
	}
	return s.shutdown()
}
