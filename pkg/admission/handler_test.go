// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const secret = "hunter2"

// post serves one review and returns the answer, the outcomes and the log.
func post(r Reviewer, o Options, target, body string) (*http.Response, string, []Outcome, string) {
	var outcomes []Outcome
	var logged bytes.Buffer
	o.Observe = func(o Outcome) { outcomes = append(outcomes, o) }
	o.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	req := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	Handler(r, o).ServeHTTP(rec, req)
	text, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		panic(err)
	}
	return rec.Result(), string(text), outcomes, logged.String()
}

func TestEnds(t *testing.T) {
	refusal := &reason.Refusal{Reason: reason.VolumeConflict, Path: "spec.volumes[data]", Detail: "is another volume", Hint: "rename it"}
	tests := map[string]struct {
		reason string
		review func() (Response, error)
		status int
		body   string // a part of it
		want   Outcome
		log    string // a part of it; empty: no line
	}{
		"allowed": {
			reason: "the zero value allows",
			review: func() (Response, error) { return Response{Reason: reason.HostNetwork}, nil },
			status: 200, body: `"allowed":true}}`,
			want: Outcome{Decision: Skipped, Reason: reason.HostNetwork},
		},
		"patched": {
			reason: "a patch is base64 in JSON",
			review: func() (Response, error) { return Response{Patch: []byte(`[1]`), Reason: reason.PodEnabled}, nil },
			status: 200, body: `"allowed":true,"patch":"WzFd","patchType":"JSONPatch"}}`,
			want: Outcome{Decision: Injected, Reason: reason.PodEnabled, PatchBytes: 3},
		},
		"empty patch": {
			reason: "a patch that does nothing is none",
			review: func() (Response, error) { return Response{Patch: []byte(`[]`)}, nil },
			status: 200, body: `"allowed":true}}`,
			want: Outcome{Decision: Skipped},
		},
		"denied": {
			reason: "a denial sends no patch",
			review: func() (Response, error) { return Response{Denied: refusal, Patch: []byte(`[1]`)}, nil },
			status: 200, body: `"allowed":false,"status":{`,
			want: Outcome{Decision: Refused, Reason: reason.VolumeConflict},
		},
		"refusal as error": {
			reason: "the refusal is found in the chain, and the warnings beside it are sent",
			review: func() (Response, error) {
				return Response{Warnings: []string{"beside"}}, fmt.Errorf("inject: %w", refusal)
			},
			status: 200, body: `"warnings":["beside"]}}`,
			want: Outcome{Decision: Refused, Reason: reason.VolumeConflict},
		},
		"not ready": {
			reason: "the caller comes again",
			review: func() (Response, error) { return Response{}, fmt.Errorf("namespaces: %w", ErrNotReady) },
			status: 503, body: "injector: not ready yet; ask again in a second\n",
			want: Outcome{Decision: Unready}, log: "level=DEBUG",
		},
		"broken": {
			reason: "the failure policy decides",
			review: func() (Response, error) { return Response{}, errors.New("render template \"a\":\nno luck") },
			status: 500, body: "injector: render template \"a\": no luck\n",
			want: Outcome{Decision: Broken}, log: "level=ERROR msg=\"review broken\" status=500",
		},
		"panic": {
			reason: "the connection lives, and the caller does not see what the panic held",
			review: func() (Response, error) { panic("index out of range") },
			status: 500, body: "injector: the review panicked; the injector's log has the stack\n",
			want: Outcome{Decision: Broken, Panicked: true}, log: "handler_test.go",
		},
		"nil panic": {
			reason: "a nil dereference is a panic as any other",
			review: func() (Response, error) { return Response{}, errors.New((*reason.Refusal)(nil).Detail) },
			status: 500, body: "injector: the review panicked; the injector's log has the stack\n",
			want: Outcome{Decision: Broken, Panicked: true}, log: "nil pointer dereference",
		},
		"abort": {
			reason: "net/http would drop the connection",
			review: func() (Response, error) { panic(http.ErrAbortHandler) },
			status: 500, body: "injector: the review panicked",
			want: Outcome{Decision: Broken, Panicked: true}, log: "abort Handler",
		},
		"goexit": {
			reason: "a goroutine that ends without a word",
			review: func() (Response, error) { runtime.Goexit(); return Response{}, nil },
			status: 500, body: "injector: the review ended without an answer\n",
			want: Outcome{Decision: Broken}, log: "level=ERROR",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Operation, tt.want.DryRun, tt.want.Status = "CREATE", true, tt.status
			body := strings.Replace(reviewV1(`"name":"x","object":{"password":"`+secret+`"}`), `"dryRun":false`, `"dryRun":true`, 1)
			r := reviewFunc(func(context.Context, *Request) (Response, error) { return tt.review() })
			resp, text, outcomes, logged := post(r, Options{}, "/inject", body)
			if resp.StatusCode != tt.status || !strings.Contains(text, tt.body) {
				t.Errorf("%s: got %d %s", tt.reason, resp.StatusCode, text)
			}
			if diff := cmp.Diff([]Outcome{tt.want}, outcomes); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.reason, diff)
			}
			if again := resp.Header.Get("Retry-After"); (again == "1") != (tt.status == 503) {
				t.Errorf("Retry-After %q with status %d", again, tt.status)
			}
			if (tt.log == "") != (logged == "") || !strings.Contains(logged, tt.log) {
				t.Errorf("log %q", logged)
			}
			if tt.log != "" && !strings.Contains(logged, "uid="+testUID+" kind=Pod namespace=shop name=x") {
				t.Errorf("the log does not name the object: %s", logged)
			}
			if strings.Contains(logged+text, secret) {
				t.Error("the object got out")
			}
		})
	}
}

