// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// alias counts reviews under the names and in the buckets that dashboards of another injector know, all
// without labels. A success is a pod that got its sidecars, nothing else: requests are the sum of
// successes, failures and skips, and of the attempts that were asked to come again.
type alias struct {
	requests, success, failure, skip prometheus.Counter
	time                             prometheus.Histogram
}

func newAlias(r *prometheus.Registry, prefix string) *alias {
	a := &alias{
		requests: counter(prefix+"_requests_total", "Injection requests, attempts that were asked to come again among them."),
		success:  counter(prefix+"_success_total", "Injection requests whose pod got its sidecars."),
		failure:  counter(prefix+"_failure_total", "Injection requests that were refused or that broke."),
		skip:     counter(prefix+"_skip_total", "Injection requests whose pod was left as it is."),
		time: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "_time_seconds", Help: "Time that injection requests took; injector_admission_duration_seconds tells it finer.",
			Buckets: []float64{.1, 1, 3, 5, 10, 20, 30, 60},
		}),
	}
	r.MustRegister(a.requests, a.success, a.failure, a.skip, a.time)
	return a
}

func (a *alias) count(r Review) {
	a.requests.Inc()
	a.time.Observe(r.Duration.Seconds())
	switch r.Decision {
	case Injected:
		a.success.Inc()
	case Skipped:
		a.skip.Inc()
	case Unready:
	default:
		a.failure.Inc()
	}
}
