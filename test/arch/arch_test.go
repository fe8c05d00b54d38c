// SPDX-License-Identifier: Apache-2.0

// Package arch keeps the house rules: which package may import which, how long a file may be, and
// whatever else would otherwise live in reviewers' heads. Every rule is a function over parsed
// files, so that it can be shown that every rule can fail.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A rule looks at the whole tree and tells every breach as "file:line: what is wrong".
type rule struct {
	name  string
	check func(tree) []string
}

func rules() []rule {
	return []rule{
		{"imports go down", importsGoDown},
		{"imports for some packages only", restrictedImports},
		{"the clock is passed in", clockIsPassedIn},
		{"files are short", filesAreShort},
		{"functions are short", functionsAreShort},
		{"functions take few parameters", fewParameters},
		{"functions nest little", littleNesting},
		{"packages have a comment", packageComments},
		{"exported things have a comment", exportedComments},
		{"packages have names that say something", packageNames},
		{"files name their licence", licenceLines},
		{"no init", noInit},
		{"package variables do not change", constantVariables},
		{"tests do not skip", noSkips},
		{"tests do not sleep", noSleeps},
	}
}

func TestHouseRules(t *testing.T) {
	sources := load(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, breach := range slices.Sorted(slices.Values(r.check(sources))) {
				t.Error(breach)
			}
		})
	}
}

func TestEveryRuleCanFail(t *testing.T) {
	cases := planted()
	for _, r := range rules() {
		if len(cases[r.name]) == 0 {
			t.Errorf("no planted breach of the rule %q", r.name)
		}
	}
	for _, r := range rules() {
		for _, c := range cases[r.name] {
			t.Run(r.name+"/"+c.reason, func(t *testing.T) {
				if got := r.check(parseAll(t, c.files)); len(got) != c.breaches {
					t.Errorf("%d breaches, want %d:\n%s", len(got), c.breaches, strings.Join(got, "\n"))
				}
			})
		}
	}
}

// The direct imports of a package say nothing about what its third-party imports bring along.
func TestLowFloorsLinkNoClient(t *testing.T) {
	root, _ := findRoot(t)
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", "./pkg/...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	if !strings.Contains(string(out), module+"/pkg/inject ") {
		t.Error("pkg/inject is not among the packages")
	}
	for _, breach := range linkedClients(string(out)) {
		t.Error(breach)
	}
}

func TestLinkedClientsCanFail(t *testing.T) {
	cases := map[string]struct {
		reason, list string
		breaches     int
	}{
		"inject":     {"the engine must stay small", module + "/pkg/inject fmt k8s.io/client-go/rest", 1},
		"prometheus": {"only metrics counts", module + "/pkg/policy github.com/prometheus/client_golang/prometheus", 1},
		"cluster":    {"the doors may", module + "/pkg/cluster k8s.io/client-go/rest", 0},
		"clean":      {"types alone are fine", module + "/pkg/inject fmt k8s.io/api/core/v1", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := linkedClients(c.list); len(got) != c.breaches {
				t.Errorf("%s: %d breaches, want %d: %q", c.reason, len(got), c.breaches, got)
			}
		})
	}
}
