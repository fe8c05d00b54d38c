// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/webhook"
)

const measuredConfig = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
defaultTemplates: [proxy]
templates:
- name: proxy
  sidecars: [proxy]
  parameters: [{name: cpu, type: quantity, default: 100m, annotation: mesh.example/cpu}]
  text: |
    spec:
      containers:
      - name: proxy
        image: registry.example/mesh/proxy:1
        resources: {requests: {cpu: {{ .Params.cpu | quote }}}}
`

// measured is serve's own handler and metrics, without the ports.
type measured struct {
	*works
	handler http.Handler
}

func newMeasured(t *testing.T) measured {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(measuredConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &works{
		flags: &serveFlags{engine: engineFlags{config: file, revision: "default"}, namespace: ownNamespace},
		log:   slog.New(slog.DiscardHandler),
	}
	if err := w.loadFirst(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.mutator = &webhook.Mutator{Engine: w.engine.Load, Proof: &webhook.Proof{Failed: w.metrics.ProofFailed}, Log: w.log}
	return measured{w, w.handler()}
}

// scrape is every series of ours with its value, but for times and sizes.
func (m measured) scrape(t *testing.T) map[string]string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.metrics.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusOK {
		t.Fatalf("HTTP %d", rec.Code)
	}
	series := map[string]string{}
	for line := range strings.Lines(rec.Body.String()) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		sized := strings.Contains(name, "_bucket{") || strings.Contains(name, "_sum{") || strings.Contains(name, "_timestamp_seconds")
		if ok && strings.HasPrefix(name, "injector_") && !sized {
			series[name] = value
		}
	}
	return series
}

// rise is what a request changed, series by series.
func (m measured) rise(t *testing.T, body string) map[string]string {
	t.Helper()
	before := m.scrape(t)
	post(m.handler, []byte(body))
	changed := map[string]string{}
	for name, value := range m.scrape(t) {
		was := before[name]
		if was == "" {
			was = "0"
		}
		if was != value {
			changed[name] = was + " to " + value
		}
	}
	return changed
}

func request(operation string, dryRun bool, pod string) string {
	return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":%q,"dryRun":%t,"namespace":"till-south",
"name":"bakery","userInfo":{"username":"system:node:oven"},"resource":{"group":"","version":"v1","resource":"pods"},"object":%s}}`, operation, dryRun, pod)
}

func bakery(meta, spec string) string {
	return `{"metadata":{"name":"bakery"` + meta + `},"spec":{` + spec + `"containers":[{"name":"oven","image":"registry.example/bakery:1"}]}}`
}

// The metrics tell the truth: success counts only what was injected, a skip is neither a success nor
// a failure, a refusal has its reason, and a dry run made no pod.
func TestMetricsTellTheTruth(t *testing.T) {
	m := newMeasured(t)
	counted := func(operation, decision, reason string, dry bool) string {
		return fmt.Sprintf(`injector_admission_requests_total{decision=%q,dry_run="%t",operation=%q,reason=%q,revision="default",webhook="inject"}`, decision, dry, operation, reason)
	}
	timed := func(decision string) string {
		return fmt.Sprintf(`injector_admission_duration_seconds_count{decision=%q,webhook="inject"}`, decision)
	}
	const patched = `injector_patch_bytes_count{template="proxy"}`
	static := `,"annotations":{"kubernetes.io/config.mirror":"1","mesh.example/cpu":"not-a-quantity"}`
	cases := []struct {
		reason, body string
		rise         map[string]string
	}{
		{"one success", request("CREATE", false, bakery("", "")),
			map[string]string{counted("CREATE", "injected", "policy_enabled", false): "0 to 1", timed("injected"): "0 to 1", patched: "0 to 1"}},
		{"a pod that says no", request("CREATE", false, bakery(`,"labels":{"pillion.dev/inject":"disabled"}`, "")),
			map[string]string{counted("CREATE", "skipped", "pod_disabled", false): "0 to 1", timed("skipped"): "0 to 1"}},
		{"the node's network", request("CREATE", false, bakery("", `"hostNetwork":true,`)),
			map[string]string{counted("CREATE", "skipped", "host_network", false): "0 to 1", timed("skipped"): "1 to 2"}},
		{"a static pod's mirror, by the node", request("CREATE", false, bakery(static, `"nodeName":"oven",`)),
			map[string]string{counted("CREATE", "skipped", "mirror_pod", false): "0 to 1", timed("skipped"): "2 to 3"}},
		{"an update", request("UPDATE", false, bakery("", "")),
			map[string]string{counted("UPDATE", "skipped", "not_pod_create", false): "0 to 1", timed("skipped"): "3 to 4"}},
		{"a value out of bounds", request("CREATE", false, bakery(`,"annotations":{"mesh.example/cpu":"not-a-quantity"}`, "")),
			map[string]string{counted("CREATE", "refused", "parameter_invalid", false): "0 to 1", timed("refused"): "0 to 1"}},
		{"no pod at all", request("CREATE", false, "null"),
			map[string]string{counted("CREATE", "refused", "pod_unreadable", false): "0 to 1", timed("refused"): "1 to 2"}},
		{"no review at all", `{"bakery`,
			map[string]string{counted("other", "refused", "review_malformed", false): "0 to 1", timed("refused"): "2 to 3"}},
		{"a dry run makes no pod", request("CREATE", true, bakery("", "")),
			map[string]string{counted("CREATE", "injected", "policy_enabled", true): "0 to 1", timed("injected"): "1 to 2"}},
		{"an operation of nobody", request("BAKE", false, bakery("", "")),
			map[string]string{counted("other", "skipped", "not_pod_create", false): "0 to 1", timed("skipped"): "4 to 5"}},
		{"a second success", request("CREATE", false, bakery("", "")),
			map[string]string{counted("CREATE", "injected", "policy_enabled", false): "1 to 2", timed("injected"): "2 to 3", patched: "1 to 2"}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.rise, m.rise(t, c.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
	word := regexp.MustCompile(`bakery|oven|till-south|quantity|mesh\.example|BAKE|system:node`)
	for series := range m.scrape(t) {
		if word.MatchString(series) {
			t.Errorf("a caller's text is a label: %s", series)
		}
	}
}

// A patch that was asked for twice is the same pod's: the second answer, to the pod as it is by then,
// counts as skipped.
func TestMetricsOfReinvocation(t *testing.T) {
	m := newMeasured(t)
	pod := bakery("", "")
	rec := post(m.handler, []byte(request("CREATE", false, pod)))
	var review struct{ Response struct{ Patch []byte } }
	if err := json.NewDecoder(bytes.NewReader(rec.Body.Bytes())).Decode(&review); err != nil {
		t.Fatal(err)
	}
	got := m.rise(t, request("CREATE", false, string(applied6902(t, []byte(pod), review.Response.Patch))))
	want := map[string]string{
		`injector_admission_requests_total{decision="skipped",dry_run="false",operation="CREATE",reason="already_injected",revision="default",webhook="inject"}`: "0 to 1",
		`injector_admission_duration_seconds_count{decision="skipped",webhook="inject"}`:                                                                         "0 to 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
