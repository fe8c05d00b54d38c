// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pillion-dev/pillion/pkg/reason"
	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"
)

// strict decodes an answer as the API server does, and fails on anything that its types lack.
func strict(t *testing.T, body string, into any) {
	t.Helper()
	faults, err := kjson.UnmarshalStrict([]byte(body), into)
	if err != nil || len(faults) > 0 {
		t.Fatalf("%v %v: %s", err, faults, body)
	}
}

func TestAnswerInTheAPIsTypes(t *testing.T) {
	resp := Response{
		Patch:            []byte(`[{"op":"add","path":"/spec/x","value":"<é>"}]`),
		Warnings:         []string{"b", "a", "b", "", "two\nlines"},
		AuditAnnotations: map[string]string{"reason": "pod_enabled", "decision": "injected", "bad/key": "x", "": "x"},
	}
	r := reviewFunc(func(context.Context, *Request) (Response, error) { return resp, nil })
	jsonPatch, jsonPatchBeta := admissionv1.PatchTypeJSONPatch, admissionv1beta1.PatchTypeJSONPatch

	_, body, _, _ := post(r, Options{}, "/inject", reviewV1(`"object":{}`))
	var got admissionv1.AdmissionReview
	strict(t, body, &got)
	annotations, warnings := map[string]string{"reason": "pod_enabled", "decision": "injected"}, []string{"b", "a", "two lines"}
	want := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"},
		Response: &admissionv1.AdmissionResponse{UID: testUID, Allowed: true, Patch: resp.Patch, PatchType: &jsonPatch, AuditAnnotations: annotations, Warnings: warnings},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	_, body, _, _ = post(r, Options{}, "/inject", strings.Replace(reviewV1(`"object":{}`), "k8s.io/v1", "k8s.io/v1beta1", 1))
	var beta admissionv1beta1.AdmissionReview
	strict(t, body, &beta)
	wantBeta := admissionv1beta1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1beta1"},
		Response: &admissionv1beta1.AdmissionResponse{UID: testUID, Allowed: true, Patch: resp.Patch, PatchType: &jsonPatchBeta, AuditAnnotations: annotations, Warnings: warnings},
	}
	if diff := cmp.Diff(wantBeta, beta); diff != "" {
		t.Error(diff)
	}
}

func TestRequestFromTheAPIsTypes(t *testing.T) {
	yes := true
	sent := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"},
		Request: &admissionv1.AdmissionRequest{
			UID: testUID, Operation: admissionv1.Update, Namespace: "shop", Name: "orders", SubResource: "resize", DryRun: &yes,
			Kind:      metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			Resource:  metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
			UserInfo:  authenticationv1.UserInfo{Username: "ann", UID: "1", Groups: []string{"a", "b"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}},
			Object:    runtime.RawExtension{Raw: []byte(`{"n":1.50,"future":[null]}`)},
			OldObject: runtime.RawExtension{Raw: []byte(`{"n":1}`)},
			Options:   runtime.RawExtension{Raw: []byte(`{"kind":"UpdateOptions"}`)},
		},
	}
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got Request
	r := reviewFunc(func(_ context.Context, req *Request) (Response, error) { got = *req; return Response{}, nil })
	post(r, Options{Mount: "/inject"}, "/inject/cluster/a%2Fb?timeout=5s", string(body))
	want := Request{
		UID: testUID, Operation: "UPDATE", Namespace: "shop", Name: "orders", SubResource: "resize", DryRun: true,
		Kind: sent.Request.Kind, Resource: sent.Request.Resource, User: "ann", Groups: []string{"a", "b"},
		Object: sent.Request.Object.Raw, OldObject: sent.Request.OldObject.Raw, Path: "/cluster/a%2Fb",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	post(r, Options{Mount: "/inject"}, "/inject", reviewV1(`"object":null`))
	if got.Object != nil || got.OldObject != nil || got.Path != "" {
		t.Errorf("null is an object: %q %q, path %q", got.Object, got.OldObject, got.Path)
	}
}

