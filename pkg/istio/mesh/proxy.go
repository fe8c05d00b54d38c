// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/config"
)

// sources is what a pod's ProxyConfig comes from, beside the mesh.
type sources struct {
	root, namespace, workload *entry
	annotation                string // empty for none, and for a bad one
}

// annotation is what a text of ConfigAnnotation says.
type annotation struct {
	proxy    *meshconfig.ProxyConfig // nil for a text that cannot be read
	faults   config.Errors
	warnings config.Errors
}

// Proxy is the ProxyConfig of a pod, for reading only. From low to high: the built-in one, that of
// the mesh, the resource of the root namespace, that of the pod's namespace, the pod's annotation,
// and the resource that selects the pod. An annotation that cannot be read is left out; see
// CheckAnnotation. Equal sources give the same pointer while it is remembered.
func (c *Config) Proxy(r *Resources, namespace string, labels, annotations map[string]string) *meshconfig.ProxyConfig {
	key := sources{workload: r.matching(namespace, labels)}
	if root := c.mesh.GetRootNamespace(); root != "" {
		key.root = r.plain(root)
	}
	if namespace != c.mesh.GetRootNamespace() {
		key.namespace = r.plain(namespace)
	}
	if text := annotations[ConfigAnnotation]; text != "" && c.annotation(text).proxy != nil {
		key.annotation = text
	}
	if key == (sources{}) {
		return c.base
	}
	if p, ok := c.proxies.get(key); ok {
		return p
	}
	return c.remember(key)
}

// remember puts a ProxyConfig together, with its JSON.
func (c *Config) remember(key sources) *meshconfig.ProxyConfig {
	p := c.base
	for _, e := range []*entry{key.root, key.namespace} {
		if e != nil {
			p = overlay(p, e.overlay)
		}
	}
	if key.annotation != "" {
		p = overlay(p, c.annotation(key.annotation).proxy)
	}
	if key.workload != nil {
		p = overlay(p, key.workload.overlay)
	}
	key.annotation = strings.Clone(key.annotation) // else it keeps the whole pod
	p = c.proxies.put(key, p, len(key.annotation))
	if text, err := ProxyJSON(p); err == nil {
		c.rendered.put(p, text, len(text))
	}
	return p
}

// HoldApplication tells whether the pod's containers wait for its proxy: as the mesh says, or the
// pod's annotation. Resources have no say in it.
func (c *Config) HoldApplication(annotations map[string]string) bool {
	if text := annotations[ConfigAnnotation]; text != "" {
		if hold := c.annotation(text).proxy.GetHoldApplicationUntilProxyStarts(); hold != nil {
			return hold.GetValue()
		}
	}
	return c.mesh.GetDefaultConfig().GetHoldApplicationUntilProxyStarts().GetValue()
}

// CheckAnnotation is CheckProxyConfig, remembered.
func (c *Config) CheckAnnotation(text string) (faults, warnings config.Errors) {
	a := c.annotation(text)
	return a.faults, a.warnings
}

func (c *Config) annotation(text string) annotation {
	if a, ok := c.annotations.get(text); ok {
		return a
	}
	text = strings.Clone(text)
	return c.annotations.put(text, readAnnotation(text), len(text))
}

// CheckProxyConfig judges a text of ConfigAnnotation as istiod does: laid over the built-in
// ProxyConfig, it must be one that a proxy can start with. All faults are told, each with its field;
// an unknown field is only a warning. The text stands in an annotation, so lines are the text's own.
func CheckProxyConfig(text string) (faults, warnings config.Errors) {
	a := readAnnotation(text)
	return a.faults, a.warnings
}

func readAnnotation(text string) annotation {
	s := source{text: []byte(text), origin: config.Origin{First: 1, Exact: true}}
	tree, err := s.tree(maxAnnotation)
	if err != nil {
		return annotation{faults: config.Errors{*err}}
	}
	d := decoder{}
	p := &meshconfig.ProxyConfig{}
	d.message(p.ProtoReflect(), tree)
	warnings := s.place(d.warnings)
	if len(d.faults) > 0 {
		return annotation{faults: s.place(d.faults), warnings: warnings}
	}
	whole := defaultProxy()
	again := decoder{} // here, unlike in the merge of a pod's ProxyConfig, a given zero counts
	again.proxy(whole, tree)
	return annotation{proxy: p, faults: s.place(checkProxy(whole)), warnings: warnings}
}
