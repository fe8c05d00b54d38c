// SPDX-License-Identifier: Apache-2.0

// Command table prints what each path through the injector costs, beside what none could do without in the
// same run; or it shows that the injector's memory is bounded.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/pillion-dev/pillion/test/bench"
)

func main() {
	set := flag.NewFlagSet("table", flag.ExitOnError)
	soak := set.Bool("soak", false, "send 1,000,000 reviews of 10,000 different pod shapes, and fail if the process grows")
	corpus := set.String("corpus", os.Getenv("CORPUS"), "folder of recorded cases, of which the typical one is measured (default: the documented example)")
	_ = set.Parse(os.Args[1:]) // it exits on an error
	var err error
	if *soak {
		err = bench.Soak{Reviews: 1_000_000, Shapes: 10_000, Every: 50_000}.Run(os.Stdout)
	} else {
		err = bench.Table(os.Stdout, *corpus)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table: error:", err)
		os.Exit(1)
	}
}
