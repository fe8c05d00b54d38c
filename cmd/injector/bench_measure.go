// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/measure"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/webhook"
)

// benched is a configuration under measurement.
type benched struct {
	fresh, reused *inject.Engine
	staged        *inject.Engine // nil: no stages are told
	split         *measure.Split // of staged
	duration      time.Duration
}

// trial is a pod under a configuration.
type trial struct {
	*benched
	facts  benchFacts
	review []byte
	again  []byte // the review of another replica
	first  *benchDoor
	replay *benchDoor // holds the outcome of the review

	end      benchEnd
	patch    []byte
	called   bool // the webhook's selectors choose the pod
	reusable bool // the other replica gets the outcome of the first

	costs map[string]benchCost // by way
}

// trial asks about the pod once, and about a second replica. The error is a *reason.Refusal where
// the configuration refuses the pod.
func (b *benched) trial(one subject) (*trial, error) {
	namespace := one.facts.Namespace
	t := &trial{
		benched: b, facts: benchFacts{one.facts}, called: true, costs: map[string]benchCost{},
		review: measure.Review(namespace, asSent(one, 0)), again: measure.Review(namespace, asSent(one, 1)),
	}
	if !one.facts.Selected {
		r, err := b.fresh.Inject(one.doc, one.facts)
		if err == nil && r.Decision.Reason == reason.NotSelected {
			t.called, t.end = false, endOf("skipped", reason.NotSelected)
			return t, nil
		}
	}
	t.first, t.replay = t.door(b.fresh), t.door(b.reused)
	if err := t.first.ask(t.review); err != nil {
		return nil, err
	}
	resp := t.first.last
	t.end, t.patch = endOf("injected", resp.Reason), resp.Patch
	if resp.Patch == nil {
		t.end.Decision = "skipped"
	}
	for _, review := range [][]byte{t.review, t.again} {
		if err := t.replay.ask(review); err != nil {
			return nil, err
		}
	}
	t.reusable = t.replay.last.Reused
	return t, nil
}

// injects tells whether the pod gets a patch.
func (t *trial) injects() bool { return t.patch != nil }

// cost measures one way of the review, once. What the webhook is not called for costs nothing.
func (t *trial) cost(way string) benchCost {
	if way == wayReused && !t.reusable {
		c := t.cost(wayFresh) // that is what each replica costs
		c.Stages = nil
		return c
	}
	if known, ok := t.costs[way]; ok || !t.called {
		return known
	}
	c := measure.For(t.duration, t.run(way))
	cost := benchCost{CPU: micros(c.CPU), Allocs: rounded(c.Allocs), Bytes: rounded(c.Bytes), Patch: len(t.patch)}
	if way == wayFresh && t.staged != nil && t.injects() {
		cost.Stages = t.stages()
	}
	t.costs[way] = cost
	return cost
}

// run is what is measured. The same reviews were answered before.
func (t *trial) run(way string) func() {
	switch way {
	case wayFloor:
		return measure.Floor(t.review, t.patch)
	case wayReused:
		return func() { _ = t.replay.ask(t.again) }
	}
	return func() {
		t.first.mutator.Proof = &webhook.Proof{} // the patch of a new shape is proved
		_ = t.first.ask(t.review)
	}
}

// stages measures what each stage of a fresh injection takes.
func (t *trial) stages() []benchStage {
	d := t.door(t.staged)
	d.mark = t.split.Mark
	spent := t.split.For(t.duration, func() {
		d.mutator.Proof = &webhook.Proof{}
		_ = d.ask(t.review)
		t.split.Mark("answer")
	})
	out := []benchStage{}
	for _, name := range stageOrder {
		if c, ok := spent[name]; ok {
			out = append(out, benchStage{name, micros(c.CPU), rounded(c.Allocs), rounded(c.Bytes)})
		}
	}
	return out
}

// stageOrder is the order of the stages: those of the engine, and the webhook's own around them.
var stageOrder = []string{"envelope", "decide", "key", "decode", "execute", "parse", "merge", "finish", "diff", "prove", "answer"}

func micros(d time.Duration) float64 { return rounded(float64(d) / float64(time.Microsecond)) }

// rounded leaves two digits after the point: more would say nothing.
func rounded(x float64) float64 { return math.Round(x*100) / 100 }

// benchDoor answers reviews as the webhook does, and remembers how the last one ended.
type benchDoor struct {
	mutator *webhook.Mutator
	mark    func(stage string) // may be nil
	last    admission.Response
	err     error
}

func (t *trial) door(e *inject.Engine) *benchDoor {
	d := &benchDoor{}
	d.mutator = &webhook.Mutator{
		Engine: func() *inject.Engine { d.marked("envelope"); return e },
		Facts:  t.facts, More: func() any { return t.facts.facts.More }, Proof: &webhook.Proof{},
	}
	return d
}

// Review is the mutator's.
func (d *benchDoor) Review(ctx context.Context, req *admission.Request) (admission.Response, error) {
	d.last, d.err = d.mutator.Review(ctx, req)
	d.marked("prove")
	return d.last, d.err
}

func (d *benchDoor) marked(stage string) {
	if d.mark != nil {
		d.mark(stage)
	}
}

// ask sends a review.
func (d *benchDoor) ask(review []byte) error {
	d.err = nil
	status, answer := admission.Answer(context.Background(), d, review)
	if d.err == nil && status != http.StatusOK {
		d.err = fmt.Errorf("the review is answered with HTTP %d: %s", status, answer)
	}
	return d.err
}

// benchFacts are those that the stream tells of a pod.
type benchFacts struct{ facts inject.Facts }

// Namespace gives the namespace's labels and annotations.
func (f benchFacts) Namespace(string) (labels, annotations map[string]string, known bool) {
	return f.facts.NamespaceLabels, f.facts.NamespaceAnnotations, true
}

// OldNodes are the nodes without native sidecars.
func (f benchFacts) OldNodes() []inject.Node { return f.facts.OldNodes }

// NodeKnown tells whether the node is one of the cluster's.
func (f benchFacts) NodeKnown(string) bool { return f.facts.NodeKnown }
