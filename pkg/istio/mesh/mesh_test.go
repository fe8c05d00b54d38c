// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/config"
)

func parse(tb testing.TB, text string) *Config {
	tb.Helper()
	c, err := Parse([]byte(text), config.Origin{File: "mesh", First: 1, Exact: true})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// TestMerge compares with the defaults and a patch to them, in strict proto3 JSON.
func TestMerge(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         func(*meshconfig.MeshConfig)
	}{
		"empty":   {"no text is the defaults", "", func(*meshconfig.MeshConfig) {}},
		"comment": {"a comment is no text", "# nothing", func(*meshconfig.MeshConfig) {}},
		"proxy by field": {"defaultConfig is merged field by field", "defaultConfig: {concurrency: 4, proxyMetadata: {A: b}}",
			func(m *meshconfig.MeshConfig) {
				m.DefaultConfig = overlay(m.DefaultConfig, proxyOf(t, `{"concurrency":4,"proxyMetadata":{"A":"b"}}`))
			}},
		"message whole": {"every other message is replaced whole", "localityLbSetting: {failoverPriority: [zone]}",
			func(m *meshconfig.MeshConfig) { replace(t, m, `{"localityLbSetting":{"failoverPriority":["zone"]}}`) }},
		"providers by name": {"a provider replaces its namesake and keeps its place, others follow",
			"extensionProviders: [{name: lane, zipkin: {service: z, port: 1}}, {name: prometheus, lightstep: {service: l, port: 2}}]",
			func(m *meshconfig.MeshConfig) {
				var given meshconfig.MeshConfig
				replace(t, &given, `{"extensionProviders":[{"name":"prometheus","lightstep":{"service":"l","port":2}},{"name":"lane","zipkin":{"service":"z","port":1}}]}`)
				m.ExtensionProviders[0] = given.ExtensionProviders[0]
				m.ExtensionProviders = append(m.ExtensionProviders, given.ExtensionProviders[1])
			}},
		"aliases": {"they are a sorted set", "trustDomainAliases: [b.example, a.example, b.example]",
			func(m *meshconfig.MeshConfig) { m.TrustDomainAliases = []string{"a.example", "b.example"} }},
		"default providers": {"they are merged field by field", "defaultProviders: {tracing: [lane]}",
			func(m *meshconfig.MeshConfig) {
				m.DefaultProviders = &meshconfig.MeshConfig_DefaultProviders{Tracing: []string{"lane"}}
			}},
		"null": {"null says nothing", "rootNamespace: null\ndefaultConfig: null\nextensionProviders: null", func(*meshconfig.MeshConfig) {}},
		"zero": {"a given zero counts", "enableTracing: false\ndefaultConfig: {statNameLength: 0}",
			func(m *meshconfig.MeshConfig) { m.EnableTracing, m.DefaultConfig.StatNameLength = false, 0 }},
		"go duration": {"minutes and hours are read too", "connectTimeout: 1m30s",
			func(m *meshconfig.MeshConfig) { replace(t, m, `{"connectTimeout":"90s"}`) }},
		"declared name": {"the names of the declaration are names too", "root_namespace: mesh\ndefault_config: {status_port: 15025}",
			func(m *meshconfig.MeshConfig) { m.RootNamespace, m.DefaultConfig.StatusPort = "mesh", 15025 }},
		"quoted number": {"protocol buffers allow it", "proxyListenPort: '15002'", func(m *meshconfig.MeshConfig) { m.ProxyListenPort = 15002 }},
		"yaml 1.1":      {"on is a boolean", "enablePrometheusMerge: off", func(m *meshconfig.MeshConfig) { m.EnablePrometheusMerge.Value = false }},
		"enum number":   {"protocol buffers allow it", "accessLogEncoding: 1", func(m *meshconfig.MeshConfig) { m.AccessLogEncoding = meshconfig.MeshConfig_JSON }},
		"struct": {"free maps stay as they are", "extensionProviders: [{name: envoy, envoyFileAccessLog: {path: /p, logFormat: {labels: {a: '%A%', b: 1}}}}]",
			func(m *meshconfig.MeshConfig) {
				var given meshconfig.MeshConfig
				replace(t, &given, `{"extensionProviders":[{"name":"envoy","envoyFileAccessLog":{"path":"/p","logFormat":{"labels":{"a":"%A%","b":1}}}}]}`)
				m.ExtensionProviders[2] = given.ExtensionProviders[0]
			}},
		"alias": {"YAML's own aliases are read", "defaultConfig: {proxyMetadata: &m {A: b}, runtimeValues: *m}",
			func(m *meshconfig.MeshConfig) {
				m.DefaultConfig.ProxyMetadata, m.DefaultConfig.RuntimeValues = map[string]string{"A": "b"}, map[string]string{"A": "b"}
			}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := defaultMesh()
			tc.want(want)
			if diff := cmp.Diff(want, parse(t, tc.text).Mesh(), protocmp.Transform()); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func proxyOf(t *testing.T, text string) *meshconfig.ProxyConfig {
	t.Helper()
	var p meshconfig.ProxyConfig
	if err := protojson.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// replace sets the fields of strict proto3 JSON.
func replace(t *testing.T, m *meshconfig.MeshConfig, text string) {
	t.Helper()
	var given meshconfig.MeshConfig
	if err := protojson.Unmarshal([]byte(text), &given); err != nil {
		t.Fatal(err)
	}
	given.ProtoReflect().Range(setIn(m))
}

// TestResolved shows that a resolved configuration, written out and read again, stays what it is.
func TestResolved(t *testing.T) {
	m := parse(t, "trustDomainAliases: [x]\ndefaultConfig: {proxyMetadata: {A: b}}\nextensionProviders: [{name: envoy, zipkin: {service: z, port: 1}}]").Mesh()
	text, err := ProtoJSON(m)
	if err != nil {
		t.Fatal(err)
	}
	if again := parse(t, text).Mesh(); !proto.Equal(m, again) {
		t.Error(cmp.Diff(m, again, protocmp.Transform()))
	}
}

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         []string
	}{
		"wrong type": {"the path, the line, what is wanted and what is there", "rootNamespace: a\ndefaultConfig:\n  tracing:\n    sampling: [1]\n",
			[]string{"mesh:4: defaultConfig.tracing.sampling: want a number, got a list"}},
		"all of them": {"they are told at once, in the order of their lines", "trustDomain: 1\nproxyListenPort: x\nextensionProviders:\n- name: []\ndefaultConfig: 3",
			[]string{"mesh:1: trustDomain: want a string, got 1", `mesh:2: proxyListenPort: want an integer of 32 bits, got "x"`,
				"mesh:4: extensionProviders[0].name: want a string, got a list", "mesh:5: defaultConfig: want a map, got 3"}},
		"entry of a map":   {"the key is a part of the path", "defaultConfig:\n  proxyMetadata:\n    A: true", []string{"mesh:3: defaultConfig.proxyMetadata[A]: want a string, got true"}},
		"enum":             {"the names are told", "ingressControllerMode: SOFT", []string{`mesh:1: ingressControllerMode: want one of UNSPECIFIED, OFF, DEFAULT, STRICT, got "SOFT"`}},
		"duration":         {"an example is given", "connectTimeout: 10", []string{"mesh:1: connectTimeout: want a duration such as 45s, got 10"}},
		"too large":        {"numbers have bounds", "proxyListenPort: 3000000000", []string{"mesh:1: proxyListenPort: want an integer of 32 bits, got 3000000000"}},
		"fraction":         {"a port is an integer", "proxyListenPort: 1.5", []string{"mesh:1: proxyListenPort: want an integer of 32 bits, got 1.5"}},
		"struct":           {"a free map is a map", "extensionProviders: [{name: e, envoyFileAccessLog: {logFormat: {labels: 3}}}]", []string{"mesh:1: extensionProviders[0].envoyFileAccessLog.logFormat.labels: want the JSON form of google.protobuf.Struct, got 3"}},
		"no YAML":          {"the line of the parser", "a: b\nc: : d\n", []string{"mesh:2: not YAML: mapping values are not allowed in this context"}},
		"list":             {"the whole must be a map", "[]", []string{"mesh:1: want a map, got a list"}},
		"invalid":          {"a mesh whose proxies cannot start", "proxyListenPort: 0\ndefaultConfig:\n  drainDuration: 1ms", []string{"mesh:1: proxyListenPort: must be a port from 1 to 65535, got 0", "mesh:3: defaultConfig.drainDuration: must be in whole units of 1s, got 1ms"}},
		"domain":           {"trust domains are names", "trustDomain: a_b\ntrustDomainAliases: [ok., '']", []string{`mesh:1: trustDomain: must be labels of letters, digits and dashes with dots between them, got "a_b"`, `mesh:2: trustDomainAliases[0]: must be labels of letters, digits and dashes with dots between them, got ""`}},
		"timeouts":         {"they have a unit", "connectTimeout: 0s\nprotocolDetectionTimeout: 1us", []string{"mesh:1: connectTimeout: must be at least 1ms, got 0s", "mesh:2: protocolDetectionTimeout: must be in whole milliseconds, got 1µs"}},
		"too deep":         {"depth is bounded", strings.Repeat("[", 300) + strings.Repeat("]", 300), []string{"mesh:1: more than 100 maps and lists in each other"}},
		"too long":         {"length is bounded", "#" + strings.Repeat("x", maxText), []string{"mesh:1: the text has 1048577 bytes, and at most 1048576 are read"}},
		"aliases of bombs": {"aliases are bounded", bomb, []string{"mesh:1: its aliases repeat too much"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text), config.Origin{File: "mesh", First: 1, Exact: true})
			var got []string
			var all config.Errors
			if errors.As(err, &all) {
				got = strings.Split(all.Error(), "\n")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

// bomb is a thousand million letters in a few hundred bytes.
var bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + func() string {
	var b strings.Builder
	for c := 'b'; c <= 'i'; c++ {
		before := "*" + string(c-1)
		b.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat(before+", ", 9) + before + "]\n")
	}
	return b.String()
}()

func TestWarnings(t *testing.T) {
	c := parse(t, "rootNamespce: a\ndefaultConfig:\n  concurency: 1\n  tracing:\n    zipkin: {address: 'z:1'}\n    datadog: {address: 'd:1'}\n")
	var got []string
	nearest := func(word string, known []string) string {
		if len(known) < 20 {
			return ""
		}
		return "the known names"
	}
	for _, w := range c.Warnings().Suggest(nearest) {
		got = append(got, w.Error()+" | "+w.Hint)
	}
	want := []string{
		"mesh:1: rootNamespce: an unknown field, which nothing reads | did you mean the known names?",
		"mesh:3: defaultConfig.concurency: an unknown field, which nothing reads | did you mean the known names?",
		"mesh:6: defaultConfig.tracing.datadog: zipkin is given too, and only one of them counts | ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Mesh().GetDefaultConfig().GetTracing().GetDatadog() == nil {
		t.Error("of two tracers the last one declared counts")
	}
}

// TestOrigin shows that lines are those of the file that the text stands in.
func TestOrigin(t *testing.T) {
	tests := map[string]struct {
		reason string
		origin config.Origin
		want   int
	}{
		"exact": {"a literal block keeps its lines", config.Origin{File: "cm.yaml", First: 7, Exact: true}, 8},
		"block": {"of any other text only the start is known", config.Origin{File: "cm.yaml", First: 7}, 7},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte("trustDomain: a\nrootNamespace: []"), tc.origin)
			var all config.Errors
			if !errors.As(err, &all) || len(all) != 1 || all[0].Line != tc.want || all[0].File != "cm.yaml" {
				t.Errorf("%s: got %+v, want line %d", tc.reason, all, tc.want)
			}
		})
	}
}
