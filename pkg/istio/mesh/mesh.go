// SPDX-License-Identifier: Apache-2.0

// Package mesh is the mesh configuration and what it says of a pod's proxy: it reads MeshConfig, the
// ProxyConfig resources of a cluster and the annotation of a pod, puts them in their order, and
// checks them as istiod does.
package mesh

import (
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/config"
)

// ConfigAnnotation holds a pod's own ProxyConfig, as YAML.
const ConfigAnnotation = "proxy.istio.io/config"

// Config is a resolved mesh configuration. It does not change, and all of it may be used by many at
// once.
type Config struct {
	mesh     *meshconfig.MeshConfig
	warnings config.Errors

	base     *meshconfig.ProxyConfig // of a pod without resources and annotation
	baseJSON string

	annotations memo[string, annotation]
	proxies     memo[sources, *meshconfig.ProxyConfig]
	rendered    memo[*meshconfig.ProxyConfig, string]
}

// Parse reads the text of the key mesh over the defaults; without text it is the defaults. Unknown
// fields are warnings. The error is config.Errors, with every fault at its path and line.
func Parse(text []byte, origin config.Origin) (*Config, error) {
	s := source{text: text, origin: origin}
	tree, err := s.tree(maxText)
	if err != nil {
		return nil, config.Errors{*err}
	}
	d := decoder{}
	m := defaultMesh()
	d.mesh(m, tree)
	if len(d.faults) == 0 {
		d.faults = checkMesh(m)
	}
	if len(d.faults) > 0 {
		return nil, s.place(d.faults)
	}
	return newConfig(m, s.place(d.warnings)), nil
}

func newConfig(m *meshconfig.MeshConfig, warnings config.Errors) *Config {
	c := &Config{mesh: m, warnings: warnings, base: overlay(builtin(), m.GetDefaultConfig())}
	c.baseJSON, _ = ProxyJSON(c.base) // a failure is told to whoever asks for it
	return c
}

// Mesh is the configuration itself, for reading only.
func (c *Config) Mesh() *meshconfig.MeshConfig { return c.mesh }

// Warnings tells of the fields of the text that nothing reads, and of alternatives given together,
// of which one counts.
func (c *Config) Warnings() config.Errors { return c.warnings }