func TestLogIsBounded(t *testing.T) {
	long := strings.Repeat("n", 1e5)
	r := reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, errors.New(long) })
	_, text, _, logged := post(r, Options{}, "/inject", strings.Replace(reviewV1(`"name":"`+long+`\n"`), testUID, long, 1))
	if len(logged) > 2500 || strings.Count(logged, "\n") != 1 {
		t.Errorf("%d bytes: %.300s", len(logged), logged)
	}
	if len(text) > 1100 {
		t.Errorf("an answer of %d bytes", len(text))
	}
	_, _, _, logged = post(r, Options{}, "/inject", `{"`+long)
	if len(logged) > 2500 || !strings.Contains(logged, "level=WARN msg=\"no admission review\"") {
		t.Errorf("%d bytes: %.300s", len(logged), logged)
	}
}

func TestDeadline(t *testing.T) {
	const own = 10 * time.Second
	tests := map[string]struct {
		query string
		want  time.Duration
	}{
		"none":      {"", own},
		"five":      {"timeout=5s", 4800 * time.Millisecond},
		"among":     {"a=b&timeout=1s&timeout=9s", 800 * time.Millisecond},
		"long":      {"timeout=30s", own},
		"tiny":      {"timeout=100ms", 50 * time.Millisecond},
		"margin":    {"timeout=200ms", 100 * time.Millisecond},
		"zero":      {"timeout=0s", own},
		"negative":  {"timeout=-5s", own},
		"junk":      {"timeout=soon", own},
		"overflow":  {"timeout=9999999999h", own},
		"other key": {"xtimeout=1s", own},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := deadline(tt.query, own); got != tt.want {
				t.Errorf("%q: got %s, want %s", tt.query, got, tt.want)
			}
		})
	}
}

// The answer comes before the caller's timeout even if the Reviewer never looks at its context.
func TestDeadlineHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		stuck := reviewFunc(func(ctx context.Context, _ *Request) (Response, error) {
			if until, ok := ctx.Deadline(); !ok || until.Sub(start) != 4800*time.Millisecond {
				t.Errorf("the review may run until %s", until.Sub(start))
			}
			time.Sleep(time.Minute)
			return Response{}, nil
		})
		resp, text, outcomes, _ := post(stuck, Options{Now: time.Now}, "/inject?timeout=5s", reviewV1(`"object":{}`))
		if resp.StatusCode != 500 || text != "injector: review took longer than 4.8s: context deadline exceeded\n" {
			t.Errorf("got %d %s", resp.StatusCode, text)
		}
		want := []Outcome{{Decision: Broken, Operation: "CREATE", Status: 500, Duration: 4800 * time.Millisecond}}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Error(diff)
		}
		time.Sleep(2 * time.Minute) // the review ends by itself, and nobody waits for its result
	})
}

func TestHooks(t *testing.T) {
	ok := reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, nil })
	inflight, highest := 0, 0
	o := Options{
		InFlight: func(delta int) { inflight += delta; highest = max(highest, inflight) },
		Shed:     func() bool { return true },
	}
	resp, _, outcomes, _ := post(ok, o, "/inject", reviewV1(`"object":{}`))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("shed with %d %v", resp.StatusCode, resp.Header)
	}
	want := []Outcome{{Decision: Unready, Status: 503}}
	if diff := cmp.Diff(want, outcomes, cmpopts.IgnoreFields(Outcome{}, "Duration")); diff != "" {
		t.Error(diff)
	}
	if inflight != 0 || highest != 1 {
		t.Errorf("%d in flight at the end, %d at most", inflight, highest)
	}
}

func TestBrokenBody(t *testing.T) {
	ok := reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, nil })
	req := httptest.NewRequest(http.MethodPost, "/inject", io.MultiReader(strings.NewReader(`{"kind"`), broken{}))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	Handler(ok, Options{}).ServeHTTP(rec, req)
	if got := rec.Body.String(); rec.Code != 400 || got != "injector: the body ends early: unexpected EOF\n" {
		t.Errorf("got %d %s", rec.Code, got)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAnswerTellsFaults(t *testing.T) {
	broken := reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, errors.New("out of order") })
	for body, want := range map[string]string{
		`{}`:                    `400 kind is "", not AdmissionReview`,
		reviewV1(`"object":{}`): `500 out of order`,
	} {
		status, text := Answer(t.Context(), broken, []byte(body))
		if got := fmt.Sprintf("%d %s", status, text); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
