// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// Soak is a long run with more shapes of pods than the memory for finished injections holds.
type Soak struct {
	Reviews, Shapes, Every int // Every: how many reviews lie between two readings
}

// grown is by how much the memory may differ between the second quarter of a run and the last.
const grown = 0.05

// Run sends the reviews from two goroutines and prints the memory that the process takes. The error tells
// that it grew.
func (s Soak) Run(out io.Writer) error {
	mesh, err := foreign("")
	if err != nil {
		return err
	}
	mesh = mesh.containers(24) // whose probes make the patch so large that not all outcomes have room
	d, err := mesh.open(sampled, inject.Options{Reuse: reuseMemory})
	if err != nil {
		return err
	}
	const workers = 2
	runs := make([]*worker, workers)
	for i := range runs {
		runs[i] = &worker{door: &door{mutator: d.mutator}, body: mesh.shapes(), shapes: s.Shapes, dice: rand.New(rand.NewPCG(1, uint64(i)))}
	}
	fmt.Fprintln(out, "| reviews | reused | RSS MiB |\n|--:|--:|--:|")
	var sizes []float64
	rate := 0
	for done := 0; done < s.Reviews; done += s.Every {
		var wg sync.WaitGroup
		reused := 0
		for _, w := range runs {
			w.reused = 0
			wg.Go(func() { w.work(s.Every / workers) })
		}
		wg.Wait()
		for _, w := range runs {
			reused += w.reused
		}
		size, err := resident()
		if err != nil {
			return err
		}
		sizes, rate = append(sizes, size), 100*reused/s.Every
		fmt.Fprintf(out, "| %s | %d %% | %.1f |\n", grouped(float64(done+s.Every)), rate, size)
	}
	if rate > 90 {
		return fmt.Errorf("%d %% were reused: the memory for outcomes is not full", rate)
	}
	return flat(out, sizes)
}

// flat compares the last quarter with the second one, in which the memory for outcomes is full.
func flat(out io.Writer, sizes []float64) error {
	quarter := len(sizes) / 4
	if quarter == 0 {
		return fmt.Errorf("%d readings are too few", len(sizes))
	}
	early, late := mean(sizes[quarter:2*quarter]), mean(sizes[len(sizes)-quarter:])
	fmt.Fprintf(out, "\nsecond quarter %.1f MiB, last quarter %.1f MiB: %+.1f %%\n", early, late, 100*(late/early-1))
	if late > early*(1+grown) {
		return fmt.Errorf("the process grew from %.1f to %.1f MiB", early, late)
	}
	return nil
}

func mean(list []float64) float64 {
	var sum float64
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// A worker sends reviews of pods of many shapes, in no order.
type worker struct {
	door   *door
	body   *body
	shapes int
	dice   *rand.Rand
	reused int
}

func (w *worker) work(reviews int) {
	for range reviews {
		if w.door.ask(w.body.number(w.dice.Uint64N(uint64(w.shapes)))).Reused {
			w.reused++
		}
	}
}

// resident is what the process holds of the machine's memory, in MiB.
func resident() (float64, error) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/self/statm reads %q", raw)
	}
	pages, err := strconv.Atoi(string(fields[1]))
	return float64(pages) * float64(os.Getpagesize()) / (1 << 20), err
}
