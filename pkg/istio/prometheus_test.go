// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

const mergedByAgent = `{prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15020"}`

func TestPrometheus(t *testing.T) {
	cases := map[string]struct {
		reason, mesh, annotations string
		want                      string // the annotations after; empty: as before
		env                       string // what the agent is told; empty: nothing
	}{
		"nothing said": {"the proxy's own metrics are scraped", "", `{}`, mergedByAgent, ""},
		"usual": {"the agent is told where the application's are", "", `{prometheus.io/port: "9090", prometheus.io/scrape: "true", other: x}`,
			`{prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15020", other: x}`, `{"scrape":"true","path":"","port":"9090"}`},
		"other spelling": {"a scraper reads them alike", "", `{prometheus/io-port: "9090", prometheus_io_path: "/m?a=b&c"}`, mergedByAgent,
			`{"scrape":"","path":"/m?a=b\u0026c","port":"9090"}`},
		"two spellings": {"the usual one counts", "", `{prometheus/io/port: "1", prometheus.io/port: "2", prometheus-io-port: "3"}`, mergedByAgent, `{"scrape":"","path":"","port":"2"}`},
		"junk scrape":   {"only what says no stops the merge", "", `{prometheus.io/scrape: maybe}`, mergedByAgent, `{"scrape":"maybe","path":"","port":""}`},
		"no":            {"nothing is scraped", "", `{prometheus.io.scrape: "0", prometheus.io/port: "9090"}`, "", ""},
		"off by pod":    {"the pod beats the mesh", "enablePrometheusMerge: true", `{prometheus.istio.io/merge-metrics: "false", prometheus.io/port: "9090"}`, "", ""},
		"off by mesh":   {"", "enablePrometheusMerge: false", `{prometheus.io/port: "9090"}`, "", ""},
		"on by pod": {"the pod beats the mesh", "enablePrometheusMerge: false", `{prometheus.istio.io/merge-metrics: "T"}`,
			`{prometheus.istio.io/merge-metrics: "T", prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15020"}`, ""},
		"agent's already": {"an earlier injection was here", "", `{prometheus/io/port: "15020", prometheus.io/path: /x}`, "", ""},
		"port of the pod": {"only the mesh's status port counts", "", `{status.sidecar.istio.io/port: "15033"}`,
			`{status.sidecar.istio.io/port: "15033", prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15020"}`, ""},
		"other status port": {"", "defaultConfig: {statusPort: 15099}", `{}`, `{prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15099"}`, ""},
		"targets": {"several places, of which the first stands for all", "", `{prometheus.io/port: "1", prometheus.io/path: /p, prometheus.istio.io/scrape-targets: " 8080:/a ,9100,"}`, mergedByAgent,
			`{"scrape":"","path":"/a","port":"8080","targets":[{"port":"8080","path":"/a"},{"port":"9100","path":"/metrics"}]}`},
		"no targets": {"an empty text names none", "", `{prometheus.istio.io/scrape-targets: " , "}`, mergedByAgent, ""},
	}
	for name, c := range cases {
		r := runOn(t, c.mesh, "metadata: {annotations: "+c.annotations+"}\nspec: {containers: [{name: istio-proxy}]}")
		if c.want == "" {
			c.want = c.annotations
		}
		for pass := range 2 {
			if err := r.prometheus(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(treeOf(t, c.want), r.annotations()); diff != "" {
				t.Errorf("%s: %s: pass %d: %s", name, c.reason, pass+1, diff)
			}
			if got, _ := r.variable("ISTIO_PROMETHEUS_ANNOTATIONS"); got != c.env {
				t.Errorf("%s: %s: pass %d: the agent is told %q, want %q", name, c.reason, pass+1, got, c.env)
			}
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %v", name, r.Warnings)
		}
	}
}

func TestPrometheusWithoutProxy(t *testing.T) {
	r := runOn(t, "", `{metadata: {annotations: {prometheus.io/port: "9090"}}, spec: {containers: [{name: app}]}}`)
	if err := r.prometheus(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(treeOf(t, mergedByAgent), r.annotations()); diff != "" {
		t.Error(diff)
	}
}

// TestPrometheusRefuses: a port where the application's metrics cannot be is refused at the key that
// the author wrote.
func TestPrometheusRefuses(t *testing.T) {
	var cases []struct{ key, value, port string }
	for _, port := range []string{"0", "65536", "-1", "metrics", "9090 ", "15000", "15001", "15004", "15006", "15008", "15021", "15053", "15090"} {
		cases = append(cases, struct{ key, value, port string }{"prometheus.io/port", port, port})
		if port == "9090 " {
			continue // spaces around a target are allowed
		}
		cases = append(cases,
			struct{ key, value, port string }{"prometheus.istio.io/scrape-targets", port, port},
			struct{ key, value, port string }{"prometheus-istio-io/scrape_targets", "9090:/ok," + port + ":/m", port})
	}
	cases = append(cases, struct{ key, value, port string }{"prometheus.istio.io/scrape-targets", "15020:/stats", "15020"})
	for _, c := range cases {
		r := runOn(t, "", fmt.Sprintf("metadata: {annotations: {%s: %q}}\nspec: {containers: [{name: istio-proxy}]}", c.key, c.value))
		err := r.prometheus()
		var refusal *reason.Refusal
		if !errors.As(err, &refusal) || refusal.Path != "metadata.annotations["+c.key+"]" || !strings.Contains(refusal.Detail, c.port) || !strings.Contains(refusal.Detail, "prometheus") {
			t.Errorf("%s: %s: got %v", c.key, c.value, err)
		}
	}
}

func TestScrapeTargetsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{":/metrics", "9090:metrics", "9090:/a,:"} {
		r := runOn(t, "", fmt.Sprintf("metadata: {annotations: {prometheus.io/port: '9090', prometheus.istio.io/scrape-targets: %q}}\nspec: {containers: [{name: istio-proxy}]}", text))
		if err := r.prometheus(); err != nil {
			t.Fatal(err)
		}
		if got, _ := r.variable("ISTIO_PROMETHEUS_ANNOTATIONS"); got != `{"scrape":"","path":"","port":"9090"}` {
			t.Errorf("%s: got %s", text, got)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Path != "metadata.annotations[prometheus.istio.io/scrape-targets]" {
			t.Errorf("%s: got the warnings %v", text, r.Warnings)
		}
	}
}

func TestSecurePort(t *testing.T) {
	cases := map[string]struct{ reason, annotations, env, want string }{
		"set":      {"where the agent serves it", `{}`, `[{name: ENVOY_SECURE_MERGED_METRICS_PORT, value: "15091"}]`, `{prometheus.istio.io/secure-port: "15091"}`},
		"author's": {"even an empty one is the author's word", `{prometheus.istio.io/secure-port: ""}`, `[{name: ENVOY_SECURE_MERGED_METRICS_PORT, value: "1"}]`, `{prometheus.istio.io/secure-port: ""}`},
		"zero":     {"zero turns it off", `{}`, `[{name: ENVOY_SECURE_MERGED_METRICS_PORT, value: "0"}]`, `{}`},
		"empty":    {"", `{}`, `[{name: ENVOY_SECURE_MERGED_METRICS_PORT}, 1]`, `{}`},
		"none":     {"", `{}`, `[]`, `{}`},
	}
	for name, c := range cases {
		r := runOn(t, "", "metadata: {annotations: "+c.annotations+"}\nspec: {initContainers: [{name: istio-proxy, env: "+c.env+"}]}")
		for range 2 {
			if err := r.securePort(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(treeOf(t, c.want), r.annotations()); diff != "" {
				t.Errorf("%s: %s: %s", name, c.reason, diff)
			}
		}
	}
	if err := runOn(t, "", `{spec: {containers: [{name: app}]}}`).securePort(); err != nil {
		t.Error(err)
	}
}
