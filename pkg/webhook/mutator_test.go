// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// FuzzReview: whatever the object, one of the four ends comes of it; a patch applies with the API
// server's own library, and the pod that it makes is left alone when the API server asks again.
func FuzzReview(f *testing.F) {
	for _, seed := range []string{
		plainPod, ``, `null`, `{}`, `[]`, `"pod"`, `{"spec":null}`, `{"spec":{"containers":"oops"}}`, `{"spec":{"containers":[]}}`,
		`{"metadata":{"labels":null,"annotations":null},"spec":{"containers":[{"name":"app","env":null}],"volumes":null,"initContainers":null}}`,
		`{"metadata":{"annotations":{"logs.pillion.dev/memory":"1e-999999999"}},"spec":{"containers":[{"name":"app"}]}}`,
		`{"metadata":{"annotations":{"pillion.dev/status":"{\"undo\":{\"added\":[\"/spec/containers/app\"]}}"}},"spec":{"containers":[{"name":"app"}]}}`,
		`{"spec":{"containers":[{"name":"shipper","image":"auto"},{"name":"app"}],"imagePullSecrets":[{"name":"own"}]}}`,
	} {
		f.Add("shop", []byte(seed))
	}
	m := testMutator(testEngine(f, testConfig+"proof: always\n"), knownFacts{})
	f.Fuzz(func(t *testing.T, namespace string, object []byte) {
		req := create(namespace, string(object))
		resp, err := m.Review(t.Context(), req)
		var refusal *reason.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("a pod broke the webhook: %v", err)
		}
		if err != nil || len(resp.Patch) == 0 {
			return
		}
		req.Object = apply(t, object, resp.Patch)
		again, err := m.Review(t.Context(), req)
		if err != nil || len(again.Patch) > 0 {
			t.Fatalf("asked again: %s, %v", again.Patch, err)
		}
	})
}

func apply(t testing.TB, object, ops []byte) []byte {
	t.Helper()
	decoded, err := jsonpatch.DecodePatch(ops)
	if err != nil {
		t.Fatal(err)
	}
	out, err := decoded.Apply(object)
	if err != nil {
		t.Fatalf("the patch does not apply: %v", err)
	}
	return out
}

// outcome is an answer without the patch's content.
type outcome struct {
	Patched   bool
	Reason    reason.Reason
	Audit     map[string]string
	Warnings  []string
	Templates []string
	Refused   string // the refusal's path
}

func review(t *testing.T, m *Mutator, req *admission.Request) outcome {
	t.Helper()
	resp, err := m.Review(t.Context(), req)
	out := outcome{
		Patched: len(resp.Patch) > 0, Reason: resp.Reason, Audit: resp.AuditAnnotations, Warnings: resp.Warnings, Templates: resp.Templates,
	}
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		out.Refused = refusal.Path
		if out.Refused == "" {
			out.Refused = refusal.Detail
		}
		if refusal.Reason != resp.Reason {
			t.Errorf("refused for %v, told as %v", refusal.Reason, resp.Reason)
		}
	case err != nil:
		t.Fatal(err)
	}
	delete(out.Audit, "template-hash")
	return out
}

func skippedFor(why reason.Reason) outcome {
	return outcome{Reason: why, Audit: map[string]string{"decision": "skipped", "reason": why.String(), "revision": "default"}}
}

func refusedFor(why reason.Reason, path string) outcome {
	return outcome{Reason: why, Refused: path, Audit: map[string]string{"decision": "refused", "reason": why.String(), "revision": "default"}}
}

func injectedFor(why reason.Reason) outcome {
	return outcome{
		Patched: true, Reason: why, Templates: []string{"shipper"},
		Audit: map[string]string{"decision": "injected", "reason": why.String(), "revision": "default", "templates": "shipper"},
	}
}

