// SPDX-License-Identifier: Apache-2.0

// Package measure tells what a piece of work costs: the CPU that the process spends on it, garbage
// collection included, and what it allocates.
package measure

import (
	"runtime"
	"time"
)

const (
	// batch is the least CPU time of a batch: other threads' CPU is told in ticks of some milliseconds.
	batch = 20 * time.Millisecond
	// Enough is the CPU time that Of spends, beside what it takes to warm up.
	Enough = 200 * time.Millisecond
	// most is the number of runs in a batch at which it stops to grow, for work that takes no CPU.
	most = 1 << 22
)

// Cost is what one operation takes.
type Cost struct {
	CPU    time.Duration
	Allocs float64
	Bytes  float64
}

// Of measures run, which must do the same work each time. It warms up, runs batches, and takes the CPU
// of the cheapest one, since whatever disturbs a batch makes it dearer. Allocations and bytes are the
// mean over all; they are exact as long as the rest of the process is quiet.
func Of(run func()) Cost { return For(Enough, run) }

// For is Of that starts no batch after so much CPU time. There is always one.
func For(total time.Duration, run func()) Cost {
	n := enough(run)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runs, best := 0, time.Duration(0)
	for spent := time.Duration(0); runs == 0 || spent < total && runs < most; runs += n {
		took := spend(run, n)
		spent += took
		if runs == 0 || took < best {
			best = took
		}
	}
	runtime.ReadMemStats(&after)
	return Cost{
		CPU:    best / time.Duration(n),
		Allocs: float64(after.Mallocs-before.Mallocs) / float64(runs),
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / float64(runs),
	}
}

// enough warms up: it tells how many runs make a batch.
func enough(run func()) int {
	n := 1
	for ; n < most; n *= 2 {
		if spend(run, n) >= batch {
			break
		}
	}
	return n
}

// spend is the CPU time of n runs.
func spend(run func(), n int) time.Duration {
	start := cpu()
	for range n {
		run()
	}
	return cpu() - start
}
