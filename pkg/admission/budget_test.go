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
	body := typicalReview()
	for name, resp := range map[string]Response{"skip": {}, "inject": typicalAnswer()} {
		// Four are the review and its groups, one is the request, one is the answer.
		r := replies(resp)
		if n := testing.AllocsPerRun(100, func() { Answer(context.Background(), r, body) }); n > 8 {
			t.Errorf("%s: %.0f allocations for a review", name, n)
		}
		h, again := Handler(r, Options{}), newRewinder(body)
		if n := testing.AllocsPerRun(100, func() { again.serve(h) }); n > 22 {
			t.Errorf("%s: %.0f allocations for a request", name, n)
		}
		if again.writer.status != http.StatusOK {
			t.Errorf("%s: status %d", name, again.writer.status)
		}
	}
}
