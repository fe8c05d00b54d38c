// SPDX-License-Identifier: Apache-2.0

// Package cert issues, renews and hands out the serving certificate. It reads no clock: the caller
// tells the wall-clock time, and tells it often, since a clock may jump and a machine may sleep.
package cert

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what to certify.
type Options struct {
	DNSNames []string // the API server verifies <service>.<namespace>.svc
	IPs      []net.IP
	CAFor    time.Duration // life of a CA; default 365 days
	LeafFor  time.Duration // life of a serving certificate; default 30 days
}

// SelfSigned is a serving certificate and the CA that vouches for it, both renewed after two thirds
// of their life. A new CA signs nothing until the callers are known to trust it: Renew puts it into
// the bundle, Published confirms that the bundle is in place, and the Renew after that switches.
// All methods may be called at the same time. Keys live in memory only.
type SelfSigned struct {
	options Options
	serving atomic.Pointer[tls.Certificate]
	bundle  atomic.Pointer[[]byte]

	mu          sync.Mutex
	authorities []*authority // oldest first
	signer      *authority   // of the serving certificate
}

const (
	// grace is for how many steps in a row, an hour's worth, a CA must have been of no use before it
	// leaves the bundle. Steps are counted because a clock that jumps must take no CA away.
	grace = 60
	// maxAuthorities bounds the bundle however the clock jumps.
	maxAuthorities = 6
)

// NewSelfSigned makes a CA and a serving certificate.
func NewSelfSigned(o Options, now time.Time) (*SelfSigned, error) {
	if len(o.DNSNames)+len(o.IPs) == 0 {
		return nil, errors.New("a serving certificate needs a DNS name or an IP address")
	}
	o.DNSNames, o.IPs = slices.Clone(o.DNSNames), slices.Clone(o.IPs)
	if o.CAFor == 0 {
		o.CAFor = 365 * 24 * time.Hour
	}
	if o.LeafFor == 0 {
		o.LeafFor = 30 * 24 * time.Hour
	}
	if o.LeafFor < time.Hour || o.CAFor < o.LeafFor {
		return nil, errors.New("a serving certificate lives an hour or more, and its CA no shorter")
	}
	s := &SelfSigned{options: o}
	if _, err := s.Renew(now); err != nil {
		return nil, err
	}
	return s, nil
}

// GetCertificate hands out the current serving certificate; it is made for tls.Config.
func (s *SelfSigned) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.serving.Load(), nil
}

// CABundle is the caBundle for the webhook configurations, in PEM: every CA that has signed a
// certificate still valid, or is about to sign one; newest first.
func (s *SelfSigned) CABundle() []byte { return bytes.Clone(*s.bundle.Load()) }

// NotAfter tells when the serving certificate and the CA that signed it end.
func (s *SelfSigned) NotAfter() (leaf, ca time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serving.Load().Leaf.NotAfter, s.signer.cert.NotAfter
}

// Published tells which bundle the callers hold now, as it was read back from them.
func (s *SelfSigned) Published(bundle []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.authorities {
		a.published = false
	}
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		for _, a := range s.authorities {
			a.published = a.published || block.Type == "CERTIFICATE" && bytes.Equal(block.Bytes, a.cert.Raw)
		}
	}
}

// Renew does the next step that is due at this time, and tells whether the serving certificate or
// the bundle changed. Call it every minute with the wall clock's time. After an error the old
// certificate is still served.
func (s *SelfSigned) Renew(now time.Time) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, leaf := s.bundle.Load(), s.serving.Load()
	err = s.step(now)
	s.prune(now)
	if bundle := s.encode(); before == nil || !bytes.Equal(*before, bundle) {
		s.bundle.Store(&bundle)
		changed = true
	}
	return changed || leaf != s.serving.Load(), err
}

// step is one step of the rotation.
func (s *SelfSigned) step(now time.Time) error {
	if s.signer == nil || !valid(s.signer.cert, now) {
		// Nobody can trust what is served: whatever is tried cannot be worse, so nothing is waited for.
		next, err := s.anyValid(now)
		if err != nil {
			return err
		}
		return s.serve(next, now)
	}
	if worn(s.signer.cert, now) {
		next, err := s.successor(now)
		if err != nil {
			return err
		}
		if next.published {
			return s.serve(next, now)
		}
	}
	leaf := s.serving.Load().Leaf
	if valid(leaf, now) && !worn(leaf, now) {
		return nil
	}
	if valid(leaf, now) && !s.signer.leafEnd(s.options, now).After(leaf.NotAfter) {
		return nil // its CA is at its end; another certificate would live no longer
	}
	return s.serve(s.signer, now)
}

// serve makes a serving certificate by an authority, and hands it out from now on.
func (s *SelfSigned) serve(by *authority, now time.Time) error {
	leaf, err := by.sign(s.options, now)
	if err != nil {
		return err
	}
	s.signer = by
	s.serving.Store(leaf)
	return nil
}

// anyValid is the authority to turn to when the signer's time is not now: one that the callers
// trust if there is one, else the newest, else a new one.
func (s *SelfSigned) anyValid(now time.Time) (*authority, error) {
	var found *authority
	for _, a := range s.authorities {
		if valid(a.cert, now) && (found == nil || a.published || !found.published) {
			found = a
		}
	}
	if found != nil {
		return found, nil
	}
	return s.add(now)
}

// successor is the authority that follows a worn signer, made if there is none yet.
func (s *SelfSigned) successor(now time.Time) (*authority, error) {
	for _, a := range slices.Backward(s.authorities) {
		if a != s.signer && valid(a.cert, now) && !worn(a.cert, now) {
			return a, nil
		}
	}
	return s.add(now)
}

func (s *SelfSigned) add(now time.Time) (*authority, error) {
	a, err := newAuthority(s.options.CAFor, now)
	if err != nil {
		return nil, err
	}
	s.authorities = append(s.authorities, a)
	return a, nil
}

// prune drops the authorities that have been of no use for a while.
func (s *SelfSigned) prune(now time.Time) {
	s.authorities = slices.DeleteFunc(s.authorities, func(a *authority) bool {
		if s.useful(a, now) {
			a.idle = 0
			return false
		}
		a.idle++
		return a.idle > grace
	})
	if len(s.authorities) > maxAuthorities { // by one: a step adds no more
		oldest := slices.IndexFunc(s.authorities, func(a *authority) bool { return a != s.signer })
		s.authorities = slices.Delete(s.authorities, oldest, oldest+1)
	}
}

// useful tells whether an authority signs, vouches for a certificate still valid, or may yet sign.
func (s *SelfSigned) useful(a *authority, now time.Time) bool {
	if a == s.signer {
		return true
	}
	return valid(a.cert, now) && (now.Before(a.lastLeaf) || !worn(a.cert, now))
}

func (s *SelfSigned) encode() []byte {
	var bundle []byte
	for _, a := range slices.Backward(s.authorities) {
		bundle = append(bundle, a.pem()...)
	}
	return bundle
}
