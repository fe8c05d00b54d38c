// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const (
	probersEnv  = "ISTIO_KUBE_APP_PROBERS"
	probePrefix = "/app-health/"
	hookPrefix  = "/app-lifecycle/"
)

// aim is a field of a container in which a handler stands, and where the agent answers for it.
type aim struct {
	field  string
	prefix string
	answer string
}

// aims are the probes, and the hooks of the lifecycle.
func aims(hooks bool) []aim {
	if hooks {
		return []aim{{"preStop", hookPrefix, "prestopz"}, {"postStart", hookPrefix, "poststartz"}}
	}
	return []aim{
		{"readinessProbe", probePrefix, "readyz"},
		{"livenessProbe", probePrefix, "livez"},
		{"startupProbe", probePrefix, "startupz"},
	}
}

// probes points the kubelet at the agent, which asks the application in its place: the kubelet is not
// part of the mesh, and the proxy would turn it away. A handler is pointed there only where the agent
// knows what to ask, so one whose port cannot be told stays as the author wrote it.
func (r *run) probes() error {
	proxy := r.container(proxyName)
	d := diversion{run: r, mesh: r.statusPort(), port: r.agentPort(), found: probers{}}
	if proxy == nil || d.port == 0 || !r.rewritesProbes() {
		return nil
	}
	spec := pod.Object(r.After, "spec")
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(spec, list) {
			c, _ := item.(map[string]any)
			if c != nil && c["name"] != proxyName {
				d.container(list, c)
			}
		}
	}
	return d.found.tell(proxy, r.status != nil)
}

// rewritesProbes is what the pod says, else the values.
func (r *run) rewritesProbes() bool {
	if wanted, err := strconv.ParseBool(pod.Text(r.annotations(), rewriteProbesKey)); err == nil {
		return wanted
	}
	return r.d.settings.rewriteProbes
}

// agentPort is where the pod's agent answers; zero where its author turned that off.
func (r *run) agentPort() int64 {
	text, ok := r.annotations()[statusPortKey].(string)
	if port, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16); ok && err == nil {
		return int64(port)
	}
	return r.statusPort()
}

// diversion rewrites the handlers of a pod's containers.
type diversion struct {
	run   *run
	mesh  int64 // the status port of the mesh
	port  int64 // that of the pod
	found probers
}

// place is a handler: the object that holds it, and what is needed to name it.
type place struct {
	aim
	holder    map[string]any
	container map[string]any
	path      string // in the pod, as people write it
}

// url is where the agent answers for the handler.
func (p place) url() string { return p.own() + p.answer }

// own begins every path at which the agent answers for the container.
func (p place) own() string { return p.prefix + pod.Text(p.container, "name") + "/" }

func (d diversion) container(list string, c map[string]any) {
	path := "spec." + list + "[" + pod.Text(c, "name") + "]."
	for _, a := range aims(false) {
		if probe := d.divert(place{a, pod.Object(c, a.field), c, path + a.field}); probe != nil {
			c[a.field] = probe
		}
	}
	lifecycle := pod.Object(c, "lifecycle")
	for _, a := range aims(true) {
		if hook := d.divert(place{a, pod.Object(lifecycle, a.field), c, path + "lifecycle." + a.field}); hook != nil {
			lifecycle = pod.With(lifecycle, a.field, hook)
			c["lifecycle"] = lifecycle
		}
	}
}

// divert gives the rewritten form of a handler's holder, or nil where it stays as it is.
func (d diversion) divert(p place) map[string]any {
	kind, action := handler(p)
	if action == nil {
		return nil
	}
	port, ok := portOf(p.container, action["port"])
	if !ok {
		d.run.Warn(reason.ProbePortUnknown, p.path, fmt.Sprintf("container %s has no port %s; left as it is",
			pod.Describe(p.container["name"]), pod.Describe(action["port"])))
		return nil
	}
	if kind == httpGet && strings.HasPrefix(pod.Text(action, "path"), p.own()) && (port == d.port || port == d.mesh) {
		return d.again(p, action, port)
	}
	if _, named := action["port"].(string); !named && kind != grpc && port == d.mesh && port == d.port {
		return nil // it asks the agent itself
	}
	d.found[p.url()] = newProber(p, kind, port)
	out := maps.Clone(p.holder)
	if kind != httpGet {
		delete(out, kind)
		out[httpGet] = map[string]any{"path": p.url(), "port": d.port}
		return out
	}
	get := maps.Clone(action)
	get["path"], get["port"] = p.url(), d.port
	if get["scheme"] == "HTTPS" {
		get["scheme"] = "HTTP" // the agent speaks TLS to the application
	}
	out[httpGet] = get
	return out
}

// again is a handler that an earlier injection rewrote: the agent knows it already.
func (d diversion) again(p place, action map[string]any, port int64) map[string]any {
	if port == d.port {
		return nil
	}
	return pod.With(p.holder, httpGet, pod.With(action, "port", d.port))
}
