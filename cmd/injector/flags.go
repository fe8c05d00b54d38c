// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/templates"
)

// engineFlags are the flags of every verb that runs the engine.
type engineFlags struct {
	config, values, dialect, revision string
	native, kubeVersion               string
	templates                         []string
}

func (f *engineFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.config, "config", "", "configuration: a file, a directory or a ConfigMap manifest (default: the embedded one)")
	fs.StringVar(&f.values, "values", "", "file of values, merged over the configuration's")
	fs.StringVar(&f.dialect, "dialect", "", "dialect of the keys: pillion (default: as the configuration says)")
	fs.StringVar(&f.revision, "revision", "default", "revision of the injector")
	fs.StringVar(&f.native, "native", "", "native sidecars: auto, on or off (default: as the configuration says)")
	fs.StringVar(&f.kubeVersion, "kube-version", "", "version of the nodes, such as 1.28; without it native sidecars are on")
	fs.StringSliceVar(&f.templates, "templates", nil, "templates for pods that name none, in place of the configuration's")
}

// nativeSince is the first version whose nodes run native sidecars without a feature gate (KEP-753).
const nativeSince = "1.29"

// nativeByVersion tells whether nodes of --kube-version run native sidecars.
func (f *engineFlags) nativeByVersion() (bool, error) {
	if f.kubeVersion == "" {
		return true, nil
	}
	v, err := utilversion.ParseGeneric(f.kubeVersion)
	if err != nil {
		return false, usage("give it as 1.28 or v1.28.3", "--kube-version %q is no version", f.kubeVersion)
	}
	return v.AtLeast(utilversion.MustParseGeneric(nativeSince)), nil
}

// load reads and parses the configuration.
func (f *engineFlags) load() (config.Config, error) {
	sources, err := readConfig(f.config)
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.Parse(sources)
	if err != nil {
		return c, badConfig(err)
	}
	return f.override(c)
}

// readConfig reads the files of a configuration; without a path, those of the embedded one.
func readConfig(path string) (map[string][]byte, error) {
	if path == "" {
		return templates.Files(), nil
	}
	sources, err := files.Read(path)
	if err != nil {
		return nil, usage("name a file, a directory or a ConfigMap manifest", "--config: %w", err)
	}
	return sources, nil
}

// badConfig is the end of a command whose configuration cannot be used.
func badConfig(err error) error {
	var faults config.Errors
	if errors.As(err, &faults) {
		faults = faults.Suggest(reason.Nearest)
		return &failure{exitUsage, fmt.Errorf("the configuration cannot be used:\n%w", faults), faults[0].Hint}
	}
	var findings *inject.CompileError
	if errors.As(err, &findings) {
		return &failure{exitUsage, fmt.Errorf("the configuration cannot be used:\n%w", err), findings.Findings[0].Hint}
	}
	return &failure{exitUsage, err, ""}
}

// readValues reads a file of values; an empty path has none.
func readValues(path string) (map[string]any, error) {
	if path == "" {
		return nil, nil
	}
	read, err := files.Read(path)
	if err != nil {
		return nil, usage("name a YAML file", "--values: %w", err)
	}
	out := map[string]any{}
	for name, raw := range read {
		more, err := config.ParseValues(name, raw)
		if err != nil {
			return nil, usage("", "--values: %w", err)
		}
		out = config.MergeValues(out, more)
	}
	return out, nil
}

// override applies the flags that stand for fields of the configuration.
func (f *engineFlags) override(c config.Config) (config.Config, error) {
	more, err := readValues(f.values)
	if err != nil {
		return c, err
	}
	c.Values = config.MergeValues(c.Values, more)
	if faults := validation.IsDNS1123Label(f.revision); faults != nil {
		return c, usage("give a name such as canary", "--revision %q is no name: %s", f.revision, faults[0])
	}
	if f.dialect != "" && f.dialect != config.DialectPillion {
		return c, usage("this version has pillion", "--dialect %q is not known", f.dialect)
	}
	native, err := f.nativeByVersion()
	if err != nil {
		return c, err
	}
	switch f.native {
	case "":
	case config.NativeAuto, config.NativeOn, config.NativeOff:
		c.NativeSidecars = f.native
	default:
		return c, usage("want auto, on or off", "--native %q is not known", f.native)
	}
	if !native && c.NativeSidecars == config.NativeAuto {
		c.NativeSidecars = config.NativeOff
	}
	for _, name := range f.templates {
		known := func(t config.Template) bool { return t.Name == name }
		if _, alias := c.Aliases[name]; !alias && !slices.ContainsFunc(c.Templates, known) {
			return c, usage("the configuration has "+strings.Join(templateNames(c), ", "), "--templates: there is no template %q", name)
		}
	}
	if len(f.templates) > 0 {
		c.DefaultTemplates = f.templates
	}
	return c, nil
}

func templateNames(c config.Config) []string {
	var out []string
	for _, t := range c.Templates {
		out = append(out, t.Name)
	}
	for alias := range c.Aliases {
		out = append(out, alias)
	}
	slices.Sort(out)
	return out
}

// engine compiles the configuration.
func (f *engineFlags) engine() (*inject.Engine, error) {
	c, err := f.load()
	if err != nil {
		return nil, err
	}
	e, err := inject.New(c, inject.Options{Revision: f.revision, OwnNamespace: ownNamespace})
	if err != nil {
		return nil, badConfig(err)
	}
	return e, nil
}

// ownNamespace is where the injector is installed.
const ownNamespace = "pillion-system"
