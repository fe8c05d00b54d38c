// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/measure"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/webhook"
)

// benched is a configuration under measurement.
type benched struct{ fresh, reused *inject.Engine }

// benchRow is the cost of one way of a pod; the JSON names are a contract.
type benchRow struct {
	Object   string `json:"object"`
	Decision string `json:"decision"` // injected or skipped
	Reason   string `json:"reason"`
	ID       string `json:"id"`
	Path     string `json:"path"` // floor, fresh, reused or skip
	benchCost

	Compared *benchCost `json:"compared,omitempty"` // with the other configuration
	Ratio    float64    `json:"ratio,omitempty"`    // of CPU: the other configuration's to this one's
}

type benchCost struct {
	CPU    float64 `json:"cpuMicroseconds"`
	Allocs float64 `json:"allocations"`
	Bytes  float64 `json:"bytes"`
	Patch  int     `json:"patchBytes"`
	Floors float64 `json:"floorMultiple"` // CPU beside the floor's of the same pod
}

// benchRows measures a pod. The error is a *reason.Refusal where the first configuration refuses it. Where
// the second one decides otherwise there is nothing to compare: apart says so.
func benchRows(one subject, first, second *benched) (rows []benchRow, apart string, err error) {
	if one, err = created(one); err != nil {
		return nil, "", err
	}
	r, err := first.fresh.Inject(one.doc, one.facts)
	if err != nil {
		return nil, "", err
	}
	ways := []string{"floor", "fresh", "reused"}
	base := benchRow{Object: one.pod.Object(), Decision: "injected", Reason: r.Decision.Reason.String(), ID: r.Decision.Reason.ID()}
	if !r.Decision.Inject {
		base.Decision, ways = "skipped", []string{"floor", "skip"}
	}
	for _, way := range ways {
		row := base
		row.Path = way
		if row.benchCost, err = first.cost(one, way); err != nil {
			return nil, "", err
		}
		row.Floors = 1
		if len(rows) > 0 {
			row.Floors = row.CPU / rows[0].CPU
		}
		rows = append(rows, row)
	}
	if second == nil {
		return rows, "", nil
	}
	other, err := second.fresh.Inject(one.doc, one.facts)
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		return rows, "is refused: " + refusal.Error(), nil
	case err != nil:
		return nil, "", err
	case other.Decision.Inject != r.Decision.Inject:
		return rows, "ends otherwise: " + other.Decision.Reason.ID() + " " + other.Decision.Reason.String(), nil
	}
	return rows, "", second.beside(one, rows)
}

// created is the subject as the API server asks about it: with its owner in the pod, and nobody vouching for
// a record of an earlier injection.
func created(one subject) (subject, error) {
	one.facts.Trusted = false
	owner := one.facts.Owner
	if owner == nil {
		return one, nil
	}
	tree, err := one.doc.Tree()
	if err != nil {
		return one, err
	}
	meta := pod.With(pod.Object(tree, "metadata"), "ownerReferences", []any{map[string]any{
		"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": "00000000-0000-4000-8000-000000000001", "controller": true,
	}})
	one.facts.Owner = nil
	one.doc, err = pod.FromTree(pod.With(tree, "metadata", meta))
	return one, err
}

// beside measures the same ways with another configuration, against a floor of its own: its patch is
// another one.
func (b *benched) beside(one subject, rows []benchRow) error {
	floor, err := b.cost(one, "floor")
	if err != nil {
		return err
	}
	for i := range rows[1:] {
		row := &rows[i+1]
		c, err := b.cost(one, row.Path)
		if err != nil {
			return err
		}
		c.Floors = c.CPU / floor.CPU
		row.Compared, row.Ratio = &c, c.CPU/row.CPU
	}
	return nil
}

// cost measures one way of a pod's review.
func (b *benched) cost(one subject, way string) (benchCost, error) {
	namespace := one.facts.Namespace
	if namespace == "" {
		namespace = one.doc.Head().Metadata.Namespace
	}
	review := measure.Review(namespace, one.doc.Raw())
	e := b.fresh
	if way == "reused" {
		e = b.reused
	}
	r, err := e.Inject(one.doc, one.facts)
	if err != nil {
		return benchCost{}, err
	}
	run := measure.Floor(review, r.JSON())
	if way != "floor" {
		m := &webhook.Mutator{
			Engine: func() *inject.Engine { return e }, Facts: benchFacts{one.facts}, More: func() any { return one.facts.More },
			Proof: &webhook.Proof{},
		}
		run = func() {
			if way == "fresh" {
				m.Proof = &webhook.Proof{} // a new shape is proved
			}
			if status, _ := admission.Answer(context.Background(), m, review); status != http.StatusOK {
				err = fmt.Errorf("the review is answered with HTTP %d", status)
			}
		}
	}
	c := measure.Of(run)
	return benchCost{CPU: float64(c.CPU.Nanoseconds()) / 1000, Allocs: c.Allocs, Bytes: c.Bytes, Patch: len(r.JSON())}, err
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
