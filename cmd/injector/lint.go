// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/revision"
	"github.com/pillion-dev/pillion/pkg/validate"
)

func newLint(s streams) *cobra.Command {
	var output, kubeconfig string
	engine := engineFlags{kubeconfig: &kubeconfig, revision: revision.Default}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check a configuration and its templates",
		Long: `Lint checks what serve would refuse to load: unknown keys, templates that do not parse, that
call what the sandbox does not have, that place unquoted text of a pod into YAML, or that
make something which is no pod. It also warns of what is allowed and unwise. Of a
configuration of dialect istio it checks the values and the mesh configuration too.

It exits with 0 when there is nothing to say, with 1 when there is.`,
		Example: `  injector lint --config config/
  injector lint --config configmap.yaml -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print, err := printer(output, findingsTable)
			if err != nil {
				return err
			}
			findings, err := engine.lint(cmd.Context())
			if err != nil {
				return err
			}
			if engine.config == "" {
				fmt.Fprintln(s.err, "checked the embedded configuration; name another with --config")
			}
			if err := print(s.out, findings); err != nil || len(findings) == 0 {
				return err
			}
			return silent(exitFindings)
		},
	}
	engine.addSources(cmd)
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig for configmap/NAMESPACE/NAME (default: KUBECONFIG, or where kubectl looks)")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table, json or yaml")
	return cmd
}

// lint is all that is wrong with a configuration, in whichever dialect it is.
func (f *engineFlags) lint(ctx context.Context) ([]validate.Finding, error) {
	t, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	return f.findings(t)
}

// findings is all that is wrong with the texts of a configuration.
func (f *engineFlags) findings(t texts) ([]validate.Finding, error) {
	foreign, err := f.speaksIstio(t)
	if err != nil {
		return nil, err
	}
	if foreign {
		return f.lintIstio(t)
	}
	more, err := readValues(f.values)
	if err != nil {
		return nil, err
	}
	return located(f.config, validate.Configuration(t.config, more)), nil
}

func (f *engineFlags) lintIstio(t texts) ([]validate.Finding, error) {
	over, err := f.over(t)
	if err != nil {
		return nil, err
	}
	c, err := istio.Parse(t.config, over...)
	faults, warnings := istio.Lint(c, inject.Options{Revision: f.revision})
	findings := append(validate.Faults(err), validate.Compiled(faults, validate.Error)...)
	findings = located(f.config, append(findings, validate.Compiled(warnings, validate.Warning)...))
	slices.SortStableFunc(findings, func(a, b validate.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return findings, nil
}

// located is the findings with the files as the caller would open them: the configuration itself
// knows files by their plain names.
func located(path string, findings []validate.Finding) []validate.Finding {
	if path == "" {
		return findings
	}
	for i, f := range findings {
		switch {
		case f.File == "":
		case strings.ContainsRune(f.File, filepath.Separator): // of another flag, see beside
			findings[i].File = filepath.Clean(f.File)
		default:
			findings[i].File = placed(path, f.File)
		}
	}
	return findings
}

// placed is a file as the caller would open it: the one that a flag names, or one in the directory that it
// names.
func placed(path, name string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return filepath.Join(path, name)
}

// beside is a file of another flag than --config, as the caller would open it. It always holds a
// separator, so that it is no plain name of the configuration's own.
func beside(path, name string) string {
	name = placed(path, name)
	if filepath.IsAbs(name) || strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	return "." + string(filepath.Separator) + name
}

func findingsTable(w io.Writer, list []validate.Finding) error {
	for _, f := range list {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		if place != "" {
			place += ": "
		}
		detail := f.Detail
		if f.Path != "" {
			detail = f.Path + ": " + detail
		}
		if _, err := fmt.Fprintf(w, "%s%s %s %s: %s\n", place, f.ID, f.Severity, f.Object, strings.TrimSpace(detail)); err != nil {
			return err
		}
		if f.Hint != "" {
			if _, err := fmt.Fprintf(w, "  hint: %s\n", f.Hint); err != nil {
				return err
			}
		}
	}
	return nil
}
