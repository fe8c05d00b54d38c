// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/measure"
)

// stageNames are the stages of a fresh injection, in the table's order, with what each is.
var stageNames = [][2]string{
	{"envelope", "the review's envelope"},
	{"decide", "the pod's head, the rules"},
	{"key", "the digest of the inputs"},
	{"decode", "the whole pod"},
	{"execute", "the templates"},
	{"parse", "what they rendered"},
	{"merge", "onto the pod"},
	{"finish", "the finishing steps"},
	{"diff", "the patch"},
	{"answer", "prove the patch, keep the outcome, encode the answer"},
}

// A split tells which stage took what. Between two stages a gauge is read.
type split struct {
	read  func() measure.Cost
	last  measure.Cost
	spent map[string]measure.Cost
}

// mark gives all since the last mark to a stage. What the reading itself takes is nobody's.
func (s *split) mark(stage string) {
	now := s.read()
	was := s.spent[stage]
	s.spent[stage] = measure.Cost{
		CPU: was.CPU + now.CPU - s.last.CPU, Allocs: was.Allocs + now.Allocs - s.last.Allocs, Bytes: was.Bytes + now.Bytes - s.last.Bytes,
	}
	s.last = s.read()
}

// clock reads the time. One goroutine works at a time, so that time is as good as CPU while nobody else wants
// the machine, and to read it costs less than a stage does. The best of many short batches counts.
func clock(start time.Time) func() measure.Cost {
	return func() measure.Cost { return measure.Cost{CPU: time.Since(start)} }
}

// heap reads what was allocated, which stops the world.
func heap() func() measure.Cost {
	stats := new(runtime.MemStats)
	return func() measure.Cost {
		runtime.ReadMemStats(stats)
		return measure.Cost{Allocs: float64(stats.Mallocs), Bytes: float64(stats.TotalAlloc)}
	}
}

// stages are the costs of a fresh injection by stage, without the garbage collector's share: in the best
// batch it had nothing to do.
func (s setup) stages() (map[string]measure.Cost, error) {
	const batches, batch, counted = 60, 10, 50
	var at *split
	d, err := s.open(sampled, inject.Options{Reuse: reuseMemory, Mark: func(stage string) { at.mark(stage) }})
	if err != nil {
		return nil, err
	}
	engine, b := d.mutator.Engine, s.shapes()
	d.mutator.Engine = func() *inject.Engine {
		at.mark("envelope")
		return engine()
	}
	ask := func(n int) {
		for range n {
			review := b.next()
			at.last = at.read()
			d.ask(review)
			at.mark("answer")
		}
	}
	begin := func(read func() measure.Cost) { at = &split{read: read, spent: map[string]measure.Cost{}} }
	begin(clock(time.Now()))
	ask(batch * batches / 4) // to warm up
	best := map[string]time.Duration{}
	for range batches {
		begin(clock(time.Now()))
		ask(batch)
		for stage, c := range at.spent {
			if least, ok := best[stage]; !ok || c.CPU < least {
				best[stage] = c.CPU
			}
		}
	}
	begin(heap())
	ask(counted)
	out := map[string]measure.Cost{}
	for stage, c := range at.spent {
		if !known(stage) {
			return nil, fmt.Errorf("the table has no stage %q", stage)
		}
		out[stage] = measure.Cost{CPU: best[stage] / batch, Allocs: c.Allocs / counted, Bytes: c.Bytes / counted}
	}
	return out, nil
}

// known tells whether the table has a stage.
func known(stage string) bool {
	return slices.ContainsFunc(stageNames, func(s [2]string) bool { return s[0] == stage })
}
