// SPDX-License-Identifier: Apache-2.0

// Package bench measures the whole way of a pod, from the bytes of a review to those of its answer. Its
// tests fail when a path allocates more than its budget: allocations are the same on every machine. The
// command table prints times too, beside what no injector could do without in the same run.
package bench

import (
	"context"
	"fmt"
	"net/http"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/webhook"
)

// reuseMemory is what the injector keeps of finished injections by default.
const reuseMemory = 64 << 20

// A door answers reviews as the webhook does, and remembers its last answer.
type door struct {
	mutator *webhook.Mutator
	last    admission.Response
}

// Review is the mutator's.
func (d *door) Review(ctx context.Context, req *admission.Request) (admission.Response, error) {
	resp, err := d.mutator.Review(ctx, req)
	d.last = resp
	return resp, err
}

// ask sends a review, and gives what the mutator said. It panics on an answer that is none: what it
// would cost means nothing.
func (d *door) ask(review []byte) admission.Response {
	status, answer := admission.Answer(context.Background(), d, review)
	if status != http.StatusOK {
		panic(fmt.Sprintf("HTTP %d: %s", status, answer))
	}
	return d.last
}

// open makes a door of a setup.
func (s setup) open(proof string, o inject.Options) (*door, error) {
	e, err := s.compile(proof, o)
	if err != nil {
		return nil, err
	}
	return &door{mutator: &webhook.Mutator{
		Engine: func() *inject.Engine { return e }, Facts: s.facts(), Proof: &webhook.Proof{}, More: s.more,
	}}, nil
}

// facts are what the cluster knows.
type facts struct{ labels map[string]string }

func (f facts) Namespace(string) (labels, annotations map[string]string, known bool) {
	return f.labels, nil, true
}

func (f facts) OldNodes() []inject.Node { return nil }

func (f facts) NodeKnown(string) bool { return true }
