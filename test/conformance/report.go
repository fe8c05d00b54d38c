// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// result is a case that was run.
type result struct {
	suite, name string
	verdict
}

// all runs the cases, several at a time. The results come in the order of the cases.
func (r *runner) all(ctx context.Context, cases []testCase, only *regexp.Regexp) ([]result, error) {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c testCase) bool { return !only.MatchString(c.name) })
	out := make([]result, len(cases))
	err := parallel(len(cases), func(i int) error {
		out[i] = result{cases[i].suite, cases[i].name, r.one(cases[i])}
		return ctx.Err()
	})
	return out, err
}

// one runs a case; a panic is its end, not that of the others.
func (r *runner) one(c testCase) (v verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = problem("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.check(r)
}

// parallel does a numbered piece of work after the other, as many at a time as there are processors, and
// gives the first error.
func parallel(n int, do func(i int) error) error {
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		i := next
		next++
		return i, i < n && first == nil
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := do(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return first
}

// style says what to print.
type style struct {
	unread  []string
	verbose bool
}

// tally counts the ends of a suite.
type tally struct{ pass, known, fail int }

// few is how many differences of a case are printed unless all are asked for.
const few = 3

// report prints the table, the failing cases and the sum, and tells whether none fails.
func report(out io.Writer, results []result, how style) bool {
	sums := map[string]*tally{}
	var all tally
	for _, r := range results {
		s := sums[r.suite]
		if s == nil {
			s = &tally{}
			sums[r.suite] = s
		}
		for _, t := range []*tally{s, &all} {
			switch {
			case len(r.problems) > 0:
				t.fail++
			case r.known != "":
				t.known++
			default:
				t.pass++
			}
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "suite\tpass\tknown\tfail\t")
	for _, suite := range slices.Sorted(maps.Keys(sums)) {
		s := sums[suite]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", suite, s.pass, s.known, s.fail)
	}
	_ = table.Flush()
	for _, r := range results {
		r.print(out, how.verbose)
	}
	if len(how.unread) > 0 {
		fmt.Fprintf(out, "not cases: %s\n", strings.Join(how.unread, " "))
	}
	fmt.Fprintf(out, "conformance: %d pass, %d known, %d fail\n", all.pass, all.known, all.fail)
	return all.fail == 0
}

// print prints a case that fails; one that a rule explains only where all is asked for.
func (r result) print(out io.Writer, verbose bool) {
	if len(r.problems) == 0 {
		if verbose && r.known != "" {
			fmt.Fprintf(out, "known %s: %s\n", r.name, r.known)
		}
		return
	}
	fmt.Fprintf(out, "FAIL %s\n", r.name)
	for i, p := range r.problems {
		if i == few && !verbose {
			fmt.Fprintf(out, "    ... and %d more\n", len(r.problems)-few)
			return
		}
		fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(strings.TrimSpace(p), "\n", "\n      "))
	}
}

// acceptanceResults are the API server's judgements, as cases of a suite.
func acceptanceResults(refused []string, judged int) []result {
	var out []result
	for _, r := range refused {
		name, why, _ := strings.Cut(r, ": ")
		out = append(out, result{"accepted", "accepted/" + name, verdict{problems: []string{why}}})
	}
	for range judged - len(refused) {
		out = append(out, result{suite: "accepted"})
	}
	return out
}

// listRules prints the known differences.
func listRules(out io.Writer) {
	for _, r := range rules() {
		fmt.Fprintf(out, "%s\n    %s\n", r.id, r.reason)
	}
}
