// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figures are rows with figures that a test can know.
func figures(compared bool) []benchRow {
	injected, skipped := benchEnd{"injected", "policy_enabled", "INJ005"}, benchEnd{"skipped", "host_network", "INJ105"}
	stages := []benchStage{{"decide", 20, 5, 500}, {"execute", 180, 495, 49500}}
	rows := []benchRow{
		{Object: "pod/a", Pods: 1, Path: "floor", benchEnd: injected, benchCost: benchCost{10, 3, 1000, 400, 1, nil}},
		{Object: "pod/a", Pods: 1, Path: "fresh", benchEnd: injected, benchCost: benchCost{200, 500, 50000, 400, 20, stages}},
		{Object: "pod/a", Pods: 1, Path: "reused", benchEnd: injected, benchCost: benchCost{20, 40, 4000, 400, 2, nil}},
		{Object: "pod/b", Pods: 1, Path: "floor", benchEnd: injected, benchCost: benchCost{30, 3, 3000, 600, 1, nil}},
		{Object: "pod/b", Pods: 1, Path: "fresh", benchEnd: injected, benchCost: benchCost{300, 700, 70000, 600, 10, stages}},
		{Object: "pod/c", Pods: 1, Path: "floor", benchEnd: skipped, benchCost: benchCost{5, 3, 500, 0, 1, nil}},
		{Object: "pod/c", Pods: 1, Path: "skip", benchEnd: skipped, benchCost: benchCost{10, 20, 2000, 0, 2, nil}},
		{Object: "pod/d", Pods: 1, Path: "none", benchEnd: benchEnd{"skipped", "not_selected", "INJ112"}},
	}
	for i, r := range rows {
		if compared && r.Object != "pod/b" && r.Path != "none" {
			rows[i].compare(benchCompared{1, benchCost{r.CPU / 2, r.Allocs, r.Bytes, r.Patch, r.Floors, r.Stages}})
		}
	}
	return append(rows, totals(rows)...)
}

func TestBenchTable(t *testing.T) {
	for name, c := range map[string]struct {
		compared       bool
		stdout, stderr string
	}{
		"one": {false, `pod/a  ->  INJECTED  INJ005 policy_enabled
             CPU µs  allocs  bytes  patch  × floor
  floor      10.0    3       1000   400    1.0
  fresh      200.0   500     50000  400    20.0
    decide   20.0    5       500
    execute  180.0   495     49500
  reused     20.0    40      4000   400    2.0

pod/b  ->  INJECTED  INJ005 policy_enabled
             CPU µs  allocs  bytes  patch  × floor
  floor      30.0    3       3000   600    1.0
  fresh      300.0   700     70000  600    10.0
    decide   20.0    5       500
    execute  180.0   495     49500

pod/c  ->  SKIPPED  INJ105 host_network
         CPU µs  allocs  bytes  patch  × floor
  floor  5.0     3       500    0      1.0
  skip   10.0    20      2000   0      2.0

pod/d  ->  SKIPPED  INJ112 not_selected
  the webhook is not called

total of 3 pods
             CPU µs  allocs  bytes   patch  × floor
  floor      45.0    9       4500    1000   1.0
  fresh      500.0   1200    120000  1000   12.5
    decide   40.0    10      1000
    execute  360.0   990     99000
  reused     20.0    40      4000    400    2.0
  skip       10.0    20      2000    0      2.0
`, "one core carries, in a second: 4000 fresh, 50000 reused, 100000 skip; without TLS, HTTP and the API server's own share\n"},
		"two": {true, `pod/a  ->  INJECTED  INJ005 policy_enabled
             CPU µs  allocs  bytes  patch  × floor  compared: CPU µs  allocs  bytes  patch  × floor  ratio
  floor      10.0    3       1000   400    1.0      5.0               3       1000   400    1.0      0.50
  fresh      200.0   500     50000  400    20.0     100.0             500     50000  400    20.0     0.50
    decide   20.0    5       500                    20.0              5       500
    execute  180.0   495     49500                  180.0             495     49500
  reused     20.0    40      4000   400    2.0      10.0              40      4000   400    2.0      0.50

pod/b  ->  INJECTED  INJ005 policy_enabled
             CPU µs  allocs  bytes  patch  × floor
  floor      30.0    3       3000   600    1.0
  fresh      300.0   700     70000  600    10.0
    decide   20.0    5       500
    execute  180.0   495     49500

pod/c  ->  SKIPPED  INJ105 host_network
         CPU µs  allocs  bytes  patch  × floor  compared: CPU µs  allocs  bytes  patch  × floor  ratio
  floor  5.0     3       500    0      1.0      2.5               3       500    0      1.0      0.50
  skip   10.0    20      2000   0      2.0      5.0               20      2000   0      2.0      0.50

pod/d  ->  SKIPPED  INJ112 not_selected
  the webhook is not called

total of 3 pods, 2 compared
             CPU µs  allocs  bytes   patch  × floor  compared: CPU µs  allocs  bytes  patch  × floor  ratio
  floor      45.0    9       4500    1000   1.0      7.5               6       1500   400    1.0      0.50
  fresh      500.0   1200    120000  1000   12.5     100.0             500     50000  400    20.0     0.50
    decide   40.0    10      1000                    20.0              5       500
    execute  360.0   990     99000                   180.0             495     49500
  reused     20.0    40      4000    400    2.0      10.0              40      4000   400    2.0      0.50
  skip       10.0    20      2000    0      2.0      5.0               20      2000   0      2.0      0.50
`, "one core carries, in a second: 4000 fresh, 50000 reused, 100000 skip; without TLS, HTTP and the API server's own share\n" +
			"with the configuration of --compare: 10000 fresh, 100000 reused, 200000 skip\n"},
	} {
		var stdout, stderr bytes.Buffer
		if err := benchTable(&stdout, figures(c.compared)); err != nil {
			t.Fatal(err)
		}
		told(&stderr, figures(c.compared))
		if diff := cmp.Diff(c.stdout, stdout.String()); diff != "" {
			t.Errorf("%s: stdout (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.stderr, stderr.String()); diff != "" {
			t.Errorf("%s: stderr (-want +got):\n%s", name, diff)
		}
	}
}
