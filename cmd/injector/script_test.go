// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"injector": main})
}

// TestScripts runs the sessions of the command line, each in a process of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KUBERNETES_SERVICE_HOST", "") // as on a desk, wherever this runs
			env.Setenv("KUBECONFIG", "")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "crlf": crlf},
	})
}

// exits N COMMAND runs a command that must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit %d, want %d", code, want)
	}
}

// crlf FILE fails unless every line of the file, or of stdout, ends in CR LF.
func crlf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crlf FILE")
	}
	text := []byte(ts.ReadFile(args[0]))
	if n := bytes.Count(text, []byte("\n")); n == 0 || n != bytes.Count(text, []byte("\r\n")) {
		ts.Fatalf("%s: %d lines, %d of them with CR LF", args[0], n, bytes.Count(text, []byte("\r\n")))
	}
}
