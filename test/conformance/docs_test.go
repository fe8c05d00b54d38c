// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is where people read of the rules.
const page = "../../docs/istio.md"

// ruleRow is a row of the page's table: the rule, and the first case of ours in it.
var ruleRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*?\\[([^]]+)\\]\\(\\.\\./test/conformance/testdata/corpus/([^)]+)\\)")

// The page tells every rule and no other, and the case that it names is one that the rule explains.
func TestRulesAreTold(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n### By rule\n")
	if !ok {
		t.Fatalf("%s has no heading By rule", page)
	}
	table, _, _ = strings.Cut(table, "\n#")
	var told, cases []string
	for _, row := range ruleRow.FindAllStringSubmatch(table, -1) {
		told = append(told, row[1])
		if row[2] != row[3] {
			t.Errorf("%s: %s is called %s", page, row[3], row[2])
		}
		cases = append(cases, "known "+row[3]+": "+row[1])
	}
	var want []string
	for _, r := range rules() {
		want = append(want, r.id)
	}
	slices.Sort(want)
	slices.Sort(told)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("%s (-rules +page):\n%s", page, diff)
	}
	var out strings.Builder
	if _, err := run(t.Context(), "testdata/corpus", flags{verbose: true, command: built}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for _, c := range cases {
		if !slices.Contains(lines, c) {
			t.Errorf("%s: it is not so that %s", page, c)
		}
	}
}