func TestReview(t *testing.T) {
	facts := knownFacts{
		labels: map[string]map[string]string{
			"yes": {"pillion.dev/inject": "enabled"}, "no": {"pillion.dev/inject": "disabled"}, "typo": {"pillion.dev/inject": "on"},
		},
		annotations: map[string]map[string]string{"yes": {"logs.pillion.dev/memory": "2Gi"}},
	}
	m := testMutator(testEngine(t, testConfig), facts)
	warned := func(o outcome, text string) outcome {
		o.Warnings = []string{text}
		return o
	}
	labelled := strings.Replace(plainPod, `"name":"till"`, `"name":"till","labels":{"pillion.dev/inject":"enabled"}`, 1)
	annotated := strings.Replace(plainPod, `"name":"till"`, `"name":"till","annotations":{"logs.pillion.dev/memory":"96Mi"}`, 1)
	cases := map[string]struct {
		reason    string
		namespace string
		object    string
		want      outcome
	}{
		"injected":            {"the policy is enabled", "shop", plainPod, injectedFor(reason.PolicyEnabled)},
		"asked for":           {"the label decides", "shop", labelled, injectedFor(reason.PodEnabled)},
		"pod over namespace":  {"the pod's value replaces the namespace's", "yes", annotated, injectedFor(reason.NamespaceEnabled)},
		"namespace's default": {"the namespace's value holds, and is out of bounds", "yes", plainPod, refusedFor(reason.ParameterInvalid, "namespace metadata.annotations[logs.pillion.dev/memory]")},
		"namespace says no":   {"the request's namespace decides", "no", plainPod, skippedFor(reason.NamespaceDisabled)},
		"asked in vain":       {"who asks is told why not", "no", labelled, warned(skippedFor(reason.NamespaceDisabled), "INJ108 not injected, though its label asks: the namespace's label pillion.dev/inject is disabled")},
		"namespace mistyped":  {"a typo is never a silent default", "typo", plainPod, warned(skippedFor(reason.NamespaceLabelInvalid), `INJ111 not injected: the namespace's label pillion.dev/inject is "on", want enabled or disabled`)},
		"namespace unseen":    {"the API server's selectors have chosen the pod", "new", plainPod, injectedFor(reason.PolicyEnabled)},
		"ignored namespace":   {"configured", "attic", plainPod, skippedFor(reason.IgnoredNamespace)},
		"object's namespace":  {"the request's counts, whatever the object says", "shop", strings.Replace(plainPod, `"name":"till"`, `"name":"till","namespace":"attic"`, 1), injectedFor(reason.PolicyEnabled)},
		"protected namespace": {"never lock a cluster out", "kube-system", plainPod, skippedFor(reason.ProtectedNamespace)},
		"own namespace":       {"we need no sidecar to start", "pillion-system", plainPod, skippedFor(reason.OwnNamespace)},
		"host network":        {"no template accepts it", "shop", strings.Replace(plainPod, `"spec":{`, `"spec":{"hostNetwork":true,`, 1), skippedFor(reason.HostNetwork)},
		"bad parameter":       {"its author must mend it", "shop", strings.Replace(annotated, "96Mi", "much", 1), refusedFor(reason.ParameterInvalid, "metadata.annotations[logs.pillion.dev/memory]")},
		"no object":           {"a CREATE without an object", "shop", "", refusedFor(reason.PodUnreadable, "no object")},
		"containers no list":  {"no pod", "shop", `{"spec":{"containers":"oops"}}`, refusedFor(reason.PodUnreadable, "spec.containers")},
		"no containers":       {"no pod", "shop", `{"spec":{"containers":[]}}`, refusedFor(reason.PodUnreadable, "spec.containers")},
		"mistyped key": {"a warning names the nearest", "shop", strings.Replace(annotated, "dev/memory", "dev/memroy", 1),
			warned(injectedFor(reason.PolicyEnabled), "INJ203 metadata.annotations[logs.pillion.dev/memroy]: no such key, did you mean logs.pillion.dev/memory?")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, review(t, m, create(c.namespace, c.object))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// Only the creation of a pod is injected, whatever a person adds to the rules; no configuration is
// needed to let the rest pass.
func TestReviewLetsTheRestPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*admission.Request)
	}{
		"update":               {"adding containers would make the pod undeletable", func(r *admission.Request) { r.Operation = "UPDATE" }},
		"delete":               {"there is no object", func(r *admission.Request) { r.Operation, r.OldObject, r.Object = "DELETE", r.Object, nil }},
		"connect":              {"port-forward and the like", func(r *admission.Request) { r.Operation, r.SubResource = "CONNECT", "portforward" }},
		"binding":              {"the scheduler creates these", func(r *admission.Request) { r.SubResource = "binding" }},
		"ephemeral containers": {"kubectl debug", func(r *admission.Request) { r.Operation, r.SubResource = "UPDATE", "ephemeralcontainers" }},
		"resize":               {"resources in place", func(r *admission.Request) { r.Operation, r.SubResource = "UPDATE", "resize" }},
		"status":               {"the kubelet's", func(r *admission.Request) { r.Operation, r.SubResource = "UPDATE", "status" }},
		"eviction":             {"created below a pod", func(r *admission.Request) { r.SubResource = "eviction" }},
		"other resource":       {"has a pod inside, is none", func(r *admission.Request) { r.Resource.Resource = "podtemplates" }},
		"other group":          {"pods of the metrics API", func(r *admission.Request) { r.Resource.Group = "metrics.k8s.io" }},
		"config map": {"a rule with a star", func(r *admission.Request) {
			r.Resource.Resource, r.Object = "configmaps", []byte(`{"kind":"ConfigMap"}`)
		}},
		"nothing": {"a review without a resource", func(r *admission.Request) { *r = admission.Request{UID: "u"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req := create("shop", plainPod)
			c.change(req)
			if diff := cmp.Diff(skippedFor(reason.NotPodCreate), review(t, testMutator(testEngine(t, testConfig), nil), req)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			early := skippedFor(reason.NotPodCreate)
			delete(early.Audit, "revision")
			if diff := cmp.Diff(early, review(t, testMutator(nil, nil), req)); diff != "" {
				t.Errorf("%s, without an engine (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// A node that does not run native sidecars makes an ordinary container of one, where the pod may land
// on it.
func TestReviewKnowsOldNodes(t *testing.T) {
	old := knownFacts{oldNodes: []inject.Node{{Name: "old", Labels: map[string]string{"pool": "old"}}}}
	bound := func(pool string) string {
		return strings.Replace(plainPod, `"spec":{`, `"spec":{"nodeSelector":{"pool":"`+pool+`"},`, 1)
	}
	cases := map[string]struct {
		facts  Facts
		object string
		list   string
	}{
		"no cluster":  {nil, plainPod, "initContainers"},
		"all new":     {knownFacts{}, plainPod, "initContainers"},
		"may land":    {old, plainPod, "containers"},
		"bound to it": {old, bound("old"), "containers"},
		"bound away":  {old, bound("new"), "initContainers"},
	}
	e := testEngine(t, testConfig)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, err := testMutator(e, c.facts).Review(t.Context(), create("shop", c.object))
			if err != nil {
				t.Fatal(err)
			}
			tree, err := pod.Decode(apply(t, []byte(c.object), resp.Patch))
			if err != nil {
				t.Fatal(err)
			}
			spec := tree.(map[string]any)["spec"].(map[string]any)
			for _, list := range []string{"containers", "initContainers"} {
				items, _ := spec[list].([]any)
				found := false
				for _, item := range items {
					found = found || item.(map[string]any)["name"] == "shipper"
				}
				if found != (list == c.list) {
					t.Errorf("the sidecar in %s: %v", list, found)
				}
			}
		})
	}
}

// The namespace's facts reach the template, from the request's namespace.
func TestReviewHandsTheNamespaceToTemplates(t *testing.T) {
	facts := knownFacts{labels: map[string]map[string]string{"shop": {"zone": "north"}, "attic": {"zone": "south"}}}
	object := strings.Replace(plainPod, `"name":"till"`, `"name":"till","namespace":"attic"`, 1)
	resp, err := testMutator(testEngine(t, testConfig), facts).Review(t.Context(), create("shop", object))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata struct {
			Namespace   string
			Annotations map[string]string
		}
	}
	if err := json.Unmarshal(apply(t, []byte(object), resp.Patch), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Annotations["logs.example/zone"] != "north" || got.Metadata.Namespace != "attic" {
		t.Errorf("got %+v", got.Metadata)
	}
}
