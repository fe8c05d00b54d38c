// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// meshPort is where agents of the case's mesh answer; zero for a mesh that cannot be read.
func (in *input) meshPort() int64 {
	c, err := mesh.Parse(in.mesh, config.Origin{})
	if err != nil {
		return 0
	}
	return int64(c.Mesh().GetDefaultConfig().GetStatusPort())
}

// ofTheAgent are the handlers that ask the agent itself, and not about the application: by HTTP or TCP, at
// the number of its port.
func (r *runner) ofTheAgent(in *input) []handler {
	port := in.meshPort()
	if said, ok := in.annotations()["status.sidecar.istio.io/port"].(string); ok && strings.TrimSpace(said) != fmt.Sprint(port) {
		return nil
	}
	return slices.DeleteFunc(r.rewritten(in), func(h handler) bool {
		asks := h.of(pod.Object(in.pod, "spec"))
		get := pod.Object(asks, "httpGet")
		to := get["port"]
		if get == nil {
			to = pod.Object(asks, "tcpSocket")["port"]
		}
		answered := strings.HasPrefix(pod.Text(get, "path"), "/app-health/"+h.container+"/") || strings.HasPrefix(pod.Text(get, "path"), "/app-lifecycle/"+h.container+"/")
		return port == 0 || number(to) != any(port) || answered
	})
}

func handlersAskTheAgent(r *runner, in *input) bool { return len(r.ofTheAgent(in)) > 0 }

func theyStay(r *runner, p *pair) error { return p.stay(r.ofTheAgent(p.in)) }

// kindOf are the kinds of a handler, in one word.
func kindOf(h map[string]any) string {
	var out []string
	for _, kind := range []string{"exec", "grpc", "httpGet", "sleep", "tcpSocket"} {
		if h[kind] != nil {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

// twoKinds are the handlers of the proxy, by their kinds, that its author and a template write in two
// kinds. A proxy that is on record is no author's.
func (r *runner) twoKinds(in *input) map[string][]string {
	own := (outcome{tree: in.pod}).container(proxy)
	for _, names := range in.recorded() {
		if slices.Contains(names, proxy) {
			own = nil
		}
	}
	out := map[string][]string{}
	for _, t := range in.selected() {
		brought := (outcome{tree: r.alone(in, t)}).container(proxy)
		for _, path := range handlers {
			mine, theirs := kindOf(at(own, path)), kindOf(at(brought, path))
			if mine != "" && theirs != "" && mine != theirs {
				out[mine] = path
			}
		}
	}
	return out
}

func handlersClash(r *runner, in *input) bool { return len(r.twoKinds(in)) > 0 }

// handlerHasOneKind: the handler is of its author's kind alone.
func handlerHasOneKind(r *runner, p *pair) error {
	for kind, path := range r.twoKinds(p.in) {
		if got := kindOf(at(p.got.container(proxy), path)); got != kind {
			return fmt.Errorf("%s of %s is %s, want %s", strings.Join(path, "."), proxy, got, kind)
		}
		strikeHandler(spec(p.got), path)
		strikeHandler(spec(p.want), path)
	}
	return nil
}

// strikeHandler removes a handler of the proxy, in whatever list it stands.
func strikeHandler(spec map[string]any, path []string) {
	for _, list := range pod.ContainerLists {
		if h := (handler{list, proxy, path}); h.of(spec) != nil {
			h.strike(spec)
		}
	}
}