func TestDenialTellsWhatToMend(t *testing.T) {
	tests := map[string]struct {
		reason  string
		refusal reason.Refusal
		name    string
		want    metav1.Status
	}{
		"invalid": {
			reason:  "a field of a named pod: kubectl shows the cause beside the field",
			refusal: reason.Refusal{Reason: reason.VolumeConflict, Path: "spec.volumes[data]", Detail: "is an emptyDir", Hint: "rename it"},
			name:    "orders",
			want: metav1.Status{
				Status: "Failure", Code: 422, Reason: "Invalid",
				Message: "INJ308 volume_conflict: spec.volumes[data]: is an emptyDir; hint: rename it",
				Details: &metav1.StatusDetails{Name: "orders", Kind: "Pod", Causes: []metav1.StatusCause{{
					Type: "FieldValueInvalid", Field: "spec.volumes[data]", Message: "INJ308 volume_conflict: is an emptyDir; hint: rename it",
				}}},
			},
		},
		"several": {
			reason: "each field has its own fault",
			refusal: reason.Refusal{Reason: reason.ParameterInvalid, Path: "metadata.annotations[a]", Detail: "a is bad; b is bad", Hint: "mend", Causes: []reason.Cause{
				{Path: "metadata.annotations[a]", Detail: "a is bad"}, {Path: "metadata.annotations[b]", Detail: "b is\nbad"},
			}},
			want: metav1.Status{
				Status: "Failure", Code: 422, Reason: "Invalid",
				Message: "INJ303 parameter_invalid: metadata.annotations[a]: a is bad; b is bad; hint: mend",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
					{Type: "FieldValueInvalid", Field: "metadata.annotations[a]", Message: "INJ303 parameter_invalid: a is bad; hint: mend"},
					{Type: "FieldValueInvalid", Field: "metadata.annotations[b]", Message: "INJ303 parameter_invalid: b is bad; hint: mend"},
				}},
			},
		},
		"forbidden": {
			reason:  "no field to point at: kubectl shows the message",
			refusal: reason.Refusal{Reason: reason.TemplateFailed, Detail: "template \"a\" failed"},
			want: metav1.Status{
				Status: "Failure", Code: 403, Reason: "Forbidden", Message: "INJ304 template_failed: template \"a\" failed",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
					Type: "FieldValueInvalid", Message: "INJ304 template_failed: template \"a\" failed",
				}}},
			},
		},
		"unreadable": {
			reason:  "an object that is no pod; text of the author is kept on one line",
			refusal: reason.Refusal{Reason: reason.PodUnreadable, Path: "spec.containers", Detail: "a JSON string\r\ncannot be read as a list"},
			want: metav1.Status{
				Status: "Failure", Code: 400, Reason: "BadRequest",
				Message: "INJ301 pod_unreadable: spec.containers: a JSON string  cannot be read as a list",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
					Type: "FieldValueInvalid", Field: "spec.containers", Message: "INJ301 pod_unreadable: a JSON string  cannot be read as a list",
				}}},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := reviewFunc(func(context.Context, *Request) (Response, error) { return Response{}, &tt.refusal })
			_, body, _, _ := post(r, Options{}, "/inject", reviewV1(`"object":{},"name":"`+tt.name+`"`))
			var got admissionv1.AdmissionReview
			strict(t, body, &got)
			if got.Response.Allowed || got.Response.PatchType != nil {
				t.Errorf("%s: allowed", tt.reason)
			}
			if diff := cmp.Diff(&tt.want, got.Response.Result); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}

