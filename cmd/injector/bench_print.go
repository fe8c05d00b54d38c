// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// benchTable is one block of lines for each pod.
func benchTable(w io.Writer, rows []benchRow) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i, r := range rows {
		if r.Path == "floor" {
			if i > 0 {
				fmt.Fprintln(tw)
			}
			fmt.Fprintf(tw, "%s  ->  %s  %s %s\n", r.Object, strings.ToUpper(r.Decision), r.ID, r.Reason)
			fmt.Fprint(tw, "  \tCPU µs\tallocs\tbytes\tpatch\t× floor")
			if i+1 < len(rows) && rows[i+1].Compared != nil {
				fmt.Fprint(tw, "\tcompared: CPU µs\tallocs\tbytes\tpatch\t× floor\tratio")
			}
			fmt.Fprintln(tw)
		}
		fmt.Fprintf(tw, "  %s", r.Path)
		r.print(tw)
		if r.Compared != nil {
			r.Compared.print(tw)
			fmt.Fprintf(tw, "\t%.2f", r.Ratio)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

func (c benchCost) print(w io.Writer) {
	fmt.Fprintf(w, "\t%.1f\t%.0f\t%.0f\t%d\t%.1f", c.CPU, c.Allocs, c.Bytes, c.Patch, c.Floors)
}

// told sums up what a core carries, were all pods created equally often.
func told(w io.Writer, rows []benchRow) {
	said := carried(rows, func(r benchRow) *benchCost { return &r.benchCost })
	if said == "" {
		fmt.Fprintln(w, "no pod was measured")
		return
	}
	fmt.Fprintf(w, "one core carries, in a second: %s; without TLS, HTTP and the API server's own share\n", said)
	if said = carried(rows, func(r benchRow) *benchCost { return r.Compared }); said != "" {
		fmt.Fprintf(w, "with the configuration of --compare: %s\n", said)
	}
}

func carried(rows []benchRow, cost func(benchRow) *benchCost) string {
	var said []string
	for _, way := range []string{"fresh", "reused", "skip"} {
		sum, n := 0.0, 0
		for _, r := range rows {
			if c := cost(r); c != nil && r.Path == way {
				sum, n = sum+c.CPU, n+1
			}
		}
		if sum > 0 {
			said = append(said, fmt.Sprintf("%.0f %s", 1e6*float64(n)/sum, way))
		}
	}
	return strings.Join(said, ", ")
}
