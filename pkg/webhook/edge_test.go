// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// What concerns only a manifest is not told behind the API server, which has added the service
// account's pull secrets already.
func TestReviewFiltersWarnings(t *testing.T) {
	e := testEngine(t, testConfig)
	doc, err := pod.Parse([]byte(plainPod))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Reason != reason.PullSecretsReplace {
		t.Fatalf("the engine warns of %v, %v", r.Warnings, err)
	}
	if got := review(t, testMutator(e, nil), create("shop", plainPod)); got.Warnings != nil {
		t.Errorf("told: %q", got.Warnings)
	}
}

// Until a configuration is loaded the API server is asked to come again, which it does within the
// webhook's timeout.
func TestReviewBeforeAConfiguration(t *testing.T) {
	m := testMutator(nil, nil)
	if _, err := m.Review(t.Context(), create("shop", plainPod)); !errors.Is(err, admission.ErrNotReady) {
		t.Errorf("got %v", err)
	}
	body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","namespace":"shop",
		"resource":{"group":"","version":"v1","resource":"pods"},"object":` + plainPod + `}}`
	req := httptest.NewRequest(http.MethodPost, "/inject", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	admission.Handler(m, admission.Options{}).ServeHTTP(rec, req)
	if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "1" {
		t.Errorf("HTTP %d, Retry-After %q: %s", rec.Code, rec.Header().Get("Retry-After"), rec.Body)
	}
}

// One line tells each decision; by name even where the API server is yet to make one, and above
// debug only where a review holds no pod.
func TestReviewLogs(t *testing.T) {
	generated := strings.Replace(plainPod, `"name":"till"`, `"generateName":"till-7d9f5c6b8d-","labels":{"pod-template-hash":"7d9f5c6b8d"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"till-7d9f5c6b8d","uid":"u","controller":true}]`, 1)
	long := create("shop", plainPod)
	long.Operation = strings.Repeat("X", 300)
	cases := map[string]struct {
		req  *admission.Request
		want string
	}{
		"injected": {create("shop", generated), `level=DEBUG msg="reviewed a request" operation=CREATE resource=pods namespace=shop name=till-7d9f5c6b8d-* owner=Deployment/till decision=injected reason=policy_enabled templates=shipper dryRun=false`},
		"skipped":  {create("attic", plainPod), `level=DEBUG msg="reviewed a request" operation=CREATE resource=pods namespace=attic name=till owner=Pod/till decision=skipped reason=ignored_namespace templates="" dryRun=false`},
		"no pod":   {create("shop", "null"), `level=WARN msg="reviewed a request" operation=CREATE resource=pods namespace=shop name="" owner="" decision=refused reason=pod_unreadable templates="" dryRun=false error="INJ301 pod_unreadable: no object"`},
		"foreign":  {&admission.Request{Operation: "DELETE", Name: "till"}, `level=DEBUG msg="reviewed a request" operation=DELETE resource="" namespace="" name=till owner="" decision=skipped reason=not_pod_create templates="" dryRun=false`},
		"bounded":  {long, `level=DEBUG msg="reviewed a request" operation=` + strings.Repeat("X", 253) + ` resource=pods namespace=shop name="" owner="" decision=skipped reason=not_pod_create templates="" dryRun=false`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			m := testMutator(testEngine(t, testConfig), nil)
			m.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			_, _ = m.Review(t.Context(), c.req)
			_, got, _ := strings.Cut(strings.TrimSpace(out.String()), " ") // without the time
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
