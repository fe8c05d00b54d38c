// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// object is a ProxyConfig resource as JSON. Those with a low number are older.
func object(tb testing.TB, name, namespace string, age int, spec string) Resource {
	tb.Helper()
	return readResource(tb, fmt.Sprintf(`{"apiVersion":"networking.istio.io/v1beta1","kind":"ProxyConfig",
		"metadata":{"name":%q,"namespace":%q,"creationTimestamp":"2024-01-01T00:00:%02dZ"},"spec":%s}`, name, namespace, age, spec))
}

func TestPrecedence(t *testing.T) {
	const fast = `"selector":{"matchLabels":{"lane":"fast"}}`
	root := object(t, "root", "istio-system", 9, `{"concurrency":1,"environmentVariables":{"WHO":"root","ROOT":"1"}}`)
	shop := object(t, "shop", "shop", 8, `{"concurrency":0,"environmentVariables":{"WHO":"shop"},"image":{"imageType":"debug"}}`)
	lane := object(t, "lane", "shop", 7, `{`+fast+`,"environmentVariables":{"WHO":"lane"}}`)
	tests := map[string]struct {
		reason, mesh string
		resources    []Resource
		namespace    string
		annotation   string
		want         string // over the built-in configuration
	}{
		"nothing":          {"the built-in configuration alone", "", nil, "shop", "", `{}`},
		"mesh":             {"the mesh comes first", "defaultConfig: {concurrency: 2}", nil, "shop", "", `{"concurrency":2}`},
		"root":             {"the root namespace comes after the mesh", "defaultConfig: {concurrency: 2}", []Resource{root}, "shop", "", `{"concurrency":1,"proxyMetadata":{"WHO":"root","ROOT":"1"}}`},
		"namespace":        {"then the pod's own, be it with a zero", "", []Resource{root, shop}, "shop", "", `{"concurrency":0,"proxyMetadata":{"WHO":"shop","ROOT":"1"},"image":{"imageType":"debug"}}`},
		"other namespace":  {"others have no say", "", []Resource{shop, lane}, "books", "", `{}`},
		"annotation":       {"then the annotation, whole messages at once", "", []Resource{shop}, "shop", "image: {}\nproxyMetadata: {MINE: '1'}", `{"concurrency":0,"proxyMetadata":{"WHO":"shop","MINE":"1"},"image":{}}`},
		"workload":         {"last what selects the pod", "", []Resource{shop, lane}, "shop", "proxyMetadata: {WHO: me}", `{"concurrency":0,"proxyMetadata":{"WHO":"lane"},"image":{"imageType":"debug"}}`},
		"bad annotation":   {"it is left out", "", nil, "shop", "concurrency: [1]", `{}`},
		"zero":             {"a zero that is not set apart does not override", "", nil, "shop", "statusPort: 0\nconfigPath: ''", `{}`},
		"root's own":       {"a pod in the root namespace gets it once", "", []Resource{root}, "istio-system", "", `{"concurrency":1,"proxyMetadata":{"WHO":"root","ROOT":"1"}}`},
		"another root":     {"the mesh names the root namespace", "rootNamespace: shop", []Resource{root, shop}, "books", "", `{"concurrency":0,"proxyMetadata":{"WHO":"shop"},"image":{"imageType":"debug"}}`},
		"no root":          {"there may be none", "rootNamespace: ''", []Resource{root}, "shop", "", `{}`},
		"oldest":           {"of several the oldest counts alone", "", []Resource{shop, object(t, "z", "shop", 1, `{"concurrency":5}`)}, "shop", "", `{"concurrency":5}`},
		"same age":         {"then the name decides", "", []Resource{object(t, "b", "shop", 1, `{"concurrency":5}`), object(t, "a", "shop", 1, `{"concurrency":6}`)}, "shop", "", `{"concurrency":6}`},
		"oldest selecting": {"also of those that select the pod", "", []Resource{lane, object(t, "a", "shop", 1, `{`+fast+`,"concurrency":7}`)}, "shop", "", `{"concurrency":7}`},
		"empty selector":   {"it matches nothing", "", []Resource{object(t, "a", "shop", 1, `{"selector":{},"concurrency":7}`)}, "shop", "", `{}`},
		"other labels":     {"every label must match", "", []Resource{object(t, "a", "shop", 1, `{"selector":{"matchLabels":{"lane":"fast","x":""}},"concurrency":7}`)}, "shop", "", `{}`},
		"one of a choice":  {"a choice replaces its alternative", "", nil, "shop", "tracingServiceName: CANONICAL_NAME_ONLY", `{"tracingServiceName":"CANONICAL_NAME_ONLY"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{"other": "x"}
			if tc.annotation != "" {
				annotations[ConfigAnnotation] = tc.annotation
			}
			got := parse(t, tc.mesh).Proxy(NewResources(tc.resources), tc.namespace, map[string]string{"lane": "fast", "app": "web"}, annotations)
			want := overlay(defaultProxy(), proxyOf(t, tc.want))
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHoldApplication(t *testing.T) {
	const yes, no = "defaultConfig: {holdApplicationUntilProxyStarts: true}", "defaultConfig: {}"
	tests := map[string]struct {
		reason, mesh, annotation string
		want                     bool
	}{
		"unset":          {"it is off by default", no, "", false},
		"mesh":           {"the mesh turns it on", yes, "concurrency: 1", true},
		"annotation on":  {"the pod turns it on", no, "holdApplicationUntilProxyStarts: true", true},
		"annotation off": {"the pod turns it off", yes, "holdApplicationUntilProxyStarts: false", false},
		"bad annotation": {"the mesh decides", yes, "[", true},
		"no annotation":  {"the mesh decides", yes, "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parse(t, tc.mesh).HoldApplication(map[string]string{ConfigAnnotation: tc.annotation}); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

// TestCostsNothing shows that a pod without a wish of its own costs no memory, nor one whose wish is
// remembered.
func TestCostsNothing(t *testing.T) {
	c := parse(t, "")
	resources := NewResources([]Resource{object(t, "a", "shop", 1, `{"selector":{"matchLabels":{"lane":"fast"}},"concurrency":7}`)})
	labels := map[string]string{"lane": "fast"}
	wish := map[string]string{ConfigAnnotation: "concurrency: 2"}
	work := map[string]func(){
		"plain": func() { c.Proxy(nil, "shop", labels, nil) },
		"annotation": func() {
			c.Proxy(nil, "shop", labels, wish)
			c.HoldApplication(wish)
			c.CheckAnnotation(wish[ConfigAnnotation])
		},
		"resource": func() {
			if text, err := c.JSON(c.Proxy(resources, "shop", labels, nil)); err != nil || text != `{"concurrency":7}` {
				t.Error(text, err)
			}
		},
	}
	for name, do := range work {
		do()
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

// TestSamePointer shows that many at once get one ProxyConfig.
func TestSamePointer(t *testing.T) {
	c := parse(t, "")
	wish := map[string]string{ConfigAnnotation: "concurrency: 2"}
	var wg sync.WaitGroup
	got := make([]*meshconfig.ProxyConfig, 16)
	for i := range got {
		wg.Go(func() { got[i] = c.Proxy(nil, "shop", nil, wish) })
	}
	wg.Wait()
	for _, p := range got {
		if p != got[0] || p.GetConcurrency().GetValue() != 2 {
			t.Errorf("got %v and %v", p, got[0])
		}
	}
}

// TestBounded shows that pods with ever new annotations do not fill the memory.
func TestBounded(t *testing.T) {
	c := parse(t, "")
	for i := range 2 * maxEntries {
		text := fmt.Sprintf("concurrency: %d", i)
		if got := c.Proxy(nil, "", nil, map[string]string{ConfigAnnotation: text}).GetConcurrency().GetValue(); got != int32(i) {
			t.Fatalf("got %d, want %d", got, i)
		}
	}
	for i := range 40 {
		c.CheckAnnotation(fmt.Sprintf("# %d %s", i, strings.Repeat("x", maxAnnotation-10)))
	}
	if n := len(c.proxies.entries); n > maxEntries {
		t.Errorf("%d entries are kept", n)
	}
	if c.annotations.cost > maxCost || c.rendered.cost > maxCost {
		t.Errorf("%d and %d bytes are kept", c.annotations.cost, c.rendered.cost)
	}
}

func TestParseResource(t *testing.T) {
	tests := map[string]struct{ reason, text, want string }{
		"wrong type":   {"the path is told", `{"spec":{"environmentVariables":{"A":1}}}`, "spec.environmentVariables[A]: want a string, got 1"},
		"wrong time":   {"the path is told", `{"metadata":{"creationTimestamp":"now"}}`, `metadata.creationTimestamp: want a time, got "now"`},
		"other kind":   {"another kind is none", `{"kind":"Gateway","apiVersion":"networking.istio.io/v1"}`, `want a ProxyConfig of networking.istio.io, got the kind "Gateway" of "networking.istio.io/v1"`},
		"other group":  {"another group is none", `{"kind":"ProxyConfig","apiVersion":"example.com/v1"}`, `want a ProxyConfig of networking.istio.io, got the kind "ProxyConfig" of "example.com/v1"`},
		"no object":    {"it must be an object", `[]`, "not the JSON of an object"},
		"no JSON":      {"it must be JSON", `a: b`, "not the JSON of an object"},
		"too long":     {"length is bounded", `"` + strings.Repeat("x", maxText) + `"`, "the object has 1048578 bytes, and at most 1048576 are read"},
		"unknown":      {"unknown fields are ignored", `{"spec":{"later":1},"status":{}}`, ""},
		"any version":  {"versions read the same", `{"kind":"ProxyConfig","apiVersion":"networking.istio.io/v9"}`, ""},
		"without type": {"an item of a list does not say its kind", `{"metadata":{"name":"a","creationTimestamp":null}}`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := ParseResource([]byte(tc.text)); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

func BenchmarkProxy(b *testing.B) {
	c := parse(b, "")
	wish := map[string]string{ConfigAnnotation: "concurrency: 2"}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			c.Proxy(nil, "shop", nil, nil)
		}
	})
	b.Run("annotation", func(b *testing.B) {
		for b.Loop() {
			c.Proxy(nil, "shop", nil, wish)
		}
	})
	b.Run("annotation never seen", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			c.Proxy(nil, "shop", nil, map[string]string{ConfigAnnotation: fmt.Sprintf("concurrency: %d", i)})
		}
	})
}
