// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// security warns of what the Pod Security admission of the namespace will refuse in what the templates
// brought.
func (r *run) security() error {
	r.Warnings = append(r.Warnings, finish.Security(r.Facts.NamespaceLabels, r.After, r.Layers)...)
	return nil
}

// socket is a port on which something listens, of the pod or of its node.
type socket struct {
	number   int64
	protocol string
	node     bool
}

func (s socket) String() string {
	if s.node {
		return fmt.Sprintf("host port %d/%s", s.number, s.protocol)
	}
	return fmt.Sprintf("%d/%s", s.number, s.protocol)
}

// ports warns of the author's containers that listen where the proxy or another injected container
// does: one of the two will not get the port. It is no more than a warning, since such pods have always
// been admitted, and what a container declares need not be where it listens.
func (r *run) ports() error {
	if r.container(proxyName) == nil {
		return nil
	}
	var authors []listener
	t := taken{status: r.podStatusPort()}
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(pod.Object(r.After, "spec"), list) {
			c, _ := item.(map[string]any)
			l := listener{list, pod.Text(c, "name"), sockets(c)}
			switch brought := r.brings(l.name); {
			case brought && beside(list, c):
				t.brought = append(t.brought, l)
			case !brought && r.meetsProxy(list, c):
				authors = append(authors, l)
			}
		}
	}
	for _, l := range authors {
		for i, s := range l.sockets {
			if use := t.by(s); use != "" && !slices.Contains(l.sockets[:i], s) {
				r.Warn(reason.PortIsSidecars, "spec."+l.list+"["+l.name+"].ports", s.String()+" is "+use)
			}
		}
	}
	return nil
}

// listener is a container with the ports that it declares.
type listener struct {
	list, name string
	sockets    []socket
}

// taken are the ports of what the templates bring.
type taken struct {
	brought []listener
	status  int64
}

// by tells what a port is taken by; empty for one that is free.
func (t taken) by(s socket) string {
	if s.protocol == "TCP" && !s.node {
		if use := proxyPorts[uint64(s.number)]; use != "" {
			return "the proxy's port for " + use
		}
		if s.number == t.status {
			return "the proxy's status port"
		}
	}
	for _, l := range t.brought {
		if slices.Contains(l.sockets, s) {
			return "a port of the injected container " + l.name
		}
	}
	return ""
}

// podStatusPort is where the agent of this pod listens: its annotation beats its proxy's configuration.
func (r *run) podStatusPort() int64 {
	if _, said := r.annotations()[statusPortKey]; said {
		return r.agentPort()
	}
	return int64(r.proxy.GetStatusPort())
}

// brings tells whether a container is the templates' rather than the author's: they give it an image,
// or it is the proxy.
func (r *run) brings(name string) bool {
	if name == proxyName {
		return true
	}
	spec := pod.Object(r.Layers, "spec")
	for _, list := range pod.ContainerLists {
		if pod.Text(pod.Named(pod.Items(spec, list), name), "image") != "" {
			return true
		}
	}
	return false
}

// meetsProxy tells whether a container runs while the proxy does. An init container that ends has ended
// before an ordinary proxy starts.
func (r *run) meetsProxy(list string, c map[string]any) bool {
	return beside(list, c) || initContainer(r.After, proxyName) != nil
}

// beside tells whether a container runs beside the application.
func beside(list string, c map[string]any) bool {
	return list == "containers" || pod.Text(c, "restartPolicy") == "Always"
}

// sockets are the ports that a container declares, in their order.
func sockets(c map[string]any) []socket {
	var out []socket
	for _, item := range pod.Items(c, "ports") {
		p, _ := item.(map[string]any)
		protocol := pod.Text(p, "protocol")
		if protocol == "" {
			protocol = "TCP"
		}
		if number, _ := p["containerPort"].(int64); number != 0 {
			out = append(out, socket{number, protocol, false})
		}
		if number, _ := p["hostPort"].(int64); number != 0 {
			out = append(out, socket{number, protocol, true})
		}
	}
	return out
}
