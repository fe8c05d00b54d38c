// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// benchRow is the cost of one way of a pod, or of all pods together; the JSON names are a contract.
type benchRow struct {
	Object string `json:"object"` // or total
	Pods   int    `json:"pods"`   // 1; in a total as many as have this way
	Path   string `json:"path"`   // floor, fresh, reused, skip or none
	benchEnd
	benchCost

	Compared *benchCompared `json:"compared,omitempty"` // with the other configuration
	Ratio    float64        `json:"ratio,omitempty"`    // of CPU: the other configuration's to this one's
}

// benchCompared is what a row has of the other configuration.
type benchCompared struct {
	Pods int `json:"pods"` // in a total only those that were compared
	benchCost
}

// benchEnd is how a review ends; empty in a total.
type benchEnd struct {
	Decision string `json:"decision"` // injected or skipped
	Reason   string `json:"reason"`
	ID       string `json:"id"`
}

func endOf(decision string, why reason.Reason) benchEnd {
	return benchEnd{decision, why.String(), why.ID()}
}

type benchCost struct {
	CPU    float64      `json:"cpuMicroseconds"`
	Allocs float64      `json:"allocations"`
	Bytes  float64      `json:"bytes"`
	Patch  int          `json:"patchBytes"`
	Floors float64      `json:"floorMultiple"` // CPU beside the floor's of the same pod
	Stages []benchStage `json:"stages,omitempty"`
}

type benchStage struct {
	Name   string  `json:"name"`
	Time   float64 `json:"microseconds"` // by the clock
	Allocs float64 `json:"allocations"`
	Bytes  float64 `json:"bytes"`
}

// The ways of a review.
const (
	wayFloor  = "floor"
	wayFresh  = "fresh"
	wayReused = "reused"
	waySkip   = "skip"
	wayNone   = "none" // the webhook is not called
)

// benchRows measures a pod under one configuration, and under the second where that is not nil. The error is
// a *reason.Refusal where the first refuses the pod. Where the second decides otherwise there is nothing to
// compare: apart says so.
func benchRows(one subject, first, second *benched) (rows []benchRow, apart string, err error) {
	t, err := first.trial(one)
	if err != nil {
		return nil, "", err
	}
	other := t
	if second != nil {
		if other, apart, err = second.like(t, one); err != nil {
			return nil, "", err
		}
	}
	for _, way := range t.ways(other) {
		row := benchRow{Object: one.pod.Object(), Pods: 1, Path: way, benchEnd: t.end, benchCost: t.beside(way)}
		if other != t && t.called {
			row.compare(benchCompared{1, other.beside(way)})
		}
		rows = append(rows, row)
	}
	return rows, apart, nil
}

// like is the pod under a configuration that decides as another one did; otherwise it is that other trial,
// and apart says how this one ends.
func (b *benched) like(t *trial, one subject) (other *trial, apart string, err error) {
	other, err = b.trial(one)
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		return t, "is refused: " + refusal.Error(), nil
	case err != nil:
		return nil, "", fmt.Errorf("with the configuration of --compare: %w", err)
	case other.injects() != t.injects() || other.called != t.called:
		return t, "ends otherwise: " + other.end.ID + " " + other.end.Reason, nil
	}
	return other, "", nil
}

// ways are those that make a difference to a pod, or under another configuration.
func (t *trial) ways(other *trial) []string {
	switch {
	case !t.called:
		return []string{wayNone}
	case !t.injects():
		return []string{wayFloor, waySkip}
	case t.reusable || other.reusable:
		return []string{wayFloor, wayFresh, wayReused}
	}
	return []string{wayFloor, wayFresh}
}

// beside is the cost of a way, with its ratio to the floor.
func (t *trial) beside(way string) benchCost {
	c := t.cost(way)
	c.Floors = over(c.CPU, t.cost(wayFloor).CPU)
	return c
}

func (r *benchRow) compare(c benchCompared) {
	r.Compared, r.Ratio = &c, over(c.CPU, r.CPU)
}

// over is a ratio; 0 for none.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return rounded(a / b)
}

// totals are the rows of all pods together, each created once.
func totals(rows []benchRow) []benchRow {
	sums := map[string]*benchRow{}
	var floor benchRow // of the same pod
	for _, r := range rows {
		if r.Path == wayFloor {
			floor = r
		}
		if r.Path == wayNone {
			continue
		}
		sum := sums[r.Path]
		if sum == nil {
			sum = &benchRow{Object: "total", Path: r.Path}
			sums[r.Path] = sum
		}
		sum.Pods++
		sum.add(r.benchCost, floor.CPU)
		if r.Compared == nil {
			continue
		}
		if sum.Compared == nil {
			sum.Compared = &benchCompared{}
		}
		sum.Compared.Pods++
		sum.Ratio += r.CPU
		sum.Compared.add(r.Compared.benchCost, floor.Compared.CPU)
	}
	var out []benchRow
	for _, way := range []string{wayFloor, wayFresh, wayReused, waySkip} {
		if sum := sums[way]; sum != nil {
			out = append(out, sum.whole())
		}
	}
	return out
}

// add sums up. Until the sum is whole, Floors are the floors' CPU, and a row's Ratio is the CPU of the pods
// that were compared.
func (c *benchCost) add(more benchCost, floor float64) {
	c.CPU, c.Allocs, c.Bytes, c.Patch = c.CPU+more.CPU, c.Allocs+more.Allocs, c.Bytes+more.Bytes, c.Patch+more.Patch
	c.Floors += floor
	for _, st := range more.Stages {
		i := slices.IndexFunc(c.Stages, func(s benchStage) bool { return s.Name == st.Name })
		if i < 0 {
			c.Stages = append(c.Stages, st)
			continue
		}
		s := &c.Stages[i]
		s.Time, s.Allocs, s.Bytes = s.Time+st.Time, s.Allocs+st.Allocs, s.Bytes+st.Bytes
	}
}

func (r *benchRow) whole() benchRow {
	r.Floors = over(r.CPU, r.Floors)
	if r.Compared != nil {
		r.Compared.Floors = over(r.Compared.CPU, r.Compared.Floors)
		r.Ratio = over(r.Compared.CPU, r.Ratio)
	}
	return *r
}
