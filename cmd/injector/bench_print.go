// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// benchTable is one block of lines for each pod, and one for all where there are several.
func benchTable(w io.Writer, rows []benchRow) error {
	var out bytes.Buffer
	tw := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for i, r := range rows {
		if r.Path == wayFloor || r.Path == wayNone {
			if r.Object == "total" && r.Pods == 1 {
				break
			}
			if i > 0 {
				fmt.Fprintln(tw)
			}
			r.head(tw)
		}
		if r.Path != wayNone {
			r.print(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) { // a stage has cells without text
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// head is the line about a pod, and the columns' names.
func (r benchRow) head(w io.Writer) {
	if r.Object == "total" {
		fmt.Fprintf(w, "total of %d pods", r.Pods)
		if r.Compared != nil && r.Compared.Pods < r.Pods {
			fmt.Fprintf(w, ", %d compared", r.Compared.Pods)
		}
		fmt.Fprintln(w)
	} else {
		fmt.Fprintf(w, "%s  ->  %s  %s %s\n", r.Object, strings.ToUpper(r.Decision), r.ID, r.Reason)
	}
	if r.Path == wayNone {
		fmt.Fprintln(w, "  the webhook is not called")
		return
	}
	fmt.Fprint(w, "  \tCPU µs\tallocs\tbytes\tpatch\t× floor")
	if r.Compared != nil {
		fmt.Fprint(w, "\tcompared: CPU µs\tallocs\tbytes\tpatch\t× floor\tratio")
	}
	fmt.Fprintln(w)
}

func (r benchRow) print(w io.Writer) {
	fmt.Fprintf(w, "  %s", r.Path)
	r.benchCost.print(w)
	if r.Compared != nil {
		r.Compared.print(w)
		fmt.Fprintf(w, "\t%.2f", r.Ratio)
	}
	fmt.Fprintln(w)
	for _, name := range stageOrder {
		s, ok := r.stage(name)
		o, others := benchStage{}, false
		if r.Compared != nil {
			o, others = r.Compared.stage(name)
		}
		if !ok && !others {
			continue
		}
		fmt.Fprintf(w, "    %s\t%.1f\t%.0f\t%.0f\t\t", name, s.Time, s.Allocs, s.Bytes)
		if r.Compared != nil {
			fmt.Fprintf(w, "\t%.1f\t%.0f\t%.0f\t\t\t", o.Time, o.Allocs, o.Bytes)
		}
		fmt.Fprintln(w)
	}
}

func (c benchCost) print(w io.Writer) {
	fmt.Fprintf(w, "\t%.1f\t%.0f\t%.0f\t%d\t%.1f", c.CPU, c.Allocs, c.Bytes, c.Patch, c.Floors)
}

func (c benchCost) stage(name string) (benchStage, bool) {
	for _, s := range c.Stages {
		if s.Name == name {
			return s, true
		}
	}
	return benchStage{}, false
}

// told sums up what a core carries, were all pods created equally often.
func told(w io.Writer, rows []benchRow) {
	said := carried(rows, func(r benchRow) *benchCost { return &r.benchCost })
	if said == "" {
		fmt.Fprintln(w, "no pod was measured")
		return
	}
	fmt.Fprintf(w, "one core carries, in a second: %s; without TLS, HTTP and the API server's own share\n", said)
	other := func(r benchRow) *benchCost {
		if r.Compared == nil {
			return nil
		}
		return &r.Compared.benchCost
	}
	if said = carried(rows, other); said != "" {
		fmt.Fprintf(w, "with the configuration of --compare: %s\n", said)
	}
}

func carried(rows []benchRow, cost func(benchRow) *benchCost) string {
	var said []string
	for _, way := range []string{wayFresh, wayReused, waySkip} {
		sum, n := 0.0, 0
		for _, r := range rows {
			if c := cost(r); c != nil && r.Path == way && r.Object != "total" {
				sum, n = sum+c.CPU, n+1
			}
		}
		if sum > 0 {
			said = append(said, fmt.Sprintf("%.0f %s", 1e6*float64(n)/sum, way))
		}
	}
	return strings.Join(said, ", ")
}
