// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/config"
)

// seeds are texts of a ProxyConfig that touch every kind of field and every kind of fault.
var seeds = []string{
	"", "null", "{}", "[]", "3", "{", "\x00", "a: &a [*a]", "a: &a [1]\nb: *a",
	"concurrency: 3\nproxyMetadata: {LANE: slow, EMPTY: null}",
	"drainDuration: 1m30s\nterminationDrainDuration: -1s\nstatusPort: '15025'",
	"tracing: {sampling: 12.5, zipkin: {address: 'collector:9411'}, customTags: {lane: {literal: {value: slow}}}}",
	"tracing: {lightstep: {}, tlsSettings: {mode: MUTUAL, insecureSkipVerify: true}}",
	"serviceCluster: ''\nstatusPort: 0\nimage: {imageType: debug}\nextraStatTags: [a, null]",
	"tracingServiceName: CANONICAL_NAME_ONLY\nprivateKeyProvider: {qat: {pollDelay: 2ms}}",
	"interceptionMode: TPROXY\nholdApplicationUntilProxyStarts: true\nconfigPath: \"<&>\\u2028\"",
	"proxyHeaders: {attemptCount: {disabled: true}}\nreadinessProbe: {httpGet: {port: 99999999999}}",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte("defaultConfig: {" + s + "}"))
	}
	f.Add([]byte("extensionProviders: [{name: envoy, envoyFileAccessLog: {logFormat: {labels: {a: {b: [1]}}}}}]\ntrustDomainAliases: [b, a, b]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text, config.Origin{File: "mesh", First: 1, Exact: true})
		if err != nil {
			var all config.Errors
			if !errors.As(err, &all) || len(all) == 0 || c != nil {
				t.Fatalf("an error without faults: %v", err)
			}
			return
		}
		again, err := Parse(text, config.Origin{File: "mesh", First: 1, Exact: true})
		if err != nil || !proto.Equal(c.Mesh(), again.Mesh()) {
			t.Fatalf("the same text reads differently: %v", err)
		}
		if faults := checkProxy(c.Mesh().GetDefaultConfig()); len(faults) > 0 {
			t.Fatalf("an accepted mesh has a proxy that cannot start: %v", faults)
		}
	})
}

// FuzzProxy states the laws of a pod's ProxyConfig: whatever the annotation, the inputs stay, the
// same inputs give the same pointer, and its JSON laid over what a proxy knows gives it back.
func FuzzProxy(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "lane: fast")
	}
	c, err := Parse([]byte("defaultConfig: {proxyMetadata: {MESH: '1'}, concurrency: 2}"), config.Origin{})
	if err != nil {
		f.Fatal(err)
	}
	list := []Resource{
		readResource(f, `{"metadata":{"name":"root","namespace":"istio-system"},"spec":{"concurrency":0}}`),
		readResource(f, `{"metadata":{"name":"lane","namespace":"shop"},"spec":{"selector":{"matchLabels":{"lane":"fast"}},"environmentVariables":{"A":"1"}}}`),
	}
	resources := NewResources(list)
	before := proto.Clone(c.Mesh())
	f.Fuzz(func(t *testing.T, text, label string) {
		annotations, labels := map[string]string{ConfigAnnotation: text}, map[string]string{"lane": label}
		p := c.Proxy(resources, "shop", labels, annotations)
		if !proto.Equal(before, c.Mesh()) || annotations[ConfigAnnotation] != text || len(labels) != 1 {
			t.Fatal("an input changed")
		}
		if p != c.Proxy(resources, "shop", labels, annotations) {
			t.Fatal("two calls give two pointers")
		}
		c.HoldApplication(annotations)
		written, err := c.JSON(p)
		if err != nil {
			t.Fatal(err)
		}
		if fresh, err := ProxyJSON(p); err != nil || fresh != written {
			t.Fatalf("%s is remembered as %s: %v", fresh, written, err)
		}
		var over meshconfig.ProxyConfig
		if err := protojson.Unmarshal([]byte(written), &over); err != nil {
			t.Fatal(err)
		}
		if back := overlay(defaultProxy(), &over); !proto.Equal(p, back) {
			t.Fatalf("%s gives %v, want %v", written, back, p)
		}
	})
}

func FuzzCheckProxyConfig(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		faults, warnings := CheckProxyConfig(text)
		for _, e := range append(faults, warnings...) {
			if e.Detail == "" || e.File != "" {
				t.Fatalf("an empty fault, or one of a file: %+v", e)
			}
		}
		again, _ := CheckProxyConfig(text)
		if faults.Error() != again.Error() {
			t.Fatalf("the same text is judged differently: %v, %v", faults, again)
		}
	})
}

func FuzzParseResource(f *testing.F) {
	f.Add([]byte(`{"kind":"ProxyConfig","apiVersion":"networking.istio.io/v1beta1","metadata":{"name":"a","namespace":"b","creationTimestamp":"2024-01-02T03:04:05Z"},"spec":{"concurrency":3}}`))
	f.Add([]byte(`{"spec":{"selector":{"matchLabels":{"a":null}},"image":[]}}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseResource(text)
		if (err == nil) == (r.Spec == nil) {
			t.Fatalf("neither a resource nor an error: %v", err)
		}
		NewResources([]Resource{r, r}).plain(r.Namespace)
	})
}

func readResource(tb testing.TB, text string) Resource {
	tb.Helper()
	r, err := ParseResource([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
