// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// typicalReview is a review of 5 kB of a pod with two containers, as the API server sends it.
func typicalReview() []byte {
	const probe = `{"httpGet":{"path":"/readyz","port":"admin","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}`
	env := strings.Repeat(`{"name":"SOME_VARIABLE","value":"a value of the usual length"},`, 8)
	container := `{"name":"app","image":"registry.example/app:1.2.3","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],` +
		`"env":[` + env + `{"name":"POD_IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}}],` +
		`"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"100m","memory":"128Mi"}},` +
		`"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],` +
		`"livenessProbe":` + probe + `,"readinessProbe":` + probe + `,"terminationMessagePath":"/dev/termination-log",` +
		`"terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"runAsNonRoot":true,"capabilities":{"drop":["ALL"]}}}`
	object := `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"orders-7d9f5c6b8d-","creationTimestamp":null,` +
		`"labels":{"app":"orders","pod-template-hash":"7d9f5c6b8d"},"annotations":{"prometheus.io/scrape":"true"},` +
		`"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}}]},` +
		`"spec":{"containers":[` + container + `,` + container + `],"restartPolicy":"Always","terminationGracePeriodSeconds":30,` +
		`"dnsPolicy":"ClusterFirst","serviceAccountName":"orders","schedulerName":"default-scheduler","enableServiceLinks":true},"status":{}}`
	return []byte(reviewV1(`"object":` + object))
}

// typicalAnswer injects with a patch of 8.5 kB.
func typicalAnswer() Response {
	return Response{
		Patch: bytes.Repeat([]byte(`{"op":"add","path":"/spec/containers/-","value":{}},`), 163),
		AuditAnnotations: map[string]string{
			"decision": "injected", "reason": "pod_enabled", "revision": "default", "templates": "sidecar", "template-hash": "0123456789abcdef",
		},
	}
}

func replies(resp Response) Reviewer {
	return reviewFunc(func(context.Context, *Request) (Response, error) { return resp, nil })
}

// BenchmarkFloor is what no webhook can do without: it reads the envelope into raw values, and appends a
// patch that is at hand.
func BenchmarkFloor(b *testing.B) {
	body, patch := typicalReview(), typicalAnswer().Patch
	b.ReportAllocs()
	for b.Loop() {
		var in struct {
			Request struct {
				UID    string         `json:"uid"`
				Object jsontext.Value `json:"object"`
			} `json:"request"`
		}
		if err := json.Unmarshal(body, &in); err != nil || len(in.Request.Object) == 0 {
			b.Fatal(err)
		}
		out := make([]byte, 0, 256+base64.StdEncoding.EncodedLen(len(patch)))
		out = append(out, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"`...)
		out = append(out, in.Request.UID...)
		out = append(out, `","allowed":true,"patchType":"JSONPatch","patch":"`...)
		out = base64.StdEncoding.AppendEncode(out, patch)
		if out = append(out, `"}}`...); len(out) < len(patch) {
			b.Fatal("no answer")
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	body := typicalReview()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	body := typicalReview()
	skip := Response{AuditAnnotations: map[string]string{"decision": "skipped", "reason": "pod_disabled", "revision": "default"}}
	for name, resp := range map[string]Response{"skip": skip, "inject": typicalAnswer()} {
		b.Run(name, func(b *testing.B) {
			r := replies(resp)
			b.ReportAllocs()
			for b.Loop() {
				if status, _ := Answer(context.Background(), r, body); status != http.StatusOK {
					b.Fatalf("status %d", status)
				}
			}
		})
	}
}

func BenchmarkHandler(b *testing.B) {
	for name, resp := range map[string]Response{"skip": {}, "inject": typicalAnswer()} {
		b.Run(name, func(b *testing.B) {
			h := Handler(replies(resp), Options{})
			r := newRewinder(typicalReview())
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
