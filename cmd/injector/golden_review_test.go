// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// goldenHTTP: request.json is posted as it is, and the answer is shown with the patch in plain JSON.
func goldenHTTP(t *testing.T, g *golden) {
	body := g.section("request.json")
	h := handler(engineOf(t, g.flags()), inject.Facts{})
	rec := post(h, body)
	reuseHTTP(t, g.flags(), body, rec.Body.Bytes())
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP %d\n", rec.Code)
	var review admissionv1.AdmissionReview
	if rec.Code != http.StatusOK || json.Unmarshal(rec.Body.Bytes(), &review) != nil || review.Response == nil {
		fmt.Fprintln(&out, strings.TrimSpace(rec.Body.String()))
		g.out("response", out.Bytes())
		return
	}
	lawsOfHTTP(t, h, body, rec.Body.Bytes(), review.Response.Patch)
	ops := review.Response.Patch
	review.Response.Patch = nil
	text, err := json.MarshalIndent(review, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%s\n", text)
	if len(ops) > 0 {
		var list []json.RawMessage
		if err := json.Unmarshal(ops, &list); err != nil {
			t.Fatal(err)
		}
		for _, op := range list {
			fmt.Fprintf(&out, "%s\n", op)
		}
	}
	g.out("response", out.Bytes())
}

// lawsOfHTTP holds an answer to what every answer must hold: a dry run gets the same one, the patch
// applies and removes nothing, and the pod that it makes is left alone.
func lawsOfHTTP(t *testing.T, h http.Handler, body, answer, ops []byte) {
	t.Helper()
	var review map[string]any
	if err := json.Unmarshal(body, &review); err != nil {
		t.Fatal(err)
	}
	request := review["request"].(map[string]any)
	repeat := func() string {
		body, err := json.Marshal(review)
		if err != nil {
			t.Fatal(err)
		}
		return post(h, body).Body.String()
	}
	request["dryRun"] = request["dryRun"] != true
	if diff := cmp.Diff(string(answer), repeat()); diff != "" {
		t.Errorf("a dry run and a real one get different answers:\n%s", diff)
	}
	if len(ops) == 0 {
		return
	}
	if bytes.Contains(ops, []byte(`"op":"remove"`)) {
		t.Errorf("the patch removes something: %s", ops)
	}
	raw, err := json.Marshal(request["object"])
	if err != nil {
		t.Fatal(err)
	}
	request["object"] = json.RawMessage(applied6902(t, raw, ops))
	if again := repeat(); strings.Contains(again, `"patch"`) || !strings.Contains(again, `"allowed":true`) {
		t.Errorf("asked again, the handler answers %s", again)
	}
}
