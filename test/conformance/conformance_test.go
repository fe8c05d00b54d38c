// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// binaries is the folder of the command line, which is built once for all tests of the package.
var binaries string

var built = sync.OnceValues(func() (string, error) { return buildCommand(binaries) })

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "conformance-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(code)
}

// The repository's own cases cover every form of a case and every rule.
func TestOwnCases(t *testing.T) {
	var out strings.Builder
	passed, err := run(t.Context(), "testdata/corpus", flags{verbose: true, command: built}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if !passed {
		t.Error(out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "conformance: ") || !strings.HasSuffix(last, " 0 fail") {
		t.Errorf("the last line is %q", last)
	}
	for _, r := range rules() {
		if !strings.Contains(out.String(), ": "+r.id) {
			t.Errorf("no case of ours shows the rule %s", r.id)
		}
	}
	for name := range tables() {
		if _, err := os.Stat(filepath.Join("testdata/corpus/units", name+".jsonl")); err != nil {
			t.Errorf("no table of ours for %s: %v", name, err)
		}
	}
}

// A result that is not the recorded one fails, whatever the form of the case.
func TestEveryFormCanFail(t *testing.T) {
	cases := map[string]struct{ reason, file, old, new, tells string }{
		"request":         {"another pod was recorded", "anno/log-level/expected.json", `"debug"`, `"trace"`, "FAIL anno/log-level\n"},
		"line":            {"another pod was recorded", "cross/classic.jsonl", `"info"`, `"trace"`, "FAIL cross/classic/plain#1\n"},
		"manifest":        {"another manifest was recorded", "kube-inject/deployment/expected.yaml", "north", "south", "FAIL kube-inject/deployment\n"},
		"around the pod":  {"another document beside it", "kube-inject/deployment/expected.yaml", "name: settings", "name: others", "FAIL kube-inject/deployment\n"},
		"exchange":        {"a denial was recorded", "http.json", `allowed\": true`, `allowed\": false`, "FAIL http/valid\n"},
		"row":             {"another value in the table", "units/proxy-image.jsonl", "proxyv2:3\"", "proxyv2:4\"", "FAIL units/proxy-image#1\n"},
		"kind of the end": {"it was skipped", "anno/log-level/case.json", `"outcome": "injected"`, `"outcome": "skipped"`, "want skipped, got injected"},
		"value unnamed":   {"the refusal names another value", "anno/bad-ports/case.json", "'many'", "'few'", `does not name the value "few"`},
		"stale rule":      {"the original did as we do", "kube-inject/retired/expected.yaml", "annotations:\n        sidecar.istio.io/status: '{}'\n      ", "", "rule retired-versions-are-told is stale"},
		"unknown table":   {"a table that nothing reads", "units/omit-nil.jsonl", "", "", "no runner for this table"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/corpus")); err != nil {
				t.Fatal(err)
			}
			spoil(t, filepath.Join(dir, c.file), c.old, c.new)
			var out strings.Builder
			passed, err := run(t.Context(), dir, flags{verbose: true, command: built}, &out)
			if err != nil {
				t.Fatal(err)
			}
			if passed || !strings.Contains(out.String(), c.tells) {
				t.Errorf("%s: want %q in\n%s", c.reason, c.tells, out.String())
			}
		})
	}
}

// spoil changes a file; without a text to change, it gets another name.
func spoil(t *testing.T, file, old, new string) {
	t.Helper()
	if old == "" {
		if err := os.Rename(file, strings.Replace(file, "omit-nil", "omit-all", 1)); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(raw), old, new)
	if changed == string(raw) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSelection(t *testing.T) {
	var out strings.Builder
	if _, err := run(t.Context(), "testdata/corpus", flags{only: "^units/omit-nil#1$"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "conformance: 1 pass, 0 known, 0 fail\n") {
		t.Errorf("one case was asked for:\n%s", out.String())
	}
	for folder, reason := range map[string]string{t.TempDir(): "it is empty", "testdata/nowhere": "it is not there"} {
		if _, err := run(t.Context(), folder, flags{}, &out); err == nil {
			t.Errorf("no error for a folder although %s", reason)
		}
	}
}

func TestReport(t *testing.T) {
	results := []result{
		{suite: "a", name: "a/1"}, {"a", "a/2", verdict{known: "r"}}, {"b", "b/1", verdict{problems: []string{"one", "two", "three", "four"}}},
	}
	want := `suite  pass  known  fail
      a     1      1     0
      b     0      0     1
FAIL b/1
    one
    two
    three
    ... and 1 more
not cases: notes
conformance: 1 pass, 1 known, 1 fail
`
	var out strings.Builder
	if report(&out, results, style{unread: []string{"notes"}}) {
		t.Error("a case fails, and yet all passed")
	}
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(out.String())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := suiteOf("golden.007.x/case.json") + " " + suiteOf("anno/a.b"); got != "golden anno" {
		t.Errorf("suites %q", got)
	}
}

func TestCreatable(t *testing.T) {
	in := tree(t, `{"metadata":{"generateName":"Web-","uid":"u","managedFields":[{}],"ownerReferences":[{"name":"a","uid":""}]},"spec":{"containers":[]},"status":{"phase":"Pending"}}`).(map[string]any)
	want := tree(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-","namespace":"default","ownerReferences":[{"name":"a","uid":"00000000-0000-4000-8000-000000000001"}]},
		"spec":{"containers":[],"serviceAccountName":"default"}}`)
	if d := cmp.Diff(text(want), text(creatable(in))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
