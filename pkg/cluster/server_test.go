// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTLS(t *testing.T) {
	id := newIdentity(t)
	for name, c := range map[string]struct {
		reason string
		min    uint16
		client func(*tls.Config)
		want   string // version and protocol; empty: refused
	}{
		"default":         {"what the API server offers", 0, func(*tls.Config) {}, "TLS 1.3 http/1.1"},
		"both protocols":  {"HTTP/2 is not spoken", 0, alpn("h2", "http/1.1"), "TLS 1.3 http/1.1"},
		"only HTTP/2":     {"HTTP/2 is not spoken", 0, alpn("h2"), ""},
		"no ALPN":         {"an old client that does not name a protocol", 0, alpn(), "TLS 1.3 "},
		"TLS 1.2":         {"1.3 is the least by default", 0, upTo(tls.VersionTLS12), ""},
		"TLS 1.2 allowed": {"for proxies that lack 1.3", tls.VersionTLS12, upTo(tls.VersionTLS12), "TLS 1.2 http/1.1"},
		"1.3 still wins":  {"the best that both know", tls.VersionTLS12, func(*tls.Config) {}, "TLS 1.3 http/1.1"},
		"TLS 1.2 CBC":     {"AEAD suites only", tls.VersionTLS12, suites(tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA), ""},
		"TLS 1.2 GCM":     {"AEAD suites only", tls.VersionTLS12, suites(tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256), "TLS 1.2 http/1.1"},
		"TLS 1.1":         {"never", tls.VersionTLS12, upTo(tls.VersionTLS11), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := id.options(echo())
			o.Listener, o.MinTLS = listen(t), c.min
			stop := start(t, fast(t, o))
			config := id.client()
			c.client(config)
			got := ""
			if conn, err := tls.Dial("tcp", o.Listener.Addr().String(), config); err == nil {
				state := conn.ConnectionState()
				got = tls.VersionName(state.Version) + " " + state.NegotiatedProtocol
				_ = conn.Close()
			}
			if got != c.want {
				t.Errorf("got %q, want %q: %s", got, c.want, c.reason)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func alpn(protocols ...string) func(*tls.Config) {
	return func(c *tls.Config) { c.NextProtos = protocols }
}

func upTo(version uint16) func(*tls.Config) {
	return func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, version }
}

func suites(s ...uint16) func(*tls.Config) {
	return func(c *tls.Config) { c.MaxVersion, c.CipherSuites = tls.VersionTLS12, s }
}

// fast is a server that does not wait before it stops.
func fast(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.after = atOnce
	return s
}

// Each request is sent as written, so that nothing on our side makes it well-formed.
func TestAnswers(t *testing.T) {
	id := newIdentity(t)
	head := " HTTP/1.1\r\nHost: x\r\n"
	for name, c := range map[string]struct {
		reason  string
		ready   bool
		request string
		want    string
	}{
		"fine":         {"the router answers", true, "POST /inject" + head + "Content-Length: 2\r\n\r\n{}", "200"},
		"not ready":    {"the API server comes again when told to", false, "POST /inject" + head + "Content-Length: 2\r\n\r\n{}", "503 Retry-After=1"},
		"registered":   {"Register reaches the router", true, "GET /registered" + head + "\r\n", "200"},
		"double slash": {"a ServeMux would redirect", true, "POST //inject" + head + "\r\n", "404"},
		"dots":         {"a ServeMux would redirect", true, "POST /x/../inject" + head + "\r\n", "404"},
		"convert":      {"controller-runtime's conversion path", true, "POST /convert" + head + "\r\n", "404"},
		"long header":  {"64 KiB is plenty", true, "GET /inject" + head + "X: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", "431"},
		"HTTP/2":       {"the preface is no request", true, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404"},
	} {
		t.Run(name, func(t *testing.T) {
			o := id.options(echo())
			o.Listener, o.Ready = listen(t), func() bool { return c.ready }
			s := fast(t, o)
			s.Register("/registered", echo())
			s.WebhookMux().Handle("/convert", echo())
			stop := start(t, s)
			conn, err := tls.Dial("tcp", o.Listener.Addr().String(), id.client())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			go func() { _, _ = io.WriteString(conn, c.request) }()
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := response.Status[:3]
			if after := response.Header.Get("Retry-After"); after != "" {
				got += " Retry-After=" + after
			}
			if got != c.want {
				t.Errorf("got %s, want %s: %s", got, c.want, c.reason)
			}
			_ = response.Body.Close()
			_ = conn.Close()
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Fifty clients that never finish their headers, one that never finishes its body and one that sends
// nothing more: each is cut when its time is up, and a proper client is answered meanwhile.
func TestSlowClientsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id, l := newIdentity(t), newPipes()
		o := id.options(echo())
		o.Listener = l
		s := fast(t, o)
		s.http.TLSConfig.SessionTicketsDisabled = true // a ticket that nobody reads yet blocks a pipe
		stop := start(t, s)

		begun := time.Now()
		cut := make(chan time.Duration, 100)
		send := func(request string) {
			conn := l.dial(t, id.client())
			go func() {
				_, _ = io.WriteString(conn, request)
				_, _ = io.Copy(io.Discard, conn)
				cut <- time.Since(begun)
				_ = conn.Close()
			}()
		}
		for range 50 {
			send("POST /inject HTTP/1.1\r\nHost:")
		}
		send("POST /inject HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
		send("GET /inject HTTP/1.1\r\nHost: x\r\n\r\n")

		got := map[time.Duration]int{}
		for range 52 {
			got[(<-cut).Truncate(time.Second)]++
		}
		want := map[time.Duration]int{headerTimeout: 50, bodyTimeout: 1, idleTimeout: 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("when the clients were cut (-want +got):\n%s", diff)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestNewServerRefusesNonsense(t *testing.T) {
	good := newIdentity(t).options(echo())
	for name, spoil := range map[string]func(*ServerOptions){
		"handler":     func(o *ServerOptions) { o.Handler = nil },
		"certificate": func(o *ServerOptions) { o.GetCertificate = nil },
		"TLS 1.1":     func(o *ServerOptions) { o.MinTLS = tls.VersionTLS11 },
		"drain":       func(o *ServerOptions) { o.DrainFor = -1 },
		"timeout":     func(o *ServerOptions) { o.WebhookTimeout = -1 },
	} {
		o := good
		spoil(&o)
		if _, err := NewServer(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPortTaken(t *testing.T) {
	id := newIdentity(t)
	o := id.options(echo())
	o.Addr = listen(t).Addr().String()
	s := fast(t, o)
	if err := s.StartedChecker()(nil); err == nil {
		t.Error("healthy before it started")
	}
	err := s.Start(t.Context())
	if op := (*net.OpError)(nil); !errors.As(err, &op) || s.Ready() {
		t.Errorf("got %v, ready %t", err, s.Ready())
	}
}

// A client that hangs up in a handshake is no error; a handler that panics is.
func TestErrorLog(t *testing.T) {
	var out bytes.Buffer
	l := errorLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))}
	_, _ = l.Write([]byte("http: TLS handshake error from 127.0.0.1:1: EOF\n"))
	if out.Len() > 0 {
		t.Errorf("a hang-up was logged: %s", out.String())
	}
	n, err := l.Write([]byte("http: panic serving 127.0.0.1:1: boom" + strings.Repeat("x", 1<<20)))
	if err != nil || n < 1<<20 || !strings.Contains(out.String(), "level=ERROR") || out.Len() > 2*maxComplaint {
		t.Errorf("%d, %v, %d bytes logged", n, err, out.Len())
	}
}
