// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// aliased are the series under the other names, without the words about them.
func aliased(t testing.TB, m *Metrics) map[string]string {
	t.Helper()
	_, all := scrape(t, m)
	out := map[string]string{}
	for _, line := range all {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "other_injection_") {
			out[strings.TrimPrefix(name, "other_injection_")] = value
		}
	}
	return out
}

func TestAlias(t *testing.T) {
	m := With(Options{Revision: "default", Alias: "other_injection"})
	for i, d := range []Decision{Injected, Injected, Skipped, Refused, Broken, Unready} {
		m.Admission(Review{Webhook: Inject, Operation: "CREATE", Decision: d, Duration: time.Duration(i) * 500 * time.Millisecond, DryRun: i == 1})
	}
	m.Admission(Review{Webhook: "another", Operation: "CREATE", Decision: Injected})
	want := map[string]string{
		"requests_total": "6", "success_total": "2", "skip_total": "1", "failure_total": "2",
		"time_seconds_count": "6", "time_seconds_sum": "7.5", `time_seconds_bucket{le="+Inf"}`: "6",
	}
	for _, b := range []string{"0.1:1", "1:3", "3:6", "5:6", "10:6", "20:6", "30:6", "60:6"} {
		bound, n, _ := strings.Cut(b, ":")
		want[`time_seconds_bucket{le="`+bound+`"}`] = n
	}
	if diff := cmp.Diff(want, aliased(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := aliased(t, New("default")); len(got) > 0 {
		t.Errorf("nobody asked for %v", got)
	}
}

// The law: requests are successes, failures and skips, and attempts that were asked to come again. Each
// is told as zero before the first one.
func FuzzAlias(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 0, 0})
	f.Fuzz(func(t *testing.T, decisions []byte) {
		r := prometheus.NewRegistry() // without the Go runtime's metrics, which take their time
		m := &Metrics{registry: r, admission: newAdmission(r, "default"), alias: newAlias(r, "other_injection")}
		all := []Decision{Injected, Skipped, Refused, Broken, Unready, "invented"}
		counts := map[Decision]int{}
		for _, d := range decisions {
			one := all[int(d)%len(all)]
			counts[one]++
			m.Admission(Review{Webhook: Inject, Operation: "CREATE", Decision: one, Reason: reason.PodEnabled})
		}
		got := aliased(t, m)
		want := map[string]int{
			"requests_total": len(decisions), "success_total": counts[Injected], "skip_total": counts[Skipped],
			"failure_total":      counts[Refused] + counts[Broken] + counts["invented"],
			"time_seconds_count": len(decisions),
		}
		for name, n := range want {
			if got[name] != fmt.Sprint(n) {
				t.Errorf("%s is %q, want %d", name, got[name], n)
			}
		}
	})
}

func TestAliasAllocatesNothing(t *testing.T) {
	m := With(Options{Revision: "default", Alias: "other_injection"})
	r := Review{Webhook: Inject, Operation: "CREATE", Decision: Skipped, Reason: reason.HostNetwork}
	if n := testing.AllocsPerRun(1000, func() { m.Admission(r) }); n > 0 {
		t.Errorf("%.0f allocations for a review", n)
	}
}
