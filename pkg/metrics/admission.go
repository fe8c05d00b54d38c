// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	other   = "other"
	several = "several"
)

// Webhook is one of our webhooks.
type Webhook string

// The webhooks that this binary serves.
const Inject Webhook = "inject"

// Decision is how a request ended. Unready is the end of an attempt only: the API server asks again.
type Decision string

// The decisions. Only Injected means that a pod got its sidecars.
const (
	Injected Decision = "injected"
	Skipped  Decision = "skipped"
	Refused  Decision = "refused"
	Broken   Decision = "broken"
	Unready  Decision = "unready"
)

// Review is one admission request and how it ended.
type Review struct {
	Webhook    Webhook
	Operation  string // of the request; whatever the caller sent
	Decision   Decision
	Reason     reason.Reason
	DryRun     bool
	Duration   time.Duration
	PatchBytes int      // counts where Decision is Injected
	Templates  []string // that made the patch
	Reused     bool     // the patch was at hand; counts where Decision is Injected
}

// admission holds the metrics of reviews.
type admission struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.HistogramVec
	reused   prometheus.Counter
	byName   atomic.Pointer[map[string]prometheus.Observer] // bytes, by template
}

func newAdmission(r *prometheus.Registry, revision string) *admission {
	a := &admission{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "injector_admission_requests_total", Help: "Admission requests answered, by how they ended. A dry run made no pod.",
			ConstLabels: prometheus.Labels{"revision": revision},
		}, []string{"webhook", "operation", "decision", "reason", "dry_run"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "injector_admission_duration_seconds", Help: "Time from the request's header to the end of the answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"webhook", "decision"}),
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "injector_patch_bytes", Help: `Size of the patches that made a pod, by template; "several" templates made one together.`,
			Buckets: []float64{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20},
		}, []string{"template"}),
		reused: counter("injector_injections_reused_total", "Injections that took the finished patch of an earlier pod of the same shape."),
	}
	for _, d := range []Decision{Injected, Skipped, Refused, Broken, Unready} {
		a.duration.WithLabelValues(string(Inject), string(d)) // told as zero from the start
	}
	a.setTemplates(nil)
	r.MustRegister(a.requests, a.duration, a.bytes, a.reused)
	return a
}

// Admission counts and measures one review.
func (m *Metrics) Admission(r Review) {
	a := m.admission
	webhook, decision := webhook(r.Webhook), decision(r.Decision)
	a.requests.WithLabelValues(webhook, operation(r.Operation), decision, why(r.Reason), strconv.FormatBool(r.DryRun)).Inc()
	a.duration.WithLabelValues(webhook, decision).Observe(r.Duration.Seconds())
	if r.Decision == Injected && !r.DryRun {
		a.template(r.Templates).Observe(float64(r.PatchBytes))
	}
	if r.Decision == Injected && r.Reused {
		a.reused.Inc()
	}
	if m.alias != nil && r.Webhook == Inject {
		m.alias.count(r)
	}
}

func webhook(w Webhook) string {
	if w == Inject {
		return string(w)
	}
	return other
}

func decision(d Decision) string {
	switch d {
	case Injected, Skipped, Refused, Broken, Unready:
		return string(d)
	}
	return other
}

func operation(op string) string {
	switch op {
	case "CREATE", "UPDATE", "DELETE", "CONNECT":
		return op
	}
	return other
}

// why is the label of a reason. Reasons of warnings, repairs and drift decide no review.
func why(r reason.Reason) string {
	if r == reason.None {
		return "none"
	}
	switch id := r.ID(); {
	case len(id) != 6:
		return other
	case id[3] == '0' || id[3] == '1' || id[3] == '3':
		return r.String()
	}
	return other
}

// setTemplates names the templates that the sizes of patches are told by, and forgets the others.
func (a *admission) setTemplates(names []string) {
	const most = 16
	byName := map[string]prometheus.Observer{other: a.bytes.WithLabelValues(other), several: a.bytes.WithLabelValues(several)}
	for _, name := range names[:min(len(names), most)] {
		byName[name] = a.bytes.WithLabelValues(name)
	}
	old := a.byName.Swap(&byName)
	if old == nil {
		return
	}
	for name := range *old {
		if byName[name] == nil {
			a.bytes.DeleteLabelValues(name)
		}
	}
}

func (a *admission) template(names []string) prometheus.Observer {
	byName := *a.byName.Load()
	if len(names) > 1 {
		return byName[several]
	}
	if len(names) == 1 && byName[names[0]] != nil {
		return byName[names[0]]
	}
	return byName[other]
}

// bounded is a set of label values that takes no more once it is full.
type bounded struct {
	max   int
	mu    sync.Mutex
	names []string
}

func (b *bounded) label(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.names, name) {
		return name
	}
	if len(b.names) == b.max {
		return other
	}
	b.names = append(b.names, name)
	return name
}
