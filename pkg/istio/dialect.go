// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
)

// More is what Facts.More holds for this dialect.
type More struct {
	Resources *mesh.Resources // the ProxyConfig resources of the cluster; nil for none
}

// New compiles a configuration. Every template is parsed, those of gateways and waypoints too, and
// the default ones are tried on a sample pod. The error is a *inject.CompileError.
func New(c Config, o inject.Options) (*inject.Engine, error) {
	d, err := compile(c, o)
	if err != nil {
		return nil, err
	}
	return inject.Speaking(d.parts(), o), nil
}

// parts is the dialect as the engine takes it.
func (d *dialect) parts() *inject.Dialect {
	c := config.Config{
		Dialect: config.DialectIstio, Policy: d.config.Policy, DefaultTemplates: d.config.DefaultTemplates,
		Aliases: d.config.Aliases, NativeSidecars: d.config.NativeSidecars, Proof: d.config.Proof, Values: d.config.Values,
	}
	for _, t := range d.config.Templates {
		c.Templates = append(c.Templates, config.Template{Name: t.Name, Text: t.Text, OS: "any"})
	}
	return &inject.Dialect{
		Config: c,
		Owner:  owner,
		Decide: d.judge,
		Parts: []inject.Part{
			part("check", (*run).check),
			part("peel", (*run).peel),
			part("native sidecars", func(r *run) error { r.native = r.nativeWanted(); return nil }),
			part("user ids of the platform", (*run).platformIDs),
			part("templates", (*run).lay),
			part("overrides", (*run).customise),
			part("user volumes", (*run).userVolumes),
			part("user ids", (*run).userIDs),
			part("cluster and network", (*run).clusterEnv),
			part("metrics", (*run).prometheus),
			part("secure metrics port", (*run).securePort),
			part("probes", (*run).probes),
			part("status", (*run).record),
			part("order", (*run).order),
			part("ports", (*run).ports),
			part("advice", (*run).advise),
			part("pod security", (*run).security),
		},
		Inputs:   func(w *inject.Work) inject.Inputs { return w.State.(*run).inputs() },
		Present:  func(w *inject.Work) bool { return w.State.(*run).present() },
		Meanings: meanings(),
	}
}

func part(name string, do func(*run) error) inject.Part {
	return inject.Part{Name: name, Run: func(w *inject.Work) error {
		if w.Facts.Trace {
			w.After = pod.Clone(w.After) // what own made is written to in place, and a trace compares
		}
		return do(w.State.(*run))
	}}
}

// judge begins a run and decides.
func (d *dialect) judge(w *inject.Work) policy.Decision {
	r := &run{Work: w, d: d, head: w.In.Head()}
	w.State = r
	w.Warnings = append(w.Warnings, warnKeys(r.head)...)
	decision := d.decide(w)
	if !decision.Inject {
		return decision
	}
	var resources *mesh.Resources
	if more, ok := w.Facts.More.(More); ok {
		resources = more.Resources
	}
	meta := r.head.Metadata
	r.proxy = d.config.Mesh.Proxy(resources, w.Namespace, meta.Labels, meta.Annotations)
	r.env = r.proxyEnv()
	return decision
}

// present tells whether a pod that was injected before holds all that it would get. The lists whose
// items have names are compared in any order: where a later call would only move an environment
// variable, it leaves it where it is. The order of containers counts, since it is that of their start.
func (r *run) present() bool {
	if r.status == nil {
		return false
	}
	have, want := pod.Object(r.Raw, "spec"), pod.Object(r.After, "spec")
	for _, list := range pod.ContainerLists {
		if !sameNames(pod.Items(have, list), pod.Items(want, list)) {
			return false
		}
	}
	t := pod.Schema()
	return overlay.Covers(t, pod.Canonical(t, r.Raw), pod.Canonical(t, r.After))
}

func sameNames(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, _ := a[i].(map[string]any)
		y, _ := b[i].(map[string]any)
		if x["name"] != y["name"] {
			return false
		}
	}
	return true
}
