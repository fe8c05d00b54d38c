// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// scrapePart is one of the annotations that tell a scraper where metrics are.
type scrapePart int

// The parts, with which scrapeKeys is indexed.
const (
	scrapeOn scrapePart = iota
	scrapePath
	scrapePort
	scrapeTargets
	notScrape
)

// scrapeKeys is written once, here. A scraper sees every character but letters, digits and the
// underscore as an underscore, so prometheus/io/port says the same as prometheus.io/port.
var scrapeKeys = [notScrape]string{metricsScrapeKey, metricsPathKey, metricsPortKey, scrapeTargetsKey}

// spelt is the part that a key stands for, in any spelling.
func spelt(key string) scrapePart {
	for part, canonical := range scrapeKeys {
		if sameLabel(key, canonical) {
			return scrapePart(part)
		}
	}
	return notScrape
}

// scrapeKey tells whether an annotation tells a scraper where metrics are.
func scrapeKey(key string) bool { return spelt(key) != notScrape }

func sameLabel(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if labelByte(a[i]) != labelByte(b[i]) {
			return false
		}
	}
	return true
}

func labelByte(c byte) byte {
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
		return c
	}
	return '_'
}

// scrape is what the annotations of a pod say, with the keys that the author wrote. Where one part is
// there in two spellings, the usual one counts, else the first in the order of the alphabet.
type scrape struct {
	off  bool
	text [notScrape]string
	key  [notScrape]string
}

func readScrape(annotations map[string]any) scrape {
	var s scrape
	var keys []string
	for key := range annotations {
		if scrapeKey(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		part, value := spelt(key), pod.Text(annotations, key)
		if on, err := strconv.ParseBool(value); part == scrapeOn && err == nil && !on {
			s.off = true
		}
		if s.key[part] == "" || key == scrapeKeys[part] {
			s.key[part], s.text[part] = key, value
		}
	}
	return s
}

// scraping is what the agent reads to find the application's metrics. Its form is the agent's.
type scraping struct {
	Scrape  string   `json:"scrape"`
	Path    string   `json:"path"`
	Port    string   `json:"port"`
	Targets []target `json:"targets,omitempty"`
}

// target is one of several places where an application serves metrics.
type target struct {
	Port string `json:"port"`
	Path string `json:"path"`
}

func (s scraping) empty() bool {
	return s.Scrape == "" && s.Path == "" && s.Port == "" && len(s.Targets) == 0
}

// parseTargets reads port[:path], separated by commas.
func parseTargets(text string) ([]target, error) {
	var targets []target
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		port, path, _ := strings.Cut(item, ":")
		if path == "" {
			path = "/metrics"
		}
		if port == "" || path[0] != '/' {
			return nil, fmt.Errorf("%s is not of the form port:/path", pod.Describe(item))
		}
		targets = append(targets, target{Port: strings.TrimSpace(port), Path: path})
	}
	return targets, nil
}

func (r *run) warnTargets(key string, err error) {
	r.Warn(reason.ParameterInvalid, "metadata.annotations["+key+"]", err.Error()+"; no prometheus scrape targets were taken")
}

// check refuses a port where no metrics of the application can be: the scraper would read the
// proxy's, or the agent would scrape itself without end.
func (s scrape) check(targets []target, status int64) error {
	for _, t := range targets {
		if fault := scrapeFault(t.Port, status); fault != "" {
			return refuseScrape(s.key[scrapeTargets], "invalid prometheus scrape targets: "+fault)
		}
	}
	if port := s.text[scrapePort]; port != "" && len(targets) == 0 {
		if fault := scrapeFault(port, status); fault != "" {
			return refuseScrape(s.key[scrapePort], "invalid prometheus configuration: "+fault)
		}
	}
	return nil
}

func refuseScrape(key, detail string) error {
	return &reason.Refusal{
		Reason: reason.ParameterInvalid, Path: "metadata.annotations[" + key + "]", Detail: detail,
		Hint: "name the port on which the application itself serves metrics",
	}
}

// scrapeFault tells what is wrong with a port; empty for one that is right.
func scrapeFault(text string, status int64) string {
	port, err := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil || port == 0:
		return fmt.Sprintf("port %s is not a number from 1 to 65535", pod.Describe(text))
	case int64(port) == status:
		return fmt.Sprintf("port %d is the one where the agent serves the merged metrics", port)
	case proxyPort(port):
		return fmt.Sprintf("port %d is the proxy's own", port)
	}
	return ""
}

// proxyPorts are those that the proxy or its agent uses itself, all TCP, with what for.
var proxyPorts = map[uint64]string{
	15000: "administration",
	15001: "outbound traffic",
	15004: "debugging",
	15006: "inbound traffic",
	15008: "tunnelled traffic",
	15020: "merged metrics",
	15021: "health checks",
	15053: "DNS",
	15090: "its own metrics",
}

// proxyPort tells whether the proxy or its agent uses a port itself.
func proxyPort(port uint64) bool { return proxyPorts[port] != "" }
