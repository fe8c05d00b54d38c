// SPDX-License-Identifier: Apache-2.0

// Package admission is the HTTP envelope of a webhook: it bounds and decodes an AdmissionReview,
// asks a Reviewer, and writes the answer in the version that was asked. Whatever the bytes, the
// caller gets an answer: 200 with a review, or a status that lets the API server's failure policy
// decide.
package admission

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/pillion-dev/pillion/pkg/reason"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reviewer decides one request. A *reason.Refusal as error denies the request; an error that wraps
// ErrNotReady asks the caller to come again; any other error is broken, and the failure policy of
// the webhook decides. Beside a refusal, the Response's warnings, audit annotations and reason count.
type Reviewer interface {
	Review(ctx context.Context, req *Request) (Response, error)
}

// ErrNotReady tells that the answer is not known yet but soon will be: the caller is told to ask
// again in a second, which the API server does within the webhook's timeout.
var ErrNotReady = errors.New("not ready")

// Request is one admission request. It must not be changed, nor must the bytes that it holds.
type Request struct {
	UID         string
	Operation   string // CREATE, UPDATE, DELETE or CONNECT
	Namespace   string // counts before the object's own
	Name        string // empty where the API server is to generate it
	Kind        metav1.GroupVersionKind
	Resource    metav1.GroupVersionResource
	SubResource string
	DryRun      bool
	User        string
	Groups      []string
	Object      []byte // one JSON value in UTF-8 without duplicate names; nil where there is none, as on DELETE
	OldObject   []byte // likewise; nil where there is none, as on CREATE
	Path        string // what stands after Options.Mount in the URL, still escaped
}

// Response is a Reviewer's answer. The zero value allows the request as it is.
type Response struct {
	Denied           *reason.Refusal
	Patch            []byte // a JSON Patch; it must apply to Request.Object
	Warnings         []string
	AuditAnnotations map[string]string // keys without a slash; the API server puts the webhook's name before them
	Reason           reason.Reason     // for the Outcome; not sent
	Templates        []string          // that made the patch; for the Outcome; not sent
	Reused           bool              // the patch was at hand; for the Outcome; not sent
}

// Decision is how a request ended.
type Decision string

// The ends of a request. Unready is the end of an attempt only: the API server asks again.
const (
	Injected Decision = "injected" // allowed with a patch
	Skipped  Decision = "skipped"  // allowed as it is
	Refused  Decision = "refused"  // denied, or no admission review at all
	Broken   Decision = "broken"   // HTTP 500
	Unready  Decision = "unready"  // HTTP 503 with Retry-After
)

// Outcome is what there is to measure about one request.
type Outcome struct {
	Decision   Decision
	Reason     reason.Reason
	Operation  string // as sent: not bounded, not checked; empty when no request could be read
	DryRun     bool
	Status     int // of the HTTP answer
	PatchBytes int
	Templates  []string      // that made the patch
	Reused     bool          // the patch was at hand
	Duration   time.Duration // zero without Options.Now
	Panicked   bool
}

// Options are the settings of a Handler. Every one may be left out.
type Options struct {
	Mount    string           // the path that the handler is mounted at, such as /inject
	MaxBody  int64            // in bytes; default DefaultMaxBody
	Deadline time.Duration    // of a review, when the caller grants no shorter one; default 10 s
	Log      *slog.Logger     // default: none
	Now      func() time.Time // to measure the duration

	// Shed is asked before a body is read; true answers 503 and asks the caller to come again.
	Shed func() bool
	// InFlight is told +1 when a request comes and -1 when it is answered.
	InFlight func(delta int)
	// Observe is told the outcome of each request once, after its answer was written.
	Observe func(Outcome)
}

// DefaultMaxBody holds the largest update that the API server can send: two objects of 3 MiB and
// their envelope.
const DefaultMaxBody = 7 << 20

// Handler serves the reviews that r answers. It accepts AdmissionReview v1 and v1beta1 by POST.
func Handler(r Reviewer, o Options) http.Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Deadline <= 0 {
		o.Deadline = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	if o.Shed == nil {
		o.Shed = func() bool { return false }
	}
	if o.InFlight == nil {
		o.InFlight = func(int) {}
	}
	if o.Observe == nil {
		o.Observe = func(Outcome) {}
	}
	return &handler{reviewer: r, Options: o}
}
