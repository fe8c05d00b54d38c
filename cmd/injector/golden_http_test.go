// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/revision"
	"github.com/pillion-dev/pillion/pkg/webhook"
)

// oneNamespace is what the cluster knows in a golden case.
type oneNamespace struct{ facts inject.Facts }

func (f oneNamespace) Namespace(string) (labels, annotations map[string]string, known bool) {
	return f.facts.NamespaceLabels, f.facts.NamespaceAnnotations, true
}

func (f oneNamespace) OldNodes() []inject.Node { return f.facts.OldNodes }

func (f oneNamespace) NodeKnown(string) bool { return f.facts.NodeKnown }

func handler(e *inject.Engine, f inject.Facts) http.Handler {
	m := &webhook.Mutator{Engine: func() *inject.Engine { return e }, Facts: oneNamespace{f}, Proof: &webhook.Proof{}}
	return admission.Handler(m, admission.Options{Mount: "/inject"})
}

// compareHTTP sends the pod to the handler as the API server would, and holds the answer to the
// engine's. The API server asks only where the webhook's selectors match.
func compareHTTP(t *testing.T, e *inject.Engine, one subject, want inject.Result, wantErr error) {
	t.Helper()
	raw := controlled(t, one)
	doc, err := pod.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !one.facts.Selected && e.Config().Dialect == config.DialectPillion && !called(t, one, doc) {
		if want.Decision.Inject {
			t.Errorf("%s: the engine injects a pod for which the webhook is not called", one.pod.Object())
		}
		return
	}
	review := admissionv1.AdmissionReview{}
	rec := post(handler(e, one.facts), reviewOf(t, one, raw))
	if err := json.Unmarshal(rec.Body.Bytes(), &review); err != nil || review.Response == nil {
		t.Fatalf("HTTP %d: %s", rec.Code, rec.Body)
	}
	var refusal *reason.Refusal
	if errors.As(wantErr, &refusal) {
		if review.Response.Allowed || !strings.Contains(review.Response.Result.Message, refusal.Detail[:min(len(refusal.Detail), 200)]) {
			t.Errorf("%s: the engine refuses, the handler answers %s", one.pod.Object(), rec.Body)
		}
		return
	}
	if got := review.Response.AuditAnnotations["reason"]; got != want.Decision.Reason.String() || !review.Response.Allowed {
		t.Errorf("%s: the engine says %v, the handler %s", one.pod.Object(), want.Decision.Reason, rec.Body)
	}
	if want.Tree != nil {
		compareSpec(t, raw, review.Response.Patch, want.Tree)
		settled(t, e, one, applied6902(t, raw, review.Response.Patch))
	} else if len(review.Response.Patch) > 0 {
		t.Errorf("%s: the engine skips, the handler patches: %s", one.pod.Object(), review.Response.Patch)
	}
}

// settled fails if the handler patches a pod that it, or the command line, has injected already.
func settled(t *testing.T, e *inject.Engine, one subject, raw []byte) {
	t.Helper()
	var review admissionv1.AdmissionReview
	rec := post(handler(e, one.facts), reviewOf(t, one, raw))
	if err := json.Unmarshal(rec.Body.Bytes(), &review); err != nil || review.Response == nil {
		t.Fatalf("HTTP %d: %s", rec.Code, rec.Body)
	}
	if !review.Response.Allowed || len(review.Response.Patch) > 0 {
		t.Errorf("%s: asked again, the handler answers %s\n%s", one.pod.Object(), rec.Body, review.Response.Patch)
	}
}

// applied6902 applies a patch with the library that the API server uses.
func applied6902(t *testing.T, raw, ops []byte) []byte {
	t.Helper()
	decoded, err := jsonpatch.DecodePatch(ops)
	if err != nil {
		t.Fatal(err)
	}
	out, err := decoded.Apply(raw)
	if err != nil {
		t.Fatalf("the patch does not apply: %v\n%s", err, ops)
	}
	return out
}

// reviewOf is the pod's creation as the API server asks about it.
func reviewOf(t *testing.T, one subject, raw []byte) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": map[string]any{
			"uid": "u", "operation": "CREATE", "namespace": one.facts.Namespace, "object": json.RawMessage(raw),
			"kind":     map[string]any{"group": "", "version": "v1", "kind": "Pod"},
			"resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// settledAll sends what the command line made to the handler, which must find nothing left to do.
func settledAll(t *testing.T, e *inject.Engine, manifest []byte) {
	t.Helper()
	for _, one := range subjectsOf(t, manifest) {
		raw := controlled(t, one)
		doc, err := pod.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if one.facts.Selected || called(t, one, doc) {
			settled(t, e, one, raw)
		}
	}
}

// compareSpec applies the handler's patch and compares all but what the controller added.
func compareSpec(t *testing.T, raw, ops []byte, want map[string]any) {
	t.Helper()
	var list []patch.Op
	if err := json.Unmarshal(ops, &list); err != nil {
		t.Fatal(err)
	}
	var tree any
	decodeNumbers(t, raw, &tree)
	var values []struct{ Value any }
	decodeNumbers(t, ops, &values)
	for i := range list {
		list[i].Value = values[i].Value
	}
	got, err := patch.Apply(tree, list)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want["spec"], got.(map[string]any)["spec"]); diff != "" {
		t.Errorf("the engine and the handler make different pods:\n%s", diff)
	}
}

func decodeNumbers(t *testing.T, raw []byte, into any) {
	t.Helper()
	value, err := pod.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	switch into := into.(type) {
	case *any:
		*into = value
	case *[]struct{ Value any }:
		for _, item := range value.([]any) {
			*into = append(*into, struct{ Value any }{item.(map[string]any)["value"]})
		}
	}
}

// controlled is the pod as the workload's controller makes it.
func controlled(t *testing.T, one subject) []byte {
	t.Helper()
	if one.facts.Owner == nil {
		return one.doc.Raw()
	}
	tree, err := one.doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	meta, _ := tree["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		tree["metadata"] = meta
	}
	o := *one.facts.Owner
	switch o.Kind {
	case "Deployment":
		labels, _ := meta["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			meta["labels"] = labels
		}
		labels["pod-template-hash"] = "7d9f5c6b8d"
		o = inject.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: o.Name + "-7d9f5c6b8d"}
	case "CronJob":
		o = inject.Owner{APIVersion: "batch/v1", Kind: "Job", Name: o.Name + "-28472130"}
	}
	meta["generateName"] = o.Name + "-"
	meta["ownerReferences"] = []any{map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": "u", "controller": true}}
	return pod.Encode(tree)
}

// called tells whether the default webhook configuration selects the pod.
func called(t *testing.T, one subject, doc pod.Doc) bool {
	t.Helper()
	configs, err := revision.Wanted(revision.Values{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		if _, ok := revision.Selects(c, one.facts.NamespaceLabels, doc.Head().Metadata.Labels, one.facts.Namespace); ok {
			return true
		}
	}
	return false
}

func post(h http.Handler, body []byte) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, "/inject?timeout=5s", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}
