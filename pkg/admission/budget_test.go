// SPDX-License-Identifier: Apache-2.0

//go:build !race

package admission

import (
	"context"
	"net/http"
	"testing"
)

// The race detector empties pools at random, so allocations are counted without it.
func TestAllocationBudget(t *testing.T) {
	h := Handler(reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, nil }), Options{})
	r := newRewinder(typicalReview())
	if n := testing.AllocsPerRun(100, func() { r.serve(h) }); n > 26 {
		t.Errorf("%.0f allocations for a review", n)
	}
	if r.writer.status != http.StatusOK {
		t.Errorf("status %d", r.writer.status)
	}
}
