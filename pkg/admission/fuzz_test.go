// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionv1 "k8s.io/api/admission/v1"
	kjson "sigs.k8s.io/json"
)

// Any bytes get an answer out of a closed set; an answer 200 is a review with the uid of the request.
func FuzzHandler(f *testing.F) {
	f.Add("POST", "application/json", "timeout=5s", []byte(reviewV1(`"object":{"a":1}`)))
	f.Add("POST", "application/json; charset", "timeout=-1s", []byte(reviewV1(`"object":null`)))
	f.Add("POST", "application/json", "", []byte(strings.Replace(reviewV1(`"object":[]`), "/v1", "/v1beta1", 1)))
	f.Add("GET", "text/plain", "", []byte(nil))
	f.Add("POST", "application/json", "", []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"\u0000"}}`))
	f.Add("POST", "application/json", "", []byte(strings.Repeat(`{"request":`, 20)))
	f.Fuzz(func(t *testing.T, method, content, query string, body []byte) {
		var seen *Request
		h := Handler(reviewFunc(func(_ context.Context, req *Request) (Response, error) {
			seen = req
			return Response{Patch: req.Object, Warnings: req.Groups}, nil
		}), Options{MaxBody: 1 << 16, Mount: "/inject"})
		r := httptest.NewRequest(http.MethodPost, "/inject", bytes.NewReader(body))
		r.Method, r.URL = method, &url.URL{Path: "/inject", RawQuery: query}
		r.Header.Set("Content-Type", content)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		switch rec.Code {
		case 400, 405, 413, 415:
			if text := rec.Body.String(); !strings.HasPrefix(text, "injector: ") || strings.Count(text, "\n") != 1 || len(text) > 4200 {
				t.Errorf("status %d: %q", rec.Code, text)
			}
			if seen != nil {
				t.Errorf("status %d, but the review was asked for", rec.Code)
			}
		case 200:
			checkReviewed(t, rec.Body.Bytes(), body, seen)
		case 500: // a deadline that the query made too short
			if !strings.Contains(query, "timeout=") {
				t.Errorf("status 500: %s", rec.Body)
			}
		default:
			t.Errorf("status %d", rec.Code)
		}
	})
}

func checkReviewed(t *testing.T, answer, body []byte, seen *Request) {
	t.Helper()
	var got, oracle admissionv1.AdmissionReview
	strict(t, string(answer), &got)
	if seen == nil || string(got.Response.UID) != seen.UID || !got.Response.Allowed {
		t.Fatalf("answer %s to request %+v", answer, seen)
	}
	for _, object := range [][]byte{seen.Object, seen.OldObject} {
		if len(object) > 0 && (!jsontext.Value(object).IsValid() || !bytes.Contains(body, object)) {
			t.Fatalf("an object that is no JSON value of the body: %q", object)
		}
	}
	if _, again := Answer(context.Background(), reviewFunc(func(_ context.Context, req *Request) (Response, error) {
		return Response{Patch: req.Object, Warnings: req.Groups}, nil
	}), body); string(again) != string(answer) {
		t.Fatalf("without HTTP the answer is %q, with it %q", again, answer)
	}
	// What we take, the API server's own reader must read in the same way. It also reads fields
	// that we do not, and may find those wrong.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &oracle); err != nil {
		return
	}
	if oracle.APIVersion != got.APIVersion {
		t.Errorf("answered in %q, asked in %q", got.APIVersion, oracle.APIVersion)
	}
	in := oracle.Request
	want := Request{
		UID: string(in.UID), Operation: string(in.Operation), Namespace: in.Namespace, Name: in.Name,
		Kind: in.Kind, Resource: in.Resource, SubResource: in.SubResource, DryRun: in.DryRun != nil && *in.DryRun,
		User: in.UserInfo.Username, Groups: in.UserInfo.Groups, Object: in.Object.Raw, OldObject: in.OldObject.Raw,
	}
	if diff := cmp.Diff(want, *seen, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-oracle +got)\n%s", diff)
	}
}
