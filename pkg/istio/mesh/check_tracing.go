// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/api/networking/v1alpha3"
)

// hostIP stands in an address for the address of the node, which is known when the proxy starts.
const hostIP = "$(HOST_IP)"

func (j *judge) tracing(t *meshconfig.Tracing) {
	switch tracer := t.GetTracer().(type) {
	case *meshconfig.Tracing_Zipkin_:
		j.tracer("tracing.zipkin.address", tracer.Zipkin.GetAddress())
	case *meshconfig.Tracing_Datadog_:
		j.tracer("tracing.datadog.address", tracer.Datadog.GetAddress())
	case *meshconfig.Tracing_Lightstep_:
		j.address("tracing.lightstep.address", tracer.Lightstep.GetAddress())
		j.text("tracing.lightstep.accessToken", tracer.Lightstep.GetAccessToken())
	}
	if settings := t.GetTlsSettings(); settings != nil {
		j.tls(settings)
	}
	tags := t.GetCustomTags()
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		j.tag(name, tags[name])
	}
}

func (j *judge) tracer(path, address string) {
	j.address(path, strings.Replace(address, hostIP, "127.0.0.1", 1))
}

func (j *judge) tag(name string, tag *meshconfig.Tracing_CustomTag) {
	at := []string{"tracing", "customTags", "[" + name + "]"}
	tell := func(detail string) { j.faults = append(j.faults, fault{path: at, detail: detail}) }
	if name == "" {
		tell("a tag must have a name")
	}
	switch kind := tag.GetType().(type) {
	case *meshconfig.Tracing_CustomTag_Literal:
		if kind.Literal.GetValue() == "" {
			tell("literal.value must not be empty")
		}
	case *meshconfig.Tracing_CustomTag_Environment:
		if kind.Environment.GetName() == "" {
			tell("environment.name must not be empty")
		}
	case *meshconfig.Tracing_CustomTag_Header:
		if kind.Header.GetName() == "" {
			tell("header.name must not be empty")
		}
	default:
		tell("one of literal, environment and header must be set")
	}
}

// tls judges the settings towards a tracing backend.
func (j *judge) tls(s *v1alpha3.ClientTLSSettings) {
	const at = "tracing.tlsSettings"
	simple, mutual := s.GetMode() == v1alpha3.ClientTLSSettings_SIMPLE, s.GetMode() == v1alpha3.ClientTLSSettings_MUTUAL
	if s.GetInsecureSkipVerify().GetValue() {
		switch {
		case simple && (s.GetCaCertificates() != "" || s.GetCredentialName() != "" || len(s.GetSubjectAltNames()) > 0):
			j.fault(at+".insecureSkipVerify", "must not be with caCertificates, credentialName or subjectAltNames")
		case mutual && s.GetCaCertificates() != "":
			j.fault(at+".insecureSkipVerify", "must not be with caCertificates")
		}
	}
	if (simple || mutual) && s.GetCredentialName() != "" {
		if s.GetClientCertificate() != "" || s.GetPrivateKey() != "" || s.GetCaCertificates() != "" || s.GetCaCrl() != "" {
			j.fault(at+".credentialName", "must not be with clientCertificate, privateKey, caCertificates or caCrl")
		}
		return
	}
	if mutual {
		j.text(at+".clientCertificate", s.GetClientCertificate())
		j.text(at+".privateKey", s.GetPrivateKey())
	}
}

// privateKeys judges the hardware that does the work of private keys.
func (j *judge) privateKeys(p *meshconfig.PrivateKeyProvider) {
	switch provider := p.GetProvider().(type) {
	case *meshconfig.PrivateKeyProvider_Cryptomb:
		j.pollDelay("privateKeyProvider.cryptomb.pollDelay", provider.Cryptomb.GetPollDelay())
	case *meshconfig.PrivateKeyProvider_Qat:
		j.pollDelay("privateKeyProvider.qat.pollDelay", provider.Qat.GetPollDelay())
	default:
		if p != nil {
			j.fault("privateKeyProvider", "one of cryptomb and qat must be set")
		}
	}
}

func (j *judge) pollDelay(path string, d *durationpb.Duration) {
	if d.AsDuration() == 0 {
		j.fault(path, "must be set, and not zero")
	}
}
