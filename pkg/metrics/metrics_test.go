// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pillion-dev/pillion/pkg/reason"
)

var update = flag.Bool("update", false, "rewrite testdata")

// scrape is our part of what Prometheus sees; the Go runtime's own part differs from run to run.
func scrape(t testing.TB, m *Metrics) (ours, all []string) {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(rec.Body)
	if err != nil || rec.Code != http.StatusOK {
		t.Fatalf("%d %v", rec.Code, err)
	}
	for line := range strings.Lines(string(text)) {
		all = append(all, line)
		if strings.Contains(line, "injector_") {
			ours = append(ours, line)
		}
	}
	return ours, all
}

func series(lines []string) int {
	n := 0
	for _, line := range lines {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

func TestScrape(t *testing.T) {
	m := New("canary")
	m.InFlight(3)
	m.InFlight(-1)
	m.Panicked()
	m.ProofFailed()
	m.Reloaded(Loaded{Hash: "aaaa", Templates: []string{"gone"}, At: time.UnixMilli(1_700_000_000_000)})
	m.Reloaded(Loaded{Hash: "bbbb", Templates: []string{"log-shipper"}, At: time.UnixMilli(1_800_000_000_250)})
	m.ReloadFailed()
	m.Certificate(time.Unix(1_800_000_000, 0), time.Unix(1_900_000_000, 0))
	m.WebhookPatch("pillion-injector", PatchOK)
	m.WebhookPatch("pillion-injector", UpdateFailure)
	m.WebhookPatch("pillion-injector", "something else")
	m.SelfProbe(true, 1500*time.Microsecond)
	review := Review{
		Webhook: Inject, Operation: "CREATE", Decision: Injected, Reason: reason.NamespaceEnabled,
		Duration: 3 * time.Millisecond, PatchBytes: 3000, Templates: []string{"log-shipper"},
	}
	m.Admission(review)
	review.DryRun = true
	m.Admission(review)
	review.DryRun, review.Reused, review.Templates = false, true, []string{"log-shipper", "otel-agent"}
	m.Admission(review)
	m.Admission(Review{Webhook: Inject, Operation: "CREATE", Decision: Skipped, Reason: reason.HostNetwork, Duration: time.Microsecond})
	m.Admission(Review{Webhook: Inject, Operation: "UPDATE", Decision: Skipped, Reason: reason.NotPodCreate})
	m.Admission(Review{Webhook: Inject, Operation: "CREATE", Decision: Refused, Reason: reason.ParameterInvalid})
	m.Admission(Review{Webhook: Inject, Operation: "create", Decision: Broken, Duration: 4 * time.Second})
	m.Admission(Review{Webhook: Inject, Decision: Unready})
	m.Admission(Review{Webhook: "invented", Operation: "CREATE", Decision: "maybe", Reason: reason.TemplateLeftOut})

	ours, all := scrape(t, m)
	got := strings.Join(ours, "")
	const golden = "testdata/scrape.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, name := range []string{"go_goroutines ", "process_resident_memory_bytes "} {
		if !strings.Contains(strings.Join(all, ""), "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

// What a caller can choose makes no series without end.
func TestCardinality(t *testing.T) {
	m := New("default")
	operations := []string{"CREATE", "UPDATE", "DELETE", "CONNECT"}
	for i := range 100_000 {
		n := strconv.Itoa(i)
		m.Reloaded(Loaded{Hash: "hash-" + n, Templates: []string{"template-" + n, "b"}})
		m.WebhookPatch("configuration-"+n, PatchReason("reason-"+n))
		m.Admission(Review{Webhook: Inject, Operation: "operation-" + n, Decision: Decision("decision-" + n), Reason: reason.Reason(i)})
		m.Admission(Review{Webhook: Inject, Operation: operations[i%4], Decision: Refused, Reason: reason.ReviewMalformed, DryRun: i%3 == 0})
		r := Review{
			Webhook: Inject, Operation: "CREATE", Decision: Skipped, Reason: reason.Reason(i % 256),
			Duration: time.Duration(i) * time.Microsecond, DryRun: i%2 == 0, Templates: []string{"named-" + n},
		}
		if i%5 == 0 {
			r.Decision, r.PatchBytes, r.Reason = Injected, i, reason.PodEnabled
		}
		m.Admission(r)
	}
	_, all := scrape(t, m)
	if n := series(all); n > 500 {
		t.Errorf("%d series:\n%s", n, strings.Join(all, ""))
	}
	text := strings.Join(all, "")
	for _, closed := range []string{"operation-", "decision-", "reason-", "named-"} {
		if strings.Contains(text, `"`+closed) {
			t.Errorf("a label value that a caller chose: %s", closed)
		}
	}
}

// The sets that every combination of the labels is made of.
func TestLabelSets(t *testing.T) {
	reasons := map[string]bool{}
	for i := range 256 {
		reasons[why(reason.Reason(i))] = true
	}
	for _, r := range reason.All() {
		wanted := strings.ContainsAny(r.ID()[3:4], "013")
		if reasons[r.String()] != wanted {
			t.Errorf("%s %s is a label value: %t", r.ID(), r, !wanted)
		}
	}
	if !reasons["none"] || !reasons[other] || reasons[""] {
		t.Errorf("%v", reasons)
	}
}

func TestHotPathAllocations(t *testing.T) {
	m := New("default")
	m.Reloaded(Loaded{Hash: "a", Templates: []string{"a"}})
	r := Review{Webhook: Inject, Operation: "CREATE", Decision: Injected, Reason: reason.PodEnabled, PatchBytes: 4000, Templates: []string{"a"}}
	if n := testing.AllocsPerRun(1000, func() {
		m.InFlight(1)
		m.Admission(r)
		m.InFlight(-1)
	}); n > 0 {
		t.Errorf("%.0f allocations for a review", n)
	}
}

func BenchmarkAdmission(b *testing.B) {
	m := New("default")
	m.Reloaded(Loaded{Hash: "a", Templates: []string{"a"}})
	r := Review{Webhook: Inject, Operation: "CREATE", Decision: Injected, Reason: reason.PodEnabled, PatchBytes: 4000, Templates: []string{"a"}}
	b.ReportAllocs()
	for b.Loop() {
		m.Admission(r)
	}
}
