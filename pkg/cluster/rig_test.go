// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// table is an exact-match Router.
type table map[string]http.Handler

func (t table) Handle(path string, h http.Handler) { t[path] = h }

func (t table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, ok := t[r.URL.Path]
	if !ok {
		http.Error(w, "no such path", http.StatusNotFound)
		return
	}
	h.ServeHTTP(w, r)
}

// echo reads the body and says how long it was, as the review handler would have to.
func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "body not read", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "fine")
	})
}

// identity is a serving certificate for 127.0.0.1 and who to trust for it.
type identity struct {
	certificate *tls.Certificate
	roots       *x509.CertPool
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	id := identity{certificate: &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots: x509.NewCertPool()}
	id.roots.AddCert(leaf)
	return id
}

func (id identity) options(h http.Handler) ServerOptions {
	return ServerOptions{
		Handler:        table{"/inject": h},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return id.certificate, nil },
	}
}

func (id identity) client() *tls.Config {
	return &tls.Config{RootCAs: id.roots, ServerName: "127.0.0.1", NextProtos: []string{"http/1.1"}}
}

// listen is a port on loopback.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// start runs a server; stop ends it and gives what Start returned.
func start(t *testing.T, s *Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// atOnce ends a drain as soon as it begins.
func atOnce(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// pipes is a listener in memory, so that its connections' deadlines run in virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// dial opens a TLS connection through the listener.
func (p *pipes) dial(t *testing.T, config *tls.Config) *tls.Conn {
	t.Helper()
	near, far := net.Pipe()
	p.conns <- far
	c := tls.Client(near, config)
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return c
}
