// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/istio/values"
)

// Recognised tells whether files configure this dialect: by the keys of istiod's ConfigMaps, or by our own
// configuration with dialect: istio.
func Recognised(files map[string][]byte) bool {
	found, rest := gather(files)
	for _, body := range rest {
		if says := dialectOf(body); says != "" {
			return says == config.DialectIstio
		}
	}
	t, ok := found[configKey]
	return ok && shaped(t.body) || ok && len(found) > 1 && !t.object() || !ok && len(found) > 0
}

// ours tells whether a text is our own configuration for this dialect.
func ours(body []byte) bool { return dialectOf(body) == config.DialectIstio }

// dialectOf is the dialect of a text that is our own configuration, or a ConfigMap with one; empty for
// any other.
func dialectOf(body []byte) string {
	doc := Text{body: body}.document()
	if scalar(doc, "kind") != "ConfigMap" {
		return dialectIn(doc)
	}
	data := member(doc, "data")
	for i := 1; data != nil && i < len(data.Content); i += 2 {
		inner := []byte(data.Content[i].Value)
		if !bytes.Contains(inner, []byte(config.Kind)) {
			continue
		}
		if says := dialectIn(Text{body: inner}.document()); says != "" {
			return says
		}
	}
	return ""
}

func dialectIn(doc *yaml.Node) string {
	if scalar(doc, "kind") != config.Kind {
		return ""
	}
	return cmp.Or(scalar(doc, "dialect"), config.DialectPillion)
}

// Parse reads the configuration from named files: the keys config, values and mesh as files of these
// names or as ConfigMap manifests, and beside or instead of them our own configuration with dialect:
// istio. As with istiod, unknown keys of theirs are ignored; a wrong type is a fault. Texts given
// over the files win: a mesh configuration stands in place of theirs, values are laid over theirs.
//
// The error is config.Errors, with every fault. What could be read comes with it, for Lint alone.
func Parse(files map[string][]byte, over ...Text) (Config, error) {
	p := parser{Config: Config{
		Policy: config.PolicyEnabled, NativeSidecars: config.NativeAuto, Proof: config.ProofSampled, Places: map[string]config.Position{},
	}}
	found, rest := gather(files)
	for _, t := range over {
		if t.key == meshKey {
			found[meshKey] = t
		}
	}
	t, injects := found[configKey]
	if injects {
		p.injection(t)
	}
	if t, ok := found[valuesKey]; ok {
		p.values(t)
	}
	p.mesh(found[meshKey])
	switch own := slices.ContainsFunc(slices.Collect(maps.Values(rest)), ours); {
	case own:
		p.add("", p.own(rest))
	case !injects && !p.bare(rest):
		p.unread = append(p.unread, configKey, valuesKey) // what else is missing goes without saying
		p.faults = append(p.faults, config.Error{
			Detail: "no injection configuration: no key or file named config",
			Hint:   "give the ConfigMap istio-sidecar-injector, or its keys config and values as files",
		})
	}
	for _, t := range over {
		if t.key == valuesKey {
			p.values(t)
		}
	}
	if len(p.DefaultTemplates) == 0 {
		p.DefaultTemplates = []string{mainTemplate}
	}
	if len(p.faults) > 0 {
		return p.Config, p.faults
	}
	return p.Config, nil
}

// mainTemplate is the template of pods where nothing names another.
const mainTemplate = "sidecar"

// parser reads a configuration, with all its faults.
type parser struct {
	Config
	faults config.Errors
}

// add takes up an error: its faults, or itself as one of a field. A fault that names no field is of the
// whole text.
func (p *parser) add(field string, err error) {
	var more config.Errors
	if errors.As(err, &more) {
		for _, f := range more {
			f.Field = cmp.Or(f.Field, field)
			p.faults = append(p.faults, f)
		}
	} else if err != nil {
		p.faults = append(p.faults, config.Error{Field: field, Detail: err.Error()})
	}
}

// values reads values, and lays them over those that are known.
func (p *parser) values(t Text) {
	v, err := values.Parse(t.body, t.origin)
	p.add(valuesKey, err)
	if err != nil {
		p.unread = append(p.unread, valuesKey)
		return
	}
	p.Values = config.MergeValues(p.Values, v)
}

func (p *parser) mesh(t Text) {
	var err error
	p.Mesh, err = mesh.Parse(t.body, t.origin)
	p.add(meshKey, err)
}
