// SPDX-License-Identifier: Apache-2.0

// Package metrics is what the process tells Prometheus. Every label has a closed set of values, so
// that no caller of the webhook can make a series; a value outside of the set is told as "other".
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the metrics of one process, in a registry of its own.
type Metrics struct {
	registry  *prometheus.Registry
	admission *admission
	alias     *alias // nil: none

	inflight      prometheus.Gauge
	panics        prometheus.Counter
	proofFailures prometheus.Counter

	reloadOK   prometheus.Gauge
	reloadTime prometheus.Gauge
	configInfo *prometheus.GaugeVec

	webhookPatch   *prometheus.CounterVec
	configurations bounded

	certExpiry    *prometheus.GaugeVec
	probeOK       prometheus.Gauge
	probeDuration prometheus.Gauge
}

// Options are what the metrics of a process are made of.
type Options struct {
	Revision string // that the process serves

	// Alias counts the reviews of pods under names that begin so too, for dashboards that were made for
	// another injector; empty: none.
	Alias string
}

// New makes the metrics of a process that serves one revision.
func New(revision string) *Metrics { return With(Options{Revision: revision}) }

// With makes the metrics of a process.
func With(o Options) *Metrics {
	r, revision := prometheus.NewRegistry(), o.Revision
	m := &Metrics{
		registry:  r,
		admission: newAdmission(r, revision),

		inflight:      gauge("injector_inflight_requests", "Admission requests being answered."),
		panics:        counter("injector_panics_total", "Reviews that panicked; each was answered with HTTP 500."),
		proofFailures: counter("injector_patch_proof_failures_total", "Patches that did not stand the proof; none was sent."),

		reloadOK:   gauge("injector_config_last_reload_successful", "Whether the last reload of the configuration succeeded; after a failure the old one stays in force."),
		reloadTime: gauge("injector_config_last_reload_timestamp_seconds", "When the configuration in force was loaded."),
		configInfo: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "injector_config_info", Help: "The configuration in force, by its hash.",
			ConstLabels: prometheus.Labels{"revision": revision},
		}, []string{"hash"}),

		webhookPatch: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "injector_webhook_patch_total", Help: "Attempts to write the caBundle of a webhook configuration.",
		}, []string{"name", "result", "reason"}),
		configurations: bounded{max: 16},

		certExpiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "injector_cert_expiry_timestamp_seconds", Help: "When the serving certificate, and the CA that signed it, end.",
		}, []string{"kind"}),
		probeOK:       gauge("injector_selfprobe_success", "Whether the last self-test, a review through the own handler, succeeded."),
		probeDuration: gauge("injector_selfprobe_duration_seconds", "How long the last self-test took."),
	}
	r.MustRegister(m.inflight, m.panics, m.proofFailures, m.reloadOK, m.reloadTime, m.configInfo,
		m.webhookPatch, m.certExpiry, m.probeOK, m.probeDuration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Alias != "" {
		m.alias = newAlias(r, o.Alias)
	}
	return m
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Handler serves the metrics in the formats that Prometheus asks for.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// InFlight adds to the number of admission requests being answered.
func (m *Metrics) InFlight(delta int) { m.inflight.Add(float64(delta)) }

// Panicked counts a review that panicked.
func (m *Metrics) Panicked() { m.panics.Inc() }

// ProofFailed counts a patch that did not stand the proof.
func (m *Metrics) ProofFailed() { m.proofFailures.Inc() }

// Loaded is a configuration that came into force.
type Loaded struct {
	Hash      string
	Templates []string // the names of its templates
	At        time.Time
}

// Reloaded tells that a configuration came into force; the one before is forgotten.
func (m *Metrics) Reloaded(c Loaded) {
	m.reloadOK.Set(1)
	m.reloadTime.Set(seconds(c.At))
	m.configInfo.Reset()
	m.configInfo.WithLabelValues(c.Hash).Set(1)
	m.admission.setTemplates(c.Templates)
}

// ReloadFailed tells that a configuration was refused; the old one stays in force.
func (m *Metrics) ReloadFailed() { m.reloadOK.Set(0) }

// Certificate tells when the serving certificate and its CA end.
func (m *Metrics) Certificate(leaf, ca time.Time) {
	m.certExpiry.WithLabelValues("serving").Set(seconds(leaf))
	m.certExpiry.WithLabelValues("ca").Set(seconds(ca))
}

// SelfProbe tells how the last self-test went.
func (m *Metrics) SelfProbe(ok bool, d time.Duration) {
	value := 0.0
	if ok {
		value = 1
	}
	m.probeOK.Set(value)
	m.probeDuration.Set(d.Seconds())
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// PatchReason is why the caBundle of a webhook configuration was not written.
type PatchReason string

// The reasons of a failed write; PatchOK is none of them.
const (
	PatchOK             PatchReason = ""
	WrongRevision       PatchReason = "wrong_revision"
	LoadCABundleFailure PatchReason = "load_ca_bundle_failure"
	ConfigNotFound      PatchReason = "webhook_config_not_found"
	EntryNotFound       PatchReason = "webhook_entry_not_found"
	UpdateFailure       PatchReason = "webhook_update_failure"
	ConfigInvalid       PatchReason = "webhook_config_invalid" // none could be made from the flags
	Contended           PatchReason = "contended"              // somebody else keeps undoing the write
)

// WebhookPatch counts an attempt to write the caBundle of a webhook configuration. Only the first
// 16 configurations are told by name.
func (m *Metrics) WebhookPatch(name string, why PatchReason) {
	result := "failure"
	switch why {
	case PatchOK:
		result, why = "success", "none"
	case WrongRevision, LoadCABundleFailure, ConfigNotFound, EntryNotFound, UpdateFailure, ConfigInvalid, Contended:
	default:
		why = other
	}
	m.webhookPatch.WithLabelValues(m.configurations.label(name), result, string(why)).Inc()
}
