// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"testing"
)

// doublings is how many allocations a cost may lie beside its line for lists that grow.
const doublings = 5

// TestStraightLines: what a path allocates grows with the pod, and with the number of templates, in a
// straight line. Some lists grow by doubling, which shows where there is little else.
func TestStraightLines(t *testing.T) {
	all, err := allSeries("")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name+" per "+s.unit, func(t *testing.T) {
			var x, y []float64
			for _, size := range s.sizes {
				p, err := s.at(size)
				if err != nil {
					t.Fatal(err)
				}
				x, y = append(x, float64(size)), append(y, settled(p.run))
			}
			got := through(x, y)
			t.Logf("%.2f each and %.0f, R² %.4f", got.slope, got.intercept, got.r2)
			if got.r2 < 0.99 && got.off > doublings && !raced {
				t.Errorf("R² is %.4f: %v allocations at %v", got.r2, y, x)
			}
		})
	}
}

// settled counts allocations once a path has learned what it can.
func settled(run func()) float64 {
	for range 10 {
		run()
	}
	return testing.AllocsPerRun(20, run)
}

func TestThrough(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	cases := map[string]struct {
		reason string
		y      []float64
		want   line
		bent   bool
	}{
		"exact":  {"a line is its own fit", []float64{5, 7, 9, 11, 13}, line{2, 3, 1, 0}, false},
		"flat":   {"no change is straight", []float64{7, 7, 7, 7, 7}, line{0, 7, 1, 0}, false},
		"nearly": {"nor is one of less than a hundredth", []float64{1000, 1001, 1000, 999, 1000}, line{-0.2, 1000.6, 1, 0.8}, false},
		"bent":   {"squares of squares are no line", []float64{1, 16, 81, 256, 625}, line{}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := through(x, c.y)
			if c.bent {
				if got.r2 > 0.95 {
					t.Errorf("%s: R² is %v", c.reason, got.r2)
				}
				return
			}
			for _, d := range []float64{got.slope - c.want.slope, got.intercept - c.want.intercept, got.r2 - c.want.r2, got.off - c.want.off} {
				if math.Abs(d) > 1e-9 {
					t.Errorf("%s: %v, want %v", c.reason, got, c.want)
				}
			}
		})
	}
}
