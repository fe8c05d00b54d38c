// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"fmt"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// port is a listening port: the containers of a pod share one network.
type port struct {
	number   int64
	protocol string
}

func (p port) String() string { return fmt.Sprintf("%d/%s", p.number, p.protocol) }

// ports refuses a container that listens where an injected one does: one of the two would crash. UDP
// and TCP are told apart. An injected container's probes count as its ports.
func ports(s *State) error {
	taken := map[port]container{}
	for _, c := range s.containers() {
		if !c.brought || !c.beside() {
			continue
		}
		for _, p := range listening(c.tree) {
			if by, clash := taken[p]; clash && by.name != c.name {
				return portConflict(c, p, by)
			}
			taken[p] = c
		}
	}
	for _, c := range s.containers() {
		if c.brought || !c.beside() || len(taken) == 0 {
			continue
		}
		for _, p := range declared(c.tree) {
			if by, clash := taken[p]; clash {
				return portConflict(c, p, by)
			}
		}
	}
	s.scraped(taken)
	return nil
}

func portConflict(c container, p port, by container) error {
	return &reason.Refusal{
		Reason: reason.PortConflict,
		Path:   c.path() + ".ports",
		Detail: fmt.Sprintf("container %q listens on %s, which the injected container %q uses", c.name, p, by.name),
		Hint:   "move the container to another port, or leave the template out for this pod",
	}
}

func declared(tree map[string]any) []port {
	var out []port
	for _, item := range pod.Items(tree, "ports") {
		m, _ := item.(map[string]any)
		number, ok := m["containerPort"].(int64)
		if !ok {
			continue
		}
		protocol := pod.Text(m, "protocol")
		if protocol == "" {
			protocol = "TCP"
		}
		out = append(out, port{number, protocol})
	}
	return out
}

func listening(tree map[string]any) []port {
	out := declared(tree)
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		for _, handler := range []string{"httpGet", "tcpSocket", "grpc"} {
			if number, ok := pod.Object(pod.Object(tree, probe), handler)["port"].(int64); ok {
				out = append(out, port{number, "TCP"})
			}
		}
	}
	return out
}

// scraped warns of the author's scrape annotation that points at an injected container: the
// application's own metrics would be lost.
func (s *State) scraped(taken map[port]container) {
	own := pod.Object(pod.Object(s.Before, "metadata"), "annotations")
	if pod.Text(own, "prometheus.io/scrape") != "true" {
		return
	}
	for p, c := range taken {
		if p.protocol == "TCP" && pod.Text(own, "prometheus.io/port") == fmt.Sprint(p.number) {
			s.Warnings = append(s.Warnings, reason.Warning{
				Reason: reason.ScrapePortIsSidecars,
				Path:   "metadata.annotations[prometheus.io/port]",
				Detail: fmt.Sprintf("%s is a port of the injected container %q", p, c.name),
			})
		}
	}
}
