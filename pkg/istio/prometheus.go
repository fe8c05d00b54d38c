// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/pod"
)

const (
	securePortEnv     = "ENVOY_SECURE_MERGED_METRICS_PORT"
	scrapeEnv         = "ISTIO_PROMETHEUS_ANNOTATIONS"
	mergedMetricsPath = "/stats/prometheus"
)

// prometheus points the scraper at the agent, which serves the proxy's metrics and the application's
// as one, and tells the agent where the application's are.
func (r *run) prometheus() error {
	annotations := r.annotations()
	s := readScrape(annotations)
	if s.off || !r.mergesMetrics() || r.merged(annotations) {
		return nil
	}
	status := r.statusPort()
	targets, err := parseTargets(s.text[scrapeTargets])
	if err != nil {
		r.warnTargets(s.key[scrapeTargets], err)
	}
	if err := s.check(targets, status); err != nil {
		return err
	}
	app := scraping{Scrape: s.text[scrapeOn], Path: s.text[scrapePath], Port: s.text[scrapePort], Targets: targets}
	if len(targets) > 0 {
		app.Port, app.Path = targets[0].Port, targets[0].Path
	}
	if proxy := r.container(proxyName); proxy != nil && !app.empty() {
		text, err := json.Marshal(app)
		if err != nil {
			return fmt.Errorf("write %s: %w", scrapeEnv, err)
		}
		setEnv(proxy, scrapeEnv, string(text))
	}
	for key := range annotations {
		if scrapeKey(key) {
			delete(annotations, key)
		}
	}
	annotations[scrapeKeys[scrapePort]] = strconv.FormatInt(status, 10)
	annotations[scrapeKeys[scrapePath]] = mergedMetricsPath
	annotations[scrapeKeys[scrapeOn]] = "true"
	return nil
}

// merged tells that the scrape annotations point at the agent already: an earlier injection, or the
// author, set them so.
func (r *run) merged(annotations map[string]any) bool {
	port := strconv.FormatInt(r.statusPort(), 10)
	for key, value := range annotations {
		if spelt(key) == scrapePort && value == port {
			return true
		}
	}
	return false
}

// mergesMetrics tells whether metrics are merged: by the pod, else by the mesh, else they are.
func (r *run) mergesMetrics() bool {
	if wanted, err := strconv.ParseBool(pod.Text(r.annotations(), mergeMetricsKey)); err == nil {
		return wanted
	}
	if wanted := r.d.config.Mesh.Mesh().GetEnablePrometheusMerge(); wanted != nil {
		return wanted.GetValue()
	}
	return true
}

// statusPort is where agents of the mesh serve merged metrics and the answers to probes.
func (r *run) statusPort() int64 {
	return int64(r.d.config.Mesh.Mesh().GetDefaultConfig().GetStatusPort())
}

// securePort tells the scraper of the port where the agent serves merged metrics under mutual TLS.
func (r *run) securePort() error {
	annotations := r.annotations()
	if _, ok := annotations[securePortKey]; ok {
		return nil
	}
	for _, item := range pod.Items(r.container(proxyName), "env") {
		v, _ := item.(map[string]any)
		if port := pod.Text(v, "value"); v["name"] == securePortEnv && port != "" && port != "0" {
			annotations[securePortKey] = port
			return nil
		}
	}
	return nil
}
