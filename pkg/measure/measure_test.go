// SPDX-License-Identifier: Apache-2.0

package measure

import "testing"

// keep holds what a run allocates, so that it is not put on the stack.
type keep struct{ b []byte }

func TestOfCountsAllocations(t *testing.T) {
	var k keep
	cases := map[string]struct {
		run           func()
		allocs, bytes float64
	}{
		"none":      {func() {}, 0, 0},
		"one":       {func() { k.b = make([]byte, 1024) }, 1, 1024},
		"three":     {func() { k.b = make([]byte, 64); k.b = make([]byte, 64); k.b = make([]byte, 128) }, 3, 256},
		"tiny ones": {func() { k.b = make([]byte, 1); k.b = make([]byte, 1) }, 2, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Of(c.run)
			if got.Allocs < c.allocs || got.Allocs > c.allocs+0.5 {
				t.Errorf("%v allocations, want %v", got.Allocs, c.allocs)
			}
			if got.Bytes < c.bytes/2 || got.Bytes > c.bytes*1.1+64 {
				t.Errorf("%v bytes, want about %v", got.Bytes, c.bytes)
			}
		})
	}
}

func TestBatchesAreLongEnough(t *testing.T) {
	x := uint64(1)
	work := func() {
		for range 10_000 {
			x = x*6364136223846793005 + 1
		}
	}
	if n := enough(work); n < 2 || n >= most {
		t.Errorf("%d runs make a batch", n)
	}
	if got := Of(work); got.CPU <= 0 {
		t.Errorf("the work took %v", got.CPU)
	}
}

func TestWorkWithoutCPUEnds(t *testing.T) {
	if got := Of(func() {}); got.Allocs > 0.1 {
		t.Errorf("nothing made %v allocations", got.Allocs)
	}
}
