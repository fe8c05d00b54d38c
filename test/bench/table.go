// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pillion-dev/pillion/pkg/measure"
)

// rounds is how many times every path is measured. The best counts, since the machine has other things to
// do at times; and a floor is then measured near each path that it is compared with.
const rounds = 3

// Table measures every path and prints what each costs, as Markdown. A corpus is a folder of recorded
// cases, whose typical one stands for the Istio dialect; without one it is the documented example. The
// error tells which gates were missed.
func Table(out io.Writer, corpus string) error {
	list, err := allPaths(corpus)
	if err != nil {
		return err
	}
	costs := map[string]measure.Cost{}
	for range rounds {
		for _, p := range list {
			if p.broken == "" {
				costs[p.name] = better(costs[p.name], p.cost())
			}
		}
	}
	fmt.Fprintf(out, "%s, GOMAXPROCS %d, %s %s/%s\n\n", processor(), runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(out, "| path | | CPU µs | allocs | bytes | × floor | gate | aim |")
	fmt.Fprintln(out, "|---|---|--:|--:|--:|--:|---|---|")
	var missed []string
	for _, p := range list {
		if p.broken != "" {
			missed = append(missed, p.name)
			fmt.Fprintf(out, "| %s | %s | %s: %s | | | | | |\n", p.name, p.what, miss, p.broken)
			continue
		}
		c := costs[p.name]
		ratio := c.CPU.Seconds() / costs[p.floor].CPU.Seconds()
		gate := p.gate.judge(c, ratio, costs)
		if strings.Contains(gate, miss) {
			missed = append(missed, p.name)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %.1f | %s | %s |\n", p.name, p.what, figures(c), ratio, gate, p.aim.judge(c, ratio, costs))
	}
	if err := printStages(out, corpus, costs["floor"].CPU); err != nil {
		return err
	}
	if err := printSeries(out, corpus); err != nil {
		return err
	}
	if len(missed) > 0 {
		return fmt.Errorf("beyond their gates: %s", strings.Join(missed, ", "))
	}
	return nil
}

// cost is what the injector takes of a path.
func (p path) cost() measure.Cost {
	c := measure.Of(p.run)
	if p.harness != nil {
		h := measure.Of(p.harness)
		c = measure.Cost{CPU: max(0, c.CPU-h.CPU), Allocs: c.Allocs - h.Allocs, Bytes: c.Bytes - h.Bytes}
	}
	return c
}

func better(a, b measure.Cost) measure.Cost {
	if a.CPU > 0 && a.CPU < b.CPU {
		return a
	}
	return b
}

// figures are a cost's columns.
func figures(c measure.Cost) string {
	return fmt.Sprintf("%s | %s | %s", micro(c.CPU), grouped(c.Allocs), grouped(c.Bytes))
}

func micro(d time.Duration) string {
	if us := float64(d) / float64(time.Microsecond); us < 1000 {
		return fmt.Sprintf("%.1f", us)
	}
	return grouped(float64(d / time.Microsecond))
}

// grouped is a whole number with commas.
func grouped(n float64) string {
	digits := fmt.Sprintf("%.0f", n)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// miss marks a limit that does not hold.
const miss = "✗"

// judge tells a limit, and whether it holds.
func (l limit) judge(c measure.Cost, ratio float64, all map[string]measure.Cost) string {
	var out []string
	tell := func(text string, holds bool) {
		if !holds {
			text += " " + miss
		}
		out = append(out, text)
	}
	if l.ratio > 0 {
		tell(fmt.Sprintf("%g ×", l.ratio), ratio <= l.ratio)
	}
	if l.allocs > 0 {
		tell(grouped(l.allocs)+" allocs", c.Allocs <= l.allocs)
	}
	if l.times > 0 {
		tell(fmt.Sprintf("%g × the allocs of %s", l.times, l.like), c.Allocs <= l.times*all[l.like].Allocs)
	}
	return strings.Join(out, ", ")
}

func printStages(out io.Writer, corpus string, floor time.Duration) error {
	mesh, err := foreign(corpus)
	if err != nil {
		return err
	}
	own, err := native()
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name string
		of   setup
	}{{"fresh", mesh}, {"native-fresh", own}} {
		spent, err := s.of.stages()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n| stage of %s | | µs | allocs | bytes | × floor |\n|---|---|--:|--:|--:|--:|\n", s.name)
		for _, stage := range stageNames {
			if c, ok := spent[stage[0]]; ok {
				fmt.Fprintf(out, "| %s | %s | %s | %.1f |\n", stage[0], stage[1], figures(c), c.CPU.Seconds()/floor.Seconds())
			}
		}
	}
	return nil
}

func printSeries(out io.Writer, corpus string) error {
	all, err := allSeries(corpus)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\n| cost | per | from, to | CPU µs each | and | R² | allocs each | and | R² |")
	fmt.Fprintln(out, "|---|---|---|--:|--:|--:|--:|--:|--:|")
	for _, s := range all {
		cpu, allocs, err := s.fits()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %s | %d, %d | %.2f | %.1f | %.4f | %.2f | %.0f | %.4f |\n",
			s.name, s.unit, s.sizes[0], slices.Max(s.sizes), cpu.slope, cpu.intercept, cpu.r2, allocs.slope, allocs.intercept, allocs.r2)
	}
	return nil
}

// fits are the lines through the CPU, in µs, and through the allocations.
func (s series) fits() (cpu, allocs line, err error) {
	var x, times, counts []float64
	for _, size := range s.sizes {
		p, err := s.at(size)
		if err != nil {
			return line{}, line{}, err
		}
		c := better(p.cost(), p.cost())
		x, times, counts = append(x, float64(size)), append(times, c.CPU.Seconds()*1e6), append(counts, c.Allocs)
	}
	return through(x, times), through(x, counts), nil
}

// processor is the machine's, where it tells.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
