// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/reason"
)

type handler struct {
	reviewer Reviewer
	Options
}

// answer is one HTTP answer and what is to be told about it.
type answer struct {
	status  int
	text    string // the body of an answer other than 200
	body    []byte // the review of an answer 200
	req     *Request
	err     error
	outcome Outcome
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.Now()
	h.InFlight(1)
	defer h.InFlight(-1)
	a := h.answer(w, r)
	a.write(w)
	a.outcome.Status = a.status
	a.outcome.Duration = h.Now().Sub(start)
	if a.req != nil {
		a.outcome.Operation, a.outcome.DryRun = a.req.Operation, a.req.DryRun
	}
	h.log(r, &a)
	h.Observe(a.outcome)
}

// answer works a request out to its answer; nothing is written yet.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) answer {
	if err := checkHeader(r, h.MaxBody); err != nil {
		return failed(nil, err)
	}
	if h.Shed() {
		return failed(nil, ErrNotReady)
	}
	body, err := readBody(w, r, h.MaxBody)
	if err != nil {
		return failed(nil, err)
	}
	return asked(body, afterMount(r, h.Mount), func(req *Request) (Response, error) { return h.review(r, req) })
}

// Answer answers the body of one review, as Handler does but for the deadline, the log and the outcome:
// for benchmarks, and callers without HTTP.
func Answer(ctx context.Context, r Reviewer, body []byte) (status int, answer []byte) {
	a := asked(body, "", func(req *Request) (Response, error) { return r.Review(ctx, req) })
	if a.status != http.StatusOK {
		return a.status, []byte(a.text)
	}
	return a.status, a.body
}

// asked decodes a review, asks about it, and puts the answer into words.
func asked(body []byte, path string, ask func(*Request) (Response, error)) answer {
	req, version, err := decode(body)
	if err != nil {
		return failed(nil, err)
	}
	req.Path = path
	resp, err := ask(req)
	if err != nil {
		denied, ok := errors.AsType[*reason.Refusal](err) // As would put every response on the heap
		if !ok {
			return failed(req, err)
		}
		resp.Denied = denied
	}
	return answered(req, version, resp)
}

// answered is the answer of a request that was decided.
func answered(req *Request, version string, resp Response) answer {
	a := answer{status: http.StatusOK, req: req}
	a.outcome.Reason = resp.Reason
	if string(resp.Patch) == "[]" {
		resp.Patch = nil
	}
	switch {
	case resp.Denied != nil:
		resp.Patch = nil
		a.outcome.Decision, a.outcome.Reason = Refused, resp.Denied.Reason
	case len(resp.Patch) > 0:
		a.outcome.Decision, a.outcome.PatchBytes = Injected, len(resp.Patch)
		a.outcome.Templates, a.outcome.Reused = resp.Templates, resp.Reused
	default:
		a.outcome.Decision = Skipped
	}
	a.body = appendReview(version, req, &resp)
	return a
}

// failed is the answer of a request that was not decided. Only the faults of the door and errors
// of a Reviewer are put into words; what a panic held stays in the log.
func failed(req *Request, err error) answer {
	a := answer{req: req, err: err}
	var fault *fault
	var panicked *panicError
	switch {
	case errors.As(err, &fault):
		a.status, a.text = fault.status, fault.text
		a.outcome.Decision, a.outcome.Reason = Refused, reason.ReviewMalformed
	case errors.Is(err, ErrNotReady):
		a.status, a.text = http.StatusServiceUnavailable, "not ready yet; ask again in a second"
		a.outcome.Decision = Unready
	case errors.As(err, &panicked):
		a.status, a.text = http.StatusInternalServerError, "the review panicked; the injector's log has the stack"
		a.outcome.Decision, a.outcome.Panicked = Broken, true
	default:
		a.status, a.text = http.StatusInternalServerError, clean(err.Error(), maxMessage)
		a.outcome.Decision = Broken
	}
	return a
}

func (a *answer) write(w http.ResponseWriter) {
	header := w.Header()
	body := a.body
	if a.status == http.StatusOK {
		header.Set("Content-Type", "application/json")
	} else {
		body = []byte("injector: " + a.text + "\n")
		header.Set("Content-Type", "text/plain; charset=utf-8")
		header.Set("X-Content-Type-Options", "nosniff")
	}
	switch a.status {
	case http.StatusServiceUnavailable:
		// Without this header the API server does not ask again.
		header.Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // a caller that is gone needs no answer
}

// log tells the ends that a Reviewer cannot tell. Objects are never logged, and what the caller
// chose is cut short.
func (h *handler) log(r *http.Request, a *answer) {
	if a.err == nil {
		return
	}
	level, message := slog.LevelError, "review broken"
	switch a.outcome.Decision {
	case Unready:
		level, message = slog.LevelDebug, "review put off"
	case Refused:
		level, message = slog.LevelWarn, "no admission review"
	}
	attrs := []slog.Attr{
		slog.Int("status", a.status),
		slog.String("error", clean(a.err.Error(), maxMessage)),
		slog.String("remote", r.RemoteAddr),
	}
	if req := a.req; req != nil {
		attrs = append(attrs,
			slog.String("uid", clean(req.UID, 64)),
			slog.String("kind", clean(req.Kind.Kind, 64)),
			slog.String("namespace", clean(req.Namespace, 64)),
			slog.String("name", clean(req.Name, 253)))
	}
	var panicked *panicError
	if errors.As(a.err, &panicked) {
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	h.Log.LogAttrs(r.Context(), level, message, attrs...)
}
