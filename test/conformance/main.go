// SPDX-License-Identifier: Apache-2.0

// Command conformance holds the dialect istio to a folder of recorded cases of the original: each runs
// through the engine, the HTTP handler or the command line, and must end as the original did, less the
// known differences, each of which is a rule.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
)

// flags say what to run and what to print.
type flags struct {
	verbose, accept, list bool
	only                  string
	command               func() (string, error) // gives the command line's binary; nil: it is built
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var f flags
	set := flag.NewFlagSet("conformance", flag.ExitOnError)
	set.BoolVar(&f.verbose, "v", false, "print every difference of a case that fails, and the known ones")
	set.BoolVar(&f.list, "rules", false, "print the rules for known differences")
	set.BoolVar(&f.accept, "accept", false, "show every result to a real API server too, which is started for it")
	set.StringVar(&f.only, "run", "", "only the cases whose name matches this regular expression")
	set.Usage = func() {
		fmt.Fprintln(set.Output(), "usage: conformance [flags] FOLDER")
		set.PrintDefaults()
	}
	_ = set.Parse(os.Args[1:]) // it exits on an error
	if f.list {
		listRules(os.Stdout)
		return
	}
	if set.NArg() != 1 {
		set.Usage()
		os.Exit(2)
	}
	passed, err := run(ctx, set.Arg(0), f, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance: error:", err)
		os.Exit(2)
	}
	if !passed {
		os.Exit(1)
	}
}

// run runs the cases of a folder, and tells whether none fails.
func run(ctx context.Context, folder string, f flags, out io.Writer) (passed bool, err error) {
	only, err := regexp.Compile(f.only)
	if err != nil {
		return false, err
	}
	c, err := open(folder)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &runner{rules: rules(), asking: f.accept, command: f.command}
	if r.command == nil {
		r.command = sync.OnceValues(func() (string, error) { return buildCommand(dir) })
	}
	results, err := r.all(ctx, c.cases, only)
	if err != nil {
		return false, err
	}
	if f.accept {
		refused, judged, err := acceptance(ctx, r.asks, func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
		if err != nil {
			return false, err
		}
		results = append(results, acceptanceResults(refused, judged)...)
	}
	return report(out, results, style{c.unread, f.verbose}), nil
}

// findRoot climbs from the working folder to the root of the repository, where the command line is built.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "injector")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("the working folder is not inside the repository")
}
