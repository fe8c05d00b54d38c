// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// margin is kept back from the caller's timeout, so that it still hears why there is no review.
const margin = 200 * time.Millisecond

var errNoAnswer = errors.New("the review ended without an answer")

type panicError struct {
	value string
	stack []byte
}

func (p *panicError) Error() string { return "panic: " + p.value }

type result struct {
	resp Response
	err  error
}

// review asks the Reviewer, in a goroutine of its own so that the deadline holds even for one that
// does not look at its context. One that overruns is left to end by itself.
func (h *handler) review(r *http.Request, req *Request) (Response, error) {
	limit := deadline(r.URL.RawQuery, h.Deadline)
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	done := make(chan result, 1)
	go h.ask(ctx, req, done)
	select {
	case res := <-done:
		return res.resp, res.err
	case <-ctx.Done():
	}
	select {
	case res := <-done: // in the same moment
		return res.resp, res.err
	default:
		return Response{}, fmt.Errorf("review took longer than %s: %w", limit, ctx.Err())
	}
}

// ask sends exactly one result, even if the Reviewer panics or ends its goroutine.
func (h *handler) ask(ctx context.Context, req *Request, done chan<- result) {
	res := result{err: errNoAnswer}
	defer func() {
		if p := recover(); p != nil {
			res = result{err: &panicError{fmt.Sprint(p), debug.Stack()}}
		}
		done <- res
	}()
	res.resp, res.err = h.reviewer.Review(ctx, req)
}

// deadline is the time that a review may take: a little less than the timeout that the API server
// names in the query, and never more than own.
func deadline(query string, own time.Duration) time.Duration {
	for pair := range strings.SplitSeq(query, "&") {
		value, ok := strings.CutPrefix(pair, "timeout=")
		if !ok {
			continue
		}
		granted, err := time.ParseDuration(value)
		if err != nil || granted <= 0 {
			return own
		}
		return min(own, max(granted-margin, granted/2))
	}
	return own
}

// afterMount is what stands after the mount in the URL's path, as it was sent: unescaping it would
// make a slash inside of a segment look like one between two.
func afterMount(r *http.Request, mount string) string {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), mount)
	if !ok {
		return ""
	}
	return rest
}
