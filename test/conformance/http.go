// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// apply carries a patch out with the library that the API server uses.
func apply(raw, ops []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(ops)
	if err != nil {
		return nil, fmt.Errorf("the patch is none: %w", err)
	}
	out, err := decoded.Apply(raw)
	if err != nil {
		return nil, fmt.Errorf("the patch does not apply: %w", err)
	}
	return out, nil
}

// sent is one HTTP request.
type sent struct {
	method, path, contentType string
	body                      []byte
}

func (s sent) to(h http.Handler) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, "/inject", bytes.NewReader(s.body))
	if u, err := req.URL.Parse(s.path); err == nil && s.path != "" {
		req.URL = u
	}
	req.Method = s.method
	if s.contentType != "" {
		req.Header.Set("Content-Type", s.contentType)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

// answer reads an admission review that answers a request for a pod.
func answer(body, raw []byte) (outcome, error) {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Response == nil || review.Kind != "AdmissionReview" {
		return outcome{}, fmt.Errorf("no admission review: %s", brief(string(body)))
	}
	resp := review.Response
	if !resp.Allowed {
		out := outcome{kind: failed}
		if resp.Result != nil {
			out.text = resp.Result.Message
		}
		if resp.Result != nil && resp.Result.Details != nil {
			for _, cause := range resp.Result.Details.Causes {
				out.text += "\n" + cause.Field + ": " + cause.Message
			}
		}
		return out, nil
	}
	if len(resp.Patch) == 0 {
		return outcome{kind: skipped}, nil
	}
	patched, err := apply(raw, resp.Patch)
	if err != nil {
		return outcome{}, err
	}
	tree, err := decode(patched)
	return outcome{kind: injected, tree: tree}, err
}

// sameByHTTP sends the case's request to the handler, and tells where its answer is not the engine's.
func sameByHTTP(e *inject.Engine, in *input, engine outcome) []string {
	h, err := in.handler(e)
	if err != nil {
		return []string{err.Error()}
	}
	rec := sent{http.MethodPost, in.file.Path, "application/json", in.review}.to(h)
	if rec.Code != http.StatusOK {
		return []string{fmt.Sprintf("status %d: %s", rec.Code, brief(rec.Body.String()))}
	}
	got, err := answer(rec.Body.Bytes(), in.raw)
	switch {
	case err != nil:
		return []string{err.Error()}
	case got.kind != engine.kind:
		return []string{fmt.Sprintf("the handler ends as %s, the engine as %s: %s", got.kind, engine.kind, brief(got.text+engine.text))}
	case got.kind == injected && !reflect.DeepEqual(got.tree, engine.tree):
		return append([]string{"the handler makes another pod"}, diff(norm(got.tree, ""), norm(engine.tree, ""), "")...)
	}
	return nil
}

// httpRow is a recorded HTTP exchange.
type httpRow struct {
	Name, Method, ContentType, Body, Response string
	Path                                      string
	Status                                    int
}

// addHTTP adds the rows of a file of HTTP exchanges.
func (c *corpus) addHTTP(name string) error {
	raw, err := c.file(name)
	if err != nil {
		return err
	}
	var rows []httpRow
	if err := json.Unmarshal(raw, &rows); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(c.pods) == 0 {
		return fmt.Errorf("read %s: no other case has a configuration for it", name)
	}
	for _, row := range rows {
		c.cases = append(c.cases, testCase{"http", "http/" + row.Name, c.httpCase(row)})
	}
	return nil
}

// httpCase holds our answer to the recorded one where that is a review; any other exchange we answer
// in our own way.
func (c *corpus) httpCase(row httpRow) func(*runner) verdict {
	var recorded struct{ Kind, APIVersion string }
	_ = json.Unmarshal([]byte(row.Response), &recorded) // a text is no review
	var review struct {
		Request *struct{ Object json.RawMessage }
	}
	_ = json.Unmarshal([]byte(row.Body), &review) // nor need the body be one
	if recorded.Kind == "" || recorded.APIVersion == "" || review.Request == nil {
		return func(r *runner) verdict { return r.ownAnswer(row, c.pods[0]) }
	}
	object := []byte(review.Request.Object)
	want, err := answer([]byte(row.Response), object)
	if err != nil {
		return func(*runner) verdict { return problem("the recorded answer: %v", err) }
	}
	in := c.configurationFor(object, want)
	return func(r *runner) verdict { return r.recordedAnswer(row, in, want) }
}

// configurationFor finds the configuration that an exchange was recorded with: that of a case with the
// same pod and the same result. An exchange without a result does not depend on it.
func (c *corpus) configurationFor(object []byte, want outcome) *input {
	tree, _ := decode(object)
	found := c.pods[0]
	for _, in := range c.pods {
		if len(diff(norm(in.pod, ""), norm(tree, ""), "")) > 0 {
			continue
		}
		found = in
		if in.want.kind == want.kind && len(diff(norm(in.want.tree, ""), norm(want.tree, ""), "")) == 0 {
			break
		}
	}
	return found
}

func (r *runner) exchange(row httpRow, in *input) (*httptest.ResponseRecorder, error) {
	e, err := r.engine(in.setup())
	if err != nil {
		return nil, err
	}
	h, err := in.handler(e)
	if err != nil {
		return nil, err
	}
	path := row.Path
	if path == "" {
		path = in.file.Path
	}
	return sent{row.Method, path, row.ContentType, []byte(row.Body)}.to(h), nil
}

func (r *runner) recordedAnswer(row httpRow, in *input, want outcome) verdict {
	rec, err := r.exchange(row, in)
	if err != nil {
		return problem("%v", err)
	}
	if rec.Code != http.StatusOK {
		return problem("status %d: %s", rec.Code, brief(rec.Body.String()))
	}
	var review struct {
		APIVersion string
		Request    struct{ Object json.RawMessage }
	}
	if err := json.Unmarshal([]byte(row.Body), &review); err != nil {
		return problem("%v", err)
	}
	got, err := answer(rec.Body.Bytes(), review.Request.Object)
	if err != nil {
		return problem("%v", err)
	}
	v := verdict{problems: (&pair{want: outcome{want.kind, want.text, norm(want.tree, "")}, got: outcome{got.kind, got.text, norm(got.tree, "")}}).compare()}
	if !strings.Contains(rec.Body.String(), `"`+review.APIVersion+`"`) {
		v.problems = append(v.problems, "answered in another version than "+review.APIVersion)
	}
	return v
}

// ownAnswer holds the answer to our own promise: a review, or a status that tells that the request is
// none. httptest lets a panic through, so none is hidden.
func (r *runner) ownAnswer(row httpRow, in *input) verdict {
	rec, err := r.exchange(row, in)
	if err != nil {
		return problem("%v", err)
	}
	if rec.Code >= 400 && rec.Code < 600 {
		return verdict{}
	}
	raw := []byte("{}")
	var review struct {
		Request struct{ Object json.RawMessage }
	}
	if json.Unmarshal([]byte(row.Body), &review) == nil && len(review.Request.Object) > 0 {
		raw = review.Request.Object
	}
	if _, err := answer(rec.Body.Bytes(), raw); err != nil {
		return problem("status %d: %v", rec.Code, err)
	}
	return verdict{}
}
