// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is a ResponseWriter that keeps the status and the size only.
type discard struct {
	header http.Header
	status int
	size   int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(s int)   { d.status = s }
func (d *discard) Write(b []byte) (int, error) {
	d.size += len(b)
	return len(b), nil
}

// rewinder serves the same request again and again, without allocating.
type rewinder struct {
	body   *bytes.Reader
	raw    []byte
	req    *http.Request
	writer discard
}

func newRewinder(raw []byte) *rewinder {
	r := &rewinder{body: bytes.NewReader(nil), raw: raw}
	r.req = httptest.NewRequest(http.MethodPost, "/inject?timeout=5s", nil)
	r.req.Header.Set("Content-Type", "application/json")
	r.req.ContentLength = int64(len(raw))
	r.req.Body = io.NopCloser(r.body)
	r.writer.header = http.Header{}
	return r
}

func (r *rewinder) serve(h http.Handler) {
	r.body.Reset(r.raw)
	r.writer.status, r.writer.size = 0, 0
	h.ServeHTTP(&r.writer, r.req)
}

// typicalReview is a review of a pod of about 8 KB, as the API server sends it.
func typicalReview() []byte {
	env := strings.Repeat(`{"name":"SOME_VARIABLE","value":"a value of the usual length"},`, 30)
	container := `{"name":"app","image":"registry.example/app:1.2.3","env":[` + strings.TrimSuffix(env, ",") + `],` +
		`"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"terminationMessagePath":"/dev/termination-log",` +
		`"volumeMounts":[{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}`
	object := `{"kind":"Pod","apiVersion":"v1","metadata":{"generateName":"orders-7d9f5c6b8d-","labels":{"app":"orders"},` +
		`"managedFields":[{"manager":"kube-controller-manager","operation":"Update","fieldsV1":{"f:metadata":{` +
		strings.TrimSuffix(strings.Repeat(`"f:x":{},`, 1), ",") + `}}}]},"spec":{"containers":[` + container + `,` + container + `,` + container + `]}}`
	return []byte(reviewV1(`"object":` + object))
}

func BenchmarkEnvelope(b *testing.B) {
	patch := bytes.Repeat([]byte(`{"op":"add","path":"/spec/containers/-","value":{}},`), 40)
	for name, resp := range map[string]Response{
		"skip":   {},
		"inject": {Patch: patch, AuditAnnotations: map[string]string{"decision": "injected", "reason": "pod_enabled", "templates": "a"}},
	} {
		b.Run(name, func(b *testing.B) {
			h := Handler(reviewFunc(func(context.Context, *Request) (Response, error) { return resp, nil }), Options{})
			r := newRewinder(typicalReview())
			b.SetBytes(int64(len(r.raw)))
			b.ReportAllocs()
			for b.Loop() {
				r.serve(h)
			}
			if r.writer.status != http.StatusOK {
				b.Fatalf("status %d", r.writer.status)
			}
		})
	}
}
