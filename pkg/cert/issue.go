// SPDX-License-Identifier: Apache-2.0

package cert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// How far a certificate's start lies back, for callers whose clock is behind. A CA's lies further
// back, so that a clock that is set back costs a serving certificate, which nobody has to be told of.
const (
	leafSkew = time.Hour
	caSkew   = 24 * time.Hour
)

// authority is a CA certificate and its key.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	published bool      // the callers are known to trust it
	lastLeaf  time.Time // the latest end of a certificate that it signed
	idle      int       // steps in a row at which it was of no use
}

// newAuthority makes a self-signed CA that signs serving certificates and nothing else.
func newAuthority(life time.Duration, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of a CA: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw the serial number of a CA: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// A name of its own for each CA: some verifiers look an issuer up by its name alone.
		Subject:               pkix.Name{Organization: []string{"Pillion"}, CommonName: "pillion-ca-" + hex.EncodeToString(serial.Bytes()[:4])},
		NotBefore:             now.Add(-caSkew),
		NotAfter:              now.Add(life),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign a CA certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the CA certificate just made: %w", err)
	}
	return &authority{cert: cert, key: key}, nil
}

// sign makes a serving certificate with a key of its own. It never outlives the CA.
func (a *authority) sign(o Options, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of a serving certificate: %w", err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{Organization: []string{"Pillion"}, CommonName: "injector"},
		NotBefore:   now.Add(-leafSkew),
		NotAfter:    a.leafEnd(o, now),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    o.DNSNames,
		IPAddresses: o.IPs,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign a serving certificate for %q: %w", o.DNSNames, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate just made: %w", err)
	}
	if leaf.NotAfter.After(a.lastLeaf) {
		a.lastLeaf = leaf.NotAfter
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func (a *authority) leafEnd(o Options, now time.Time) time.Time {
	end := now.Add(o.LeafFor)
	if end.After(a.cert.NotAfter) {
		return a.cert.NotAfter
	}
	return end
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// valid tells whether a certificate is valid at a time, by its dates.
func valid(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore) && now.Before(c.NotAfter)
}

// worn tells whether two thirds of a certificate's life are over.
func worn(c *x509.Certificate, now time.Time) bool {
	life := c.NotAfter.Sub(c.NotBefore)
	return now.After(c.NotBefore.Add(life / 3 * 2))
}
