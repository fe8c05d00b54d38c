// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/validate"
)

func newLint(s streams) *cobra.Command {
	var path, values, output string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check a configuration and its templates",
		Long: `Lint checks what serve would refuse to load: unknown keys, templates that do not parse, that
call what the sandbox does not have, that place unquoted text of a pod into YAML, or that
make something which is no pod. It also warns of what is allowed and unwise.

It exits with 0 when there is nothing to say, with 1 when there is.`,
		Example: `  injector lint --config config/
  injector lint --config configmap.yaml -o json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			print, err := printer(output, findingsTable)
			if err != nil {
				return err
			}
			sources, err := readConfig(path)
			if err != nil {
				return err
			}
			more, err := readValues(values)
			if err != nil {
				return err
			}
			if path == "" {
				fmt.Fprintln(s.err, "checked the embedded configuration; name another with --config")
			}
			findings := located(path, validate.Configuration(sources, more))
			if err := print(s.out, findings); err != nil || len(findings) == 0 {
				return err
			}
			return silent(exitFindings)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "configuration: a file, a directory or a ConfigMap manifest (default: the embedded one)")
	cmd.Flags().StringVar(&values, "values", "", "file of values, merged over the configuration's")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table, json or yaml")
	return cmd
}

// located is the findings with the files as the caller would open them: the configuration itself
// knows files by their plain names.
func located(path string, findings []validate.Finding) []validate.Finding {
	if path == "" {
		return findings
	}
	dir := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir = filepath.Dir(path)
	}
	for i, f := range findings {
		if f.File != "" {
			findings[i].File = filepath.Join(dir, f.File)
		}
	}
	return findings
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
