// SPDX-License-Identifier: Apache-2.0

package cert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	name = "injector.pillion-system.svc"
	day  = 24 * time.Hour
	year = 365 * day
	step = 12 * time.Hour
)

var (
	start   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options = Options{DNSNames: []string{name, "injector.pillion-system.svc.cluster.local"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
)

func fresh(t testing.TB) *SelfSigned {
	t.Helper()
	s, err := NewSelfSigned(options, start)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trusts tells whether a client that holds the bundle trusts what is served at a time.
func trusts(s *SelfSigned, bundle []byte, host string, now time.Time) error {
	served, err := s.GetCertificate(nil)
	if err != nil {
		return err
	}
	leaf := served.Leaf
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err = leaf.Verify(x509.VerifyOptions{
		DNSName: host, Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

func renew(t testing.TB, s *SelfSigned, now time.Time) bool {
	t.Helper()
	changed, err := s.Renew(now)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func certificates(t testing.TB, bundle []byte) []*x509.Certificate {
	t.Helper()
	var all []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" {
			t.Fatalf("%s: %v", block.Type, err)
		}
		all = append(all, c)
	}
	return all
}

func TestCertificates(t *testing.T) {
	s := fresh(t)
	for _, host := range []string{name, options.DNSNames[1], "127.0.0.1", "::1"} {
		if err := trusts(s, s.CABundle(), host, start); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"pillion-system.svc", "evil." + name, "10.0.0.1"} {
		if trusts(s, s.CABundle(), host, start) == nil {
			t.Errorf("vouches for %s", host)
		}
	}
	ca := certificates(t, s.CABundle())[0]
	if !ca.IsCA || !ca.MaxPathLenZero || ca.KeyUsage != x509.KeyUsageCertSign || len(ca.DNSNames) > 0 || !ca.NotBefore.Equal(start.Add(-day)) {
		t.Errorf("CA %+v", ca)
	}
	served, _ := s.GetCertificate(nil)
	leaf := served.Leaf
	key, ok := leaf.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() || leaf.IsCA || leaf.KeyUsage != x509.KeyUsageDigitalSignature || !leaf.NotBefore.Equal(start.Add(-time.Hour)) {
		t.Errorf("leaf %+v", leaf)
	}
	leafEnd, caEnd := s.NotAfter()
	if !leafEnd.Equal(start.Add(30*day)) || !caEnd.Equal(start.Add(year)) {
		t.Errorf("leaf until %s, CA until %s", leafEnd, caEnd)
	}
	if other := fresh(t); bytes.Equal(other.CABundle(), s.CABundle()) || trusts(other, s.CABundle(), name, start) == nil {
		t.Error("two authorities are the same")
	}
}

func TestHandshake(t *testing.T) {
	s := fresh(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CABundle())
	here, there := net.Pipe()
	defer here.Close()
	server := tls.Server(there, &tls.Config{GetCertificate: s.GetCertificate, MinVersion: tls.VersionTLS13})
	served := make(chan error, 1)
	go func() { served <- server.Handshake() }()
	client := tls.Client(here, &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return start }})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]Options{
		"no name":     {},
		"short leaf":  {DNSNames: []string{name}, LeafFor: time.Minute},
		"short CA":    {DNSNames: []string{name}, CAFor: day},
		"backwards":   {DNSNames: []string{name}, LeafFor: -day},
		"not an name": {DNSNames: []string{"é.example"}},
	}
	for label, o := range tests {
		if s, err := NewSelfSigned(o, start); err == nil || s != nil {
			t.Errorf("%s: accepted", label)
		}
	}
}

func TestKeysStayInside(t *testing.T) {
	s := fresh(t)
	served, _ := s.GetCertificate(nil)
	keys := []*ecdsa.PrivateKey{served.PrivateKey.(*ecdsa.PrivateKey), s.signer.key}
	_, err := NewSelfSigned(Options{DNSNames: []string{"é"}}, start)
	text := fmt.Sprintf("%v %+v %#v %s %v", s, s, s, s.CABundle(), err)
	for _, key := range keys {
		d, err := key.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{fmt.Sprintf("%x", d), fmt.Sprint(d), fmt.Sprintf("%#v", d), string(d)} {
			if strings.Contains(text, form) {
				t.Errorf("the key is in %s", text)
			}
		}
	}
	if strings.Contains(text, "PRIVATE") {
		t.Error("a key is in the bundle")
	}
}

func TestConcurrentUse(t *testing.T) {
	s := fresh(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				now := start.Add(time.Duration(n*(i+1)) * day)
				if _, err := s.Renew(now); err != nil {
					t.Error(err)
				}
				s.Published(s.CABundle())
				if c, err := s.GetCertificate(nil); err != nil || c.Leaf == nil {
					t.Errorf("%v %v", c, err)
				}
				s.NotAfter()
			}
		})
	}
	wg.Wait()
}
