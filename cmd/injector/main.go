// SPDX-License-Identifier: Apache-2.0

// Command injector injects sidecars into pods: as an admission webhook in the cluster, and offline
// on manifests with the same engine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK = iota
	exitFindings
	exitUsage
	exitUnreachable
	exitPartial
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are where a command reads and writes: data on out, the report on err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// failure is an error with the exit code that it ends in and a hint for the person.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage is a fault of the command line or of the configuration.
func usage(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...), hint}
}

// silent ends with a code after the report has said all.
func silent(code int) error { return &failure{code: code} }

// run carries out one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		f = misuse(root, args, err)
	}
	if f.err != nil {
		fmt.Fprintf(s.err, "injector: error: %v\n", f.err)
		if f.hint != "" {
			fmt.Fprintf(s.err, "injector: hint: %s\n", f.hint)
		}
	}
	return f.code
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "injector",
		Short: "Inject sidecars into pods, and say why",
		Long: `Injector puts sidecars into pods: "serve" does so as an admission webhook, the other
verbs do the same offline on manifests, with the same engine.

Data goes to standard output, the report to standard error. Exit codes: 0 nothing to
report, 1 findings, 2 usage or configuration, 3 cluster unreachable, 4 some refused.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		DisableSuggestions: true, // they would stand in the error; misuse puts one into the hint
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(badFlag)
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(newInject(s), newUninject(s), newExplain(s), newLint(s), newBench(s), newServe(s), newVersion(s))
	return root
}
