// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// result is what we make of a pod; rules ask it where a pod's own fields do not tell whether a step of
// the injection concerns it. Its tree is empty for a pod that is not injected.
func (r *runner) result(in *input) (tree map[string]any) {
	e, err := r.engine(in.setup())
	if err != nil {
		return nil
	}
	f, err := in.facts()
	if err != nil {
		return nil
	}
	got, _, _ := once(e, in, f)
	tree, _ = got.tree.(map[string]any)
	return tree
}

// handlers are the probes and lifecycle handlers of a container, as paths below it.
var handlers = [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}}

// at is the object at a path.
func at(m map[string]any, path []string) map[string]any {
	for _, key := range path {
		m = pod.Object(m, key)
	}
	return m
}

// handler is a place of a handler in a pod.
type handler struct {
	list, container string
	path            []string
}

func (h handler) of(spec map[string]any) map[string]any {
	return at(pod.Named(pod.Items(spec, h.list), h.container), h.path)
}

// strike removes the handler from a spec.
func (h handler) strike(spec map[string]any) {
	c := pod.Named(pod.Items(spec, h.list), h.container)
	holder := at(c, h.path[:len(h.path)-1])
	delete(holder, h.path[len(h.path)-1])
	if len(h.path) > 1 && len(holder) == 0 {
		delete(c, h.path[0])
	}
}

// rewritten are the handlers that the rewrite of probes concerns: of every container but the proxy,
// by HTTP, TCP or gRPC.
func (r *runner) rewritten(in *input) []handler {
	tree := r.result(in)
	if (outcome{tree: tree}).container(proxy) == nil || !in.rewrites(tree) {
		return nil
	}
	var out []handler
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(pod.Object(in.pod, "spec"), list) {
			if c, _ := item.(map[string]any); name(item) != proxy {
				out = append(out, asking(c, list)...)
			}
		}
	}
	return out
}

// asking are a container's handlers that ask over the network.
func asking(c map[string]any, list string) []handler {
	var out []handler
	for _, path := range handlers {
		h := at(c, path)
		if h["httpGet"] != nil || h["tcpSocket"] != nil || h["grpc"] != nil && len(path) == 1 {
			out = append(out, handler{list, name(c), path})
		}
	}
	return out
}

// rewrites tells whether probes are rewritten: as the pod's annotation says, else the values.
func (in *input) rewrites(tree map[string]any) bool {
	said := pod.Text(at(tree, []string{"metadata", "annotations"}), "sidecar.istio.io/rewriteAppHTTPProbers")
	if on, err := strconv.ParseBool(said); err == nil {
		return on
	}
	values, err := object(in.values)
	on, _ := pod.Object(values, "sidecarInjectorWebhook")["rewriteAppHTTPProbe"].(bool)
	return err == nil && on
}

// unresolved are the handlers whose port is a name that the container's ports do not have.
func (r *runner) unresolved(in *input) []handler {
	var out []handler
	for _, h := range r.rewritten(in) {
		c := pod.Named(pod.Items(pod.Object(in.pod, "spec"), h.list), h.container)
		port := at(c, append(slices.Clip(h.path), "httpGet"))["port"]
		if port == nil {
			port = at(c, append(slices.Clip(h.path), "tcpSocket"))["port"]
		}
		called, ok := port.(string)
		if _, err := strconv.Atoi(called); ok && err != nil && pod.Named(pod.Items(c, "ports"), called) == nil {
			out = append(out, h)
		}
	}
	return out
}

func probesNameNoPort(r *runner, in *input) bool { return len(r.unresolved(in)) > 0 }

func thoseProbesStay(r *runner, p *pair) error { return p.stay(r.unresolved(p.in)) }

// stay holds handlers to what their author wrote, and strikes them.
func (p *pair) stay(list []handler) error {
	for _, h := range list {
		was := norm(h.of(pod.Object(p.in.pod, "spec")), "")
		if d := diff(any(h.of(spec(p.got))), was, ""); len(d) > 0 {
			return fmt.Errorf("%s of %s is not as it was: %s", strings.Join(h.path, "."), h.container, d[0])
		}
		h.strike(spec(p.got))
		h.strike(spec(p.want))
	}
	return nil
}

// statusPortZero: the annotation asks for port 0, and a probe is rewritten to it.
func statusPortZero(r *runner, in *input) bool {
	said, _ := in.annotations()["status.sidecar.istio.io/port"].(string)
	port, err := strconv.Atoi(strings.TrimSpace(said))
	return err == nil && port == 0 && len(r.rewritten(in)) > 0
}

// probesStay: no probe is rewritten, and the proxy answers for none.
func probesStay(r *runner, p *pair) error {
	if p.got.kind == failed {
		return p.refusedInstead("status.sidecar.istio.io/port")
	}
	if err := p.stay(r.rewritten(p.in)); err != nil {
		return err
	}
	if env(p.got.container(proxy), probers) != "" {
		return fmt.Errorf("%s has %s, but no probe is rewritten", proxy, probers)
	}
	strike(p.want.container(proxy), "env", probers)
	return nil
}
