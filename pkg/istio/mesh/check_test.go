// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckProxyConfig(t *testing.T) {
	const keys = "privateKeyProvider: "
	tests := map[string]struct {
		reason, text string
		want         []string
	}{
		"empty":              {"nothing is nothing wrong", "", nil},
		"plain":              {"a usual one", "concurrency: 2\nholdApplicationUntilProxyStarts: true\ndrainDuration: 1m\nterminationDrainDuration: 0s", nil},
		"unknown":            {"an unknown field is no fault", "later: {a: 1}", nil},
		"negative":           {"istiod lets a negative concurrency pass", "concurrency: -1", nil},
		"all":                {"all faults are told", "statusPort: 0\nproxyAdminPort: 65536\nserviceCluster: ''", []string{"statusPort: must be a port from 1 to 65535, got 0", "proxyAdminPort: must be a port from 1 to 65535, got 65536", "serviceCluster: must not be empty"}},
		"wrong types":        {"all of those too", "concurrency: [1]\nimage: debug", []string{"concurrency: want an integer of 32 bits, got a list", `image: want a map, got "debug"`}},
		"paths":              {"they must be set", "configPath: ''\nbinaryPath: ''", []string{"configPath: must not be empty", "binaryPath: must not be empty"}},
		"drain short":        {"a millisecond at least", "drainDuration: -5s", []string{"drainDuration: must be at least 1ms, got -5s"}},
		"drain fraction":     {"whole seconds", "drainDuration: 1.5s", []string{"drainDuration: must be in whole units of 1s, got 1.5s"}},
		"discovery none":     {"it must be set", "discoveryAddress: ''", []string{`discoveryAddress: must be host:port, got ""`}},
		"discovery no port":  {"a port is needed", "discoveryAddress: istiod", []string{`discoveryAddress: must be host:port, got "istiod"`}},
		"discovery port":     {"a port has bounds", "discoveryAddress: 'istiod:70000'", []string{`discoveryAddress: must have a port from 1 to 65535, got "istiod:70000"`}},
		"discovery host":     {"a host is a name", "discoveryAddress: 'a_b:1'", []string{`discoveryAddress: must have a DNS name or an IP address for a host, got "a_b:1"`}},
		"discovery number":   {"a name does not end in a number", "discoveryAddress: '1.2.3.400:1'", []string{`discoveryAddress: must have a DNS name or an IP address for a host, got "1.2.3.400:1"`}},
		"discovery IPv6":     {"an address is welcome", "discoveryAddress: '[::1]:15012'", nil},
		"discovery dot":      {"a name may end in a dot", "discoveryAddress: 'istiod.mesh.:15012'", nil},
		"other addresses":    {"where they are set", "statsdUdpAddress: a\nenvoyMetricsService: {address: b}\nenvoyAccessLogService: {address: c}\nenvoyMetricsServiceAddress: d", []string{`statsdUdpAddress: must be host:port, got "a"`, `envoyMetricsService.address: must be host:port, got "b"`, `envoyAccessLogService.address: must be host:port, got "c"`, `envoyMetricsServiceAddress: must be host:port, got "d"`}},
		"services without":   {"an address may be missing", "envoyMetricsService: {}\nenvoyAccessLogService: {tlsSettings: {}}", nil},
		"auth policy":        {"INHERIT is for others", "controlPlaneAuthPolicy: INHERIT", []string{"controlPlaneAuthPolicy: must be NONE or MUTUAL_TLS, got INHERIT"}},
		"auth number":        {"an unknown number", "controlPlaneAuthPolicy: 7", []string{"controlPlaneAuthPolicy: must be NONE or MUTUAL_TLS, got 7"}},
		"zipkin":             {"an address is needed", "tracing: {zipkin: {}}", []string{`tracing.zipkin.address: must be host:port, got ""`}},
		"datadog":            {"the node's own address", "tracing: {datadog: {address: '$(HOST_IP):8126'}}", nil},
		"lightstep":          {"a token is needed", "tracing: {lightstep: {address: 'l:1'}}", []string{"tracing.lightstep.accessToken: must not be empty"}},
		"tags":               {"each has a value", "tracing:\n  customTags:\n    a: {}\n    b: {literal: {}}\n    c: {environment: {}}\n    d: {header: {}}\n    e: {literal: {value: x}}", []string{"tracing.customTags[a]: one of literal, environment and header must be set", "tracing.customTags[b]: literal.value must not be empty", "tracing.customTags[c]: environment.name must not be empty", "tracing.customTags[d]: header.name must not be empty"}},
		"tag without a name": {"a tag has a name", "tracing: {customTags: {'': {literal: {value: x}}}}", []string{"tracing.customTags[]: a tag must have a name"}},
		"tls mutual":         {"its two files", "tracing: {tlsSettings: {mode: MUTUAL}}", []string{"tracing.tlsSettings.clientCertificate: must not be empty", "tracing.tlsSettings.privateKey: must not be empty"}},
		"tls credential":     {"it stands for the files", "tracing: {tlsSettings: {mode: MUTUAL, credentialName: a}}", nil},
		"tls both":           {"not with the files", "tracing: {tlsSettings: {mode: SIMPLE, credentialName: a, caCertificates: b}}", []string{"tracing.tlsSettings.credentialName: must not be with clientCertificate, privateKey, caCertificates or caCrl"}},
		"tls skip simple":    {"nothing to verify with", "tracing: {tlsSettings: {mode: SIMPLE, insecureSkipVerify: true, subjectAltNames: [a]}}", []string{"tracing.tlsSettings.insecureSkipVerify: must not be with caCertificates, credentialName or subjectAltNames"}},
		"tls skip mutual":    {"nothing to verify with", "tracing: {tlsSettings: {mode: MUTUAL, insecureSkipVerify: true, caCertificates: a, clientCertificate: b, privateKey: c}}", []string{"tracing.tlsSettings.insecureSkipVerify: must not be with caCertificates"}},
		"keys none":          {"a provider is needed", keys + "{}", []string{"privateKeyProvider: one of cryptomb and qat must be set"}},
		"keys zero":          {"the delay is needed", keys + "{cryptomb: {pollDelay: 0s}}", []string{"privateKeyProvider.cryptomb.pollDelay: must be set, and not zero"}},
		"keys unset":         {"the delay is needed", keys + "{qat: {}}", []string{"privateKeyProvider.qat.pollDelay: must be set, and not zero"}},
		"keys":               {"a good one", keys + "{qat: {pollDelay: 2ms}}", nil},
		"no YAML":            {"it must be YAML", "a: b: c", []string{"not YAML: mapping values are not allowed in this context"}},
		"two documents":      {"the first one is read", "concurrency: 1\n---\nconcurrency: [1]", nil},
		"bomb":               {"aliases are bounded", bomb, []string{"its aliases repeat too much"}},
		"long scalar bomb":   {"also those of one long text", "a: &a " + strings.Repeat("x", 30<<10) + "\nb: [" + strings.Repeat("*a,", 5000) + "]", []string{"its aliases repeat too much"}},
		"holds itself":       {"an alias in its own anchor", "a: &a [*a]", []string{"its aliases repeat too much"}},
		"too long":           {"length is bounded", strings.Repeat("#", maxAnnotation+1), []string{"the text has 65537 bytes, and at most 65536 are read"}},
		"no number":          {"JSON has no infinity", "concurrency: .inf", []string{"not YAML: json: unsupported value: +Inf"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			faults, _ := CheckProxyConfig(tc.text)
			var got []string
			for _, f := range faults {
				got = append(got, f.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
			if remembered, _ := parse(t, "").CheckAnnotation(tc.text); remembered.Error() != faults.Error() {
				t.Errorf("it is remembered as %v", remembered)
			}
		})
	}
}

func TestCheckProxyConfigPlaces(t *testing.T) {
	faults, warnings := CheckProxyConfig("tracing:\n  zipkn: {}\n  zipkin:\n    address: x\n")
	if len(faults) != 1 || faults[0].Line != 4 || len(warnings) != 1 || warnings[0].Line != 2 || warnings[0].Unknown != "zipkn" {
		t.Errorf("got %+v and %+v", faults, warnings)
	}
}
