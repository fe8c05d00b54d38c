// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/annotation"
)

const strangersMark = "STRANGER"

const twoTemplates = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
defaultTemplates: [open]
templates:
- name: open
  sidecars: [proxy]
  text: |
    spec:
      containers: [{name: proxy, image: "registry.example/proxy:1"}]
- name: closed
  sidecars: [proxy]
  overridable: [resources]
  text: |
    spec:
      containers: [{name: proxy, image: "registry.example/proxy:1"}]
`

// Another webhook, called after ours, adds what it likes to every container. It keeps all that our
// template lets an author add; the second call of our webhook makes nothing twice.
func TestReinvocation(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(twoTemplates), 0o600); err != nil {
		t.Fatal(err)
	}
	in := serve(t, "reinvocation", "--config", config)
	stranger(t, in.namespace)
	cases := map[string]struct {
		reason  string
		mutated bool // by our second call
		marked  []string
	}{
		"open":   {"env is overridable, so nothing is left to do", false, []string{"app", "proxy", "stranger"}},
		"closed": {"env is not overridable, so our container is made as it was", true, []string{"app", "stranger"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := bare(in.namespace, name)
			pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
			pod.Annotations = map[string]string{annotation.Templates: name}
			await(t, "the API server knows the other webhook", func() bool {
				dry, err := dryRun(t, pod)
				return err == nil && dry.Labels["stranger"] == "was-here"
			})
			manifest, err := json.Marshal(pod)
			if err != nil {
				t.Fatal(err)
			}
			if _, report, err := kubectl(t, string(manifest), "create", "-f", "-"); err != nil || report != "" {
				t.Fatalf("kubectl reports %q, %v, want a pod without a warning", report, err)
			}
			got, err := shared.Client().CoreV1().Pods(in.namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !injected(got) || got.Labels["stranger"] != "was-here" {
				t.Errorf("labels %v", got.Labels)
			}
			var inits []string
			for _, c := range got.Spec.InitContainers {
				inits = append(inits, c.Name)
			}
			slices.Sort(inits)
			if diff := cmp.Diff([]string{"proxy", "stranger"}, inits); diff != "" || len(got.Spec.Containers) != 1 {
				t.Errorf("init containers (-want +got):\n%s%d containers", diff, len(got.Spec.Containers))
			}
			if diff := cmp.Diff(c.marked, marked(got)); diff != "" {
				t.Errorf("%s: containers with the stranger's variable (-want +got):\n%s", c.reason, diff)
			}
			ours := mutation{in.configuration(), "rev.namespace.injector.pillion.dev", true}
			theirs := mutation{strangersConfiguration, "stranger.example.org", true}
			r := awaitCreation(t, pod)
			if diff := cmp.Diff([]mutation{ours, theirs}, r.calls(t, "0")); diff != "" {
				t.Errorf("first round (-want +got):\n%s", diff)
			}
			ours.Mutated = c.mutated
			if diff := cmp.Diff([]mutation{ours}, r.calls(t, "1")); diff != "" {
				t.Errorf("second round: %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// marked are the containers that carry the stranger's variable, sorted.
func marked(pod *corev1.Pod) []string {
	var out []string
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == strangersMark }) {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

// strangersConfiguration sorts after ours, so that it is called later.
const strangersConfiguration = "zz-stranger"

// stranger runs and registers a webhook for the pods of one namespace, until the test ends.
func stranger(t *testing.T, namespace string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(strangersReview))
	t.Cleanup(server.Close)
	url, effects := server.URL, admissionregistrationv1.SideEffectClassNone
	c := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: strangersConfiguration},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "stranger.example.org",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			SideEffects:             &effects,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	if _, err := configurations().Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := configurations().Delete(context.Background(), c.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// operation is one of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// strangersReview adds a label, an init container in front, and a variable to every container.
func strangersReview(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	var pod corev1.Pod
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(review.Request.Object.Raw, &pod); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["stranger"] = "was-here"
	pod.Spec.InitContainers = slices.Insert(pod.Spec.InitContainers, 0, corev1.Container{Name: "stranger", Image: "registry.example/stranger:1"})
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			list[i].Env = append(list[i].Env, corev1.EnvVar{Name: strangersMark, Value: "was here"})
		}
	}
	patch, err := json.Marshal([]operation{
		{"add", "/metadata/labels", pod.Labels},
		{"add", "/spec/containers", pod.Spec.Containers},
		{"add", "/spec/initContainers", pod.Spec.InitContainers},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	kind := admissionv1.PatchTypeJSONPatch
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: &kind}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server that goes away needs no answer
}
