// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestBudgets fails when a path makes more allocations than budget.txt grants it.
func TestBudgets(t *testing.T) {
	text, err := os.ReadFile("budget.txt")
	if err != nil {
		t.Fatal(err)
	}
	budgets, err := parseBudgets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	list := every(t, "")
	for _, p := range list {
		if p.broken != "" {
			t.Fatalf("%s: %s", p.name, p.broken)
		}
		got[p.name] = settled(p.run)
		if p.harness != nil {
			got[p.name] -= settled(p.harness)
		}
		t.Logf("%s: %.0f allocations of %.0f", p.name, got[p.name], budgets[p.name])
	}
	for _, fault := range overspent(budgets, got) {
		t.Error(fault)
	}
	for _, p := range list {
		if l := p.gate; l.times > 0 && got[p.name] > l.times*got[l.like] && !raced {
			t.Errorf("%s: %.0f allocations, more than %g times the %.0f of %s", p.name, got[p.name], l.times, got[l.like], l.like)
		}
	}
}

// parseBudgets reads lines of a name and a number.
func parseBudgets(text string) (map[string]float64, error) {
	out := map[string]float64{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: want a name and a number", i+1)
		}
		n, err := strconv.ParseUint(fields[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if _, twice := out[fields[0]]; twice {
			return nil, fmt.Errorf("line %d: %s comes twice", i+1, fields[0])
		}
		out[fields[0]] = float64(n)
	}
	return out, nil
}

// overspent tells of every path beyond its budget, of paths without one, and of budgets without a path.
func overspent(budgets, got map[string]float64) []string {
	var out []string
	for name, n := range got {
		budget, ok := budgets[name]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s: budget.txt has no line for it", name))
		case n > budget && !raced:
			out = append(out, fmt.Sprintf("%s: %.0f allocations, the budget is %.0f", name, n, budget))
		}
	}
	for name := range budgets {
		if _, ok := got[name]; !ok {
			out = append(out, fmt.Sprintf("%s: there is no such path", name))
		}
	}
	return out
}

func TestBudgetsCanFail(t *testing.T) {
	budgets, err := parseBudgets("# a comment\nskip 40 # why\n\nreused\t150\n")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		got    map[string]float64
		faults int
	}{
		"within":  {"as much as is granted", map[string]float64{"skip": 40, "reused": 1}, 0},
		"unknown": {"a path without a line", map[string]float64{"skip": 40, "reused": 1, "fresh": 1}, 1},
		"stale":   {"a line without a path", map[string]float64{"skip": 40}, 1},
	}
	if !raced {
		cases["beyond"] = struct {
			reason string
			got    map[string]float64
			faults int
		}{"one too many", map[string]float64{"skip": 41, "reused": 1}, 1}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if faults := overspent(budgets, c.got); len(faults) != c.faults {
				t.Errorf("%s: %q", c.reason, faults)
			}
		})
	}
	for _, bad := range []string{"skip", "skip many", "skip 1 2", "skip -1", "skip 1\nskip 2"} {
		if _, err := parseBudgets(bad); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}
