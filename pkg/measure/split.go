// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"runtime"
	"time"
)

// A Split tells which stage of a piece of work takes what. The work calls Mark after each of its stages.
type Split struct {
	read  func() Cost
	last  Cost
	spent map[string]Cost
}

// Mark gives all since the last mark to a stage. What the reading itself takes is nobody's.
func (s *Split) Mark(stage string) {
	if s.read == nil {
		return // nobody is measuring
	}
	now := s.read()
	was := s.spent[stage]
	s.spent[stage] = Cost{
		CPU: was.CPU + now.CPU - s.last.CPU, Allocs: was.Allocs + now.Allocs - s.last.Allocs, Bytes: was.Bytes + now.Bytes - s.last.Bytes,
	}
	s.last = s.read()
}

const (
	short   = 10 // runs in a batch: the garbage collector has nothing to do in the best one
	least   = 10 // batches
	counted = 50 // runs whose allocations are counted; they vary little
)

// For runs the work for about so long by the clock, and counts what it allocates in runs of their own. A
// stage's CPU is that of its cheapest batch, without the garbage collector's share.
func (s *Split) For(total time.Duration, run func()) map[string]Cost {
	best := map[string]time.Duration{}
	for i, start := 0, time.Now(); i < least || time.Since(start) < total; i++ {
		s.begin(clock(time.Now()))
		for range short {
			s.once(run)
		}
		for stage, c := range s.spent {
			if cheapest, ok := best[stage]; !ok || c.CPU < cheapest {
				best[stage] = c.CPU
			}
		}
	}
	s.begin(heap())
	for range counted {
		s.once(run)
	}
	out := map[string]Cost{}
	for stage, c := range s.spent {
		out[stage] = Cost{CPU: best[stage] / short, Allocs: c.Allocs / counted, Bytes: c.Bytes / counted}
	}
	s.read = nil
	return out
}

func (s *Split) begin(read func() Cost) { s.read, s.spent = read, map[string]Cost{} }

func (s *Split) once(run func()) {
	s.last = s.read()
	run()
}

// clock reads the time. One goroutine works at a time, so that time is as good as CPU while nobody else wants
// the machine, and to read it costs less than a stage does.
func clock(start time.Time) func() Cost {
	return func() Cost { return Cost{CPU: time.Since(start)} }
}

// heap reads what was allocated, which stops the world.
func heap() func() Cost {
	stats := new(runtime.MemStats)
	return func() Cost {
		runtime.ReadMemStats(stats)
		return Cost{Allocs: float64(stats.Mallocs), Bytes: float64(stats.TotalAlloc)}
	}
}