// Whatever a Reviewer says, the API server accepts the answer and drops nothing of it.
func FuzzAnswer(f *testing.F) {
	f.Add("u", []byte(`[1]`), "a warning", "decision", "injected", "spec.x", "detail", "hint", true)
	f.Add("\x00\"", []byte(nil), "two\nlines\u0085", "-bad", "\xff", "\x7f", strings.Repeat("é", 600), strings.Repeat("h", 600), false)
	f.Add("u", []byte(`[1]`), "\x7f", "a", "b", "", "", "", false)
	f.Add("u", []byte(`[]`), strings.Repeat("w", 121), "a/b", "", "", "", "", false)
	f.Fuzz(func(t *testing.T, uid string, patch []byte, warning, key, value, path, detail, hint string, deny bool) {
		if !utf8.ValidString(uid) {
			return // no such request is decoded
		}
		resp := Response{Patch: patch, Warnings: []string{warning, warning, "plain"}, AuditAnnotations: map[string]string{key: value, "sure": "yes"}}
		if deny {
			resp.Denied = &reason.Refusal{Reason: reason.ParameterInvalid, Path: path, Detail: detail, Hint: hint}
		}
		var got admissionv1.AdmissionReview
		strict(t, string(answered(&Request{UID: uid, Name: "x"}, "admission.k8s.io/v1", resp).body), &got)
		checkAnswer(t, got.Response, uid, patch, deny)
		if _, kept := got.Response.AuditAnnotations[key]; kept != (len(validation.IsQualifiedName("hook.example.dev/"+key)) == 0) {
			t.Errorf("audit annotation %q kept: %t", key, kept)
		}
	})
}

func checkAnswer(t *testing.T, got *admissionv1.AdmissionResponse, uid string, patch []byte, deny bool) {
	t.Helper()
	if string(got.UID) != uid || got.Allowed == deny {
		t.Errorf("uid %q, allowed %t", got.UID, got.Allowed)
	}
	if wantPatch := !deny && len(patch) > 0 && string(patch) != "[]"; wantPatch != (got.PatchType != nil) || wantPatch && string(got.Patch) != string(patch) {
		t.Errorf("patch %q became %q", patch, got.Patch)
	}
	if deny && (got.Result.Code < 400 || got.Result.Message == "" || utf8.RuneCountInString(got.Result.Message) > 1024) {
		t.Errorf("status %+v", got.Result)
	}
	if got.AuditAnnotations["sure"] != "yes" {
		t.Errorf("annotations %v", got.AuditAnnotations)
	}
	for _, w := range got.Warnings {
		if w == "" || utf8.RuneCountInString(w) > 120 || strings.IndexFunc(w, unicode.IsControl) >= 0 {
			t.Errorf("warning %q", w)
		}
	}
	if n := len(got.Warnings); n > 2 || got.Warnings[n-1] != "plain" {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var resp Response
	for i := range 100 {
		resp.Warnings = append(resp.Warnings, strings.Repeat("w", 200)+strings.Repeat("x", i), "same")
	}
	var got admissionv1.AdmissionReview
	strict(t, string(answered(&Request{UID: "u"}, "admission.k8s.io/v1", resp).body), &got)
	want := []string{strings.Repeat("w", 119) + "…", "same"}
	if diff := cmp.Diff(want, got.Response.Warnings); diff != "" {
		t.Errorf("warnings that look alike once cut are one: %s", diff)
	}
}

func TestAuditAnnotationsAreInOrder(t *testing.T) {
	resp := Response{AuditAnnotations: map[string]string{}}
	for _, key := range strings.Split("kbdicgajeflh", "") {
		resp.AuditAnnotations[key] = strings.ToUpper(key)
	}
	want := `{"a":"A","b":"B","c":"C","d":"D","e":"E","f":"F","g":"G","h":"H","i":"I","j":"J","k":"K","l":"L"}`
	for range 8 { // maps have no order
		if got := appendReview("v", &Request{}, &resp); !strings.Contains(string(got), want) {
			t.Fatalf("%s", got)
		}
	}
}

// What is told at a glance is told as the long way tells it.
func TestPrintable(t *testing.T) {
	for r := range rune(0x200) {
		if got, want := printable("a"+string(r)), r < utf8.RuneSelf && !unicode.IsControl(r); got != want {
			t.Errorf("%q: printable %t", r, got)
		}
		if got := clean(string(r), 1); (got == string(r)) == unicode.IsControl(r) {
			t.Errorf("%q became %q", r, got)
		}
	}
	if printable("a\xff") {
		t.Error("a byte that is no UTF-8 is printable")
	}
}
