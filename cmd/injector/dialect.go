// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
)

// speaksIstio tells whether the texts are of the Istio dialect: the flag says so, or else their shape.
func (f *engineFlags) speaksIstio(t texts) (bool, error) {
	foreign := f.mesh != ""
	switch f.dialect {
	case "":
		foreign = foreign || istio.Recognised(t.config)
	case config.DialectPillion:
		if foreign {
			return false, usage("leave out one of the two", "--mesh is for dialect istio, and --dialect says pillion")
		}
	case config.DialectIstio:
		foreign = true
	default:
		return false, usage("want pillion or istio", "--dialect %q is not known", f.dialect)
	}
	if foreign && f.config == "" {
		return false, usage("name the ConfigMap istio-sidecar-injector, or its keys config and values as files, with --config",
			"dialect istio needs a configuration of its own")
	}
	return foreign, nil
}

// compile makes the engine of a configuration, in whichever dialect it is.
func (f *engineFlags) compile(t texts, o inject.Options) (*inject.Engine, error) {
	foreign, err := f.speaksIstio(t)
	if err != nil {
		return nil, err
	}
	if foreign {
		return f.compileIstio(t, o)
	}
	c, err := config.Parse(t.config)
	if err != nil {
		return nil, badConfig(err)
	}
	if c, err = f.override(c); err != nil {
		return nil, err
	}
	e, err := inject.New(c, o)
	if err != nil {
		return nil, badConfig(err)
	}
	return e, nil
}

func (f *engineFlags) compileIstio(t texts, o inject.Options) (*inject.Engine, error) {
	over, err := f.over(t)
	if err != nil {
		return nil, err
	}
	c, err := istio.Parse(t.config, over...)
	if err != nil {
		return nil, badConfig(err)
	}
	if err := f.overrideIstio(&c); err != nil {
		return nil, err
	}
	e, err := istio.New(c, o)
	if err != nil {
		return nil, badConfig(err)
	}
	return e, nil
}

// meshFlag and valuesFlag are the flag, the key and the file that hold the mesh configuration and the
// values.
const (
	meshFlag   = "mesh"
	valuesFlag = "values"
)

// over is the texts that flags give over those of the configuration.
func (f *engineFlags) over(t texts) ([]istio.Text, error) {
	var out []istio.Text
	if t.mesh != nil {
		mesh, err := one(t.mesh, meshFlag, f.mesh)
		if err != nil {
			return nil, err
		}
		out = append(out, mesh)
	}
	if f.values == "" {
		return out, nil
	}
	read, err := files.Read(f.values)
	if err != nil {
		return nil, usage("name a file, or a ConfigMap manifest with the key values", "--values: %w", err)
	}
	values, err := one(read, valuesFlag, f.values)
	if err != nil {
		return nil, err
	}
	return append(out, values), nil
}

// one is the text that a flag names: a file, or the key of the flag's own name in a ConfigMap manifest or
// a directory.
func one(read map[string][]byte, flag, path string) (istio.Text, error) {
	text, ok := istio.Find(read, flag)
	if !ok {
		return text, usage("name a file, or a ConfigMap with the key "+flag, "--%s: %s holds no key %s", flag, path, flag)
	}
	return text.InFile(func(name string) string { return beside(path, name) }), nil
}

// overrideIstio applies the flags that stand for fields of the configuration.
func (f *engineFlags) overrideIstio(c *istio.Config) error {
	if err := f.revisionName(); err != nil {
		return err
	}
	native, err := f.nativeFlag(c.NativeSidecars, func(version string) bool { return !istio.OldKubelet("v" + strings.TrimPrefix(version, "v")) })
	if err != nil {
		return err
	}
	c.NativeSidecars = native
	known := slices.Collect(maps.Keys(c.Aliases))
	for _, t := range c.Templates {
		known = append(known, t.Name)
	}
	slices.Sort(known)
	for _, name := range f.templates {
		if !slices.Contains(known, name) {
			return usage("the configuration has "+strings.Join(known, ", "), "--templates: there is no template %q", name)
		}
	}
	if len(f.templates) > 0 {
		c.DefaultTemplates = f.templates
	}
	return nil
}
