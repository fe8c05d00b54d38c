// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// engineFlags are the flags of every verb that runs the engine.
type engineFlags struct {
	config, values, mesh string
	dialect, revision    string
	native, kubeVersion  string
	templates            []string
	kubeconfig           *string // for a configuration in the cluster; nil: as kubectl looks
}

func (f *engineFlags) add(cmd *cobra.Command) {
	f.addSources(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.revision, "revision", "default", "revision of the injector")
	fs.StringVar(&f.native, "native", "", "native sidecars: auto, on or off (default: as the configuration says)")
	fs.StringVar(&f.kubeVersion, "kube-version", "", "version of the nodes, such as 1.28; without it native sidecars are on")
	fs.StringSliceVar(&f.templates, "templates", nil, "templates for pods that name none, in place of the configuration's")
}

// addSources adds the flags that say what the configuration is.
func (f *engineFlags) addSources(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.config, "config", "", "configuration: a file, a directory, a ConfigMap manifest, or configmap/NAMESPACE/NAME (default: the embedded one)")
	fs.StringVar(&f.values, "values", "", "file of values, merged over the configuration's")
	fs.StringVar(&f.mesh, "mesh", "", "mesh configuration of dialect istio: a file, a ConfigMap manifest, or configmap/NAMESPACE/NAME (default: beside the configuration)")
	fs.StringVar(&f.dialect, "dialect", "", "dialect of the keys: pillion or istio (default: as the configuration says)")
}

// nativeSince is the first version whose nodes run native sidecars without a feature gate (KEP-753).
const nativeSince = "1.29"

// sinceNative tells whether nodes of a version run native sidecars.
func sinceNative(version string) bool {
	return utilversion.MustParseGeneric(version).AtLeast(utilversion.MustParseGeneric(nativeSince))
}

// nativeFlag is whether sidecars are native ones: as the flag says, or else the configuration. Nodes
// whose version is given, and that know none, turn auto into off.
func (f *engineFlags) nativeFlag(configured string, known func(version string) bool) (string, error) {
	switch f.native {
	case "":
	case config.NativeAuto, config.NativeOn, config.NativeOff:
		configured = f.native
	default:
		return "", usage("want auto, on or off", "--native %q is not known", f.native)
	}
	if f.kubeVersion == "" {
		return configured, nil
	}
	if _, err := utilversion.ParseGeneric(f.kubeVersion); err != nil {
		return "", usage("give it as 1.28 or v1.28.3", "--kube-version %q is no version", f.kubeVersion)
	}
	if configured == config.NativeAuto && !known(f.kubeVersion) {
		return config.NativeOff, nil
	}
	return configured, nil
}

func (f *engineFlags) revisionName() error {
	if faults := validation.IsDNS1123Label(f.revision); faults != nil {
		return usage("give a name such as canary", "--revision %q is no name: %s", f.revision, faults[0])
	}
	return nil
}

// badConfig is the end of a command whose configuration cannot be used.
func badConfig(err error) error {
	var faults config.Errors
	if errors.As(err, &faults) {
		faults = faults.Suggest(reason.Nearest)
		for i, f := range faults {
			if f.File != "" {
				faults[i].File = filepath.Clean(f.File) // see beside
			}
		}
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
	if err := f.revisionName(); err != nil {
		return c, err
	}
	if c.NativeSidecars, err = f.nativeFlag(c.NativeSidecars, sinceNative); err != nil {
		return c, err
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

// engine compiles the configuration for a verb: one that injects manifests offline, or one that tells
// what the webhook would do.
func (f *engineFlags) engine(ctx context.Context, offline bool) (*inject.Engine, error) {
	t, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	return f.compile(t, inject.Options{Revision: f.revision, OwnNamespace: ownNamespace, Offline: offline})
}

// ownNamespace is where the injector is installed.
const ownNamespace = "pillion-system"
