// SPDX-License-Identifier: Apache-2.0

// Package bench measures the whole way of a pod, and fails when it allocates more than its budget.
// Allocations are counted, since they are the same on every machine; times are only printed.
package bench

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/webhook"
	"github.com/pillion-dev/pillion/templates"
)

// The budgets, in allocations. They are only ever lowered.
const (
	injectBudget  = 3000 // bytes of request.object to patch bytes, proved
	skipBudget    = 50   // bytes of request.object to the decision
	handlerBudget = 3100 // HTTP body to HTTP answer, without TLS
)

// typicalPod is a Deployment's pod as the API server sends it: two application containers and an init
// container, probes, the service account's volume, every default filled in.
const typicalPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"orders-7d9f5c6b8d-","creationTimestamp":null,
"labels":{"app":"orders","app.kubernetes.io/name":"orders","app.kubernetes.io/version":"1.4.2","pod-template-hash":"7d9f5c6b8d"},
"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9102","example.com/build":"20260102.3"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"orders-7d9f5c6b8d","uid":"1f3f4a5e-0000-4000-8000-000000000001","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:name":{}}}}}}]},
"spec":{"volumes":[{"name":"settings","configMap":{"name":"orders","defaultMode":420}},{"name":"kube-api-access-x7k2p","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],
"initContainers":[{"name":"migrate","image":"registry.example/orders-migrate:1.4.2","command":["/migrate"],"args":["--to","latest"],"env":[{"name":"DATABASE_URL","valueFrom":{"secretKeyRef":{"name":"orders-db","key":"url"}}}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
"containers":[{"name":"app","image":"registry.example/orders:1.4.2","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"admin","containerPort":8081,"protocol":"TCP"}],
"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"north"},{"name":"POD_IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}},{"name":"DATABASE_URL","valueFrom":{"secretKeyRef":{"name":"orders-db","key":"url"}}}],
"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"250m","memory":"512Mi"}},
"volumeMounts":[{"name":"settings","mountPath":"/etc/orders"},{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"livenessProbe":{"httpGet":{"path":"/livez","port":"admin","scheme":"HTTP"},"initialDelaySeconds":10,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
"readinessProbe":{"httpGet":{"path":"/readyz","port":"admin","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3},
"lifecycle":{"preStop":{"exec":{"command":["sleep","5"]}}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"runAsNonRoot":true,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}},
{"name":"exporter","image":"registry.example/exporter:2.1","ports":[{"name":"metrics","containerPort":9102,"protocol":"TCP"}],"resources":{"limits":{"memory":"64Mi"},"requests":{"cpu":"10m","memory":"64Mi"}},
"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"readinessProbe":{"httpGet":{"path":"/","port":9102,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"orders","serviceAccount":"orders","securityContext":{"fsGroup":2000},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{}}`

func engine(tb testing.TB) *inject.Engine {
	tb.Helper()
	c, err := config.Parse(templates.Files())
	if err != nil {
		tb.Fatal(err)
	}
	c.Proof = "always"
	e, err := inject.New(c, inject.Options{OwnNamespace: "pillion-system"})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

var facts = inject.Facts{Namespace: "shop", NamespaceLabels: map[string]string{"pillion.dev/inject": "enabled"}, Selected: true}

func injectOnce(tb testing.TB, e *inject.Engine, raw []byte) []byte {
	doc, err := pod.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := e.Inject(doc, facts)
	if err != nil || !r.Decision.Inject {
		tb.Fatal(r.Decision.Reason, err)
	}
	if err := r.Prove(doc); err != nil {
		tb.Fatal(err)
	}
	return patch.Marshal(r.Patch)
}

func skipOnce(tb testing.TB, e *inject.Engine, raw []byte) {
	doc, err := pod.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := e.Inject(doc, facts)
	if err != nil || r.Decision.Inject {
		tb.Fatal(r.Decision.Reason, err)
	}
}

func skipped() []byte {
	return bytes.Replace([]byte(typicalPod), []byte(`"labels":{`), []byte(`"labels":{"pillion.dev/inject":"disabled",`), 1)
}

func review(tb testing.TB, object string) []byte {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": map[string]any{
			"uid": "7c1f0a52-5b1d-4d0a-9a51-2f4f0f6f1b01", "operation": "CREATE", "namespace": "shop", "dryRun": false, "oldObject": nil,
			"kind":     map[string]any{"group": "", "version": "v1", "kind": "Pod"},
			"resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
			"userInfo": map[string]any{"username": "system:serviceaccount:kube-system:replicaset-controller", "groups": []string{"system:authenticated"}},
			"object":   json.RawMessage(object), "options": map[string]any{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// answer is a ResponseWriter that keeps only the status and the length.
type answer struct {
	header http.Header
	status int
	length int
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }
func (a *answer) Write(b []byte) (int, error) {
	a.length += len(b)
	return len(b), nil
}

func handle(tb testing.TB, h http.Handler, body []byte) {
	req := httptest.NewRequest(http.MethodPost, "/inject?timeout=5s", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	a := &answer{header: http.Header{}}
	h.ServeHTTP(a, req)
	if a.status != http.StatusOK || a.length < 1000 {
		tb.Fatalf("HTTP %d, %d bytes", a.status, a.length)
	}
}

func handler(tb testing.TB) http.Handler {
	e := engine(tb)
	m := &webhook.Mutator{Engine: func() *inject.Engine { return e }, Proof: &webhook.Proof{}}
	return admission.Handler(m, admission.Options{Mount: "/inject"})
}

func TestBudgets(t *testing.T) {
	e, h, body, mesh := engine(t), handler(t), review(t, typicalPod), ownIstio(t)
	cases := map[string]struct {
		run    func()
		budget float64
	}{
		"inject":  {func() { injectOnce(t, e, []byte(typicalPod)) }, injectBudget},
		"skip":    {func() { skipOnce(t, e, skipped()) }, skipBudget},
		"handler": {func() { handle(t, h, body) }, handlerBudget},
		"istio":   {func() { mesh.inject(t) }, istioBudget},
	}
	for name, c := range cases {
		got := testing.AllocsPerRun(50, c.run)
		t.Logf("%s: %.0f allocations of %.0f", name, got, c.budget)
		if got > c.budget && !raced {
			t.Errorf("%s: %.0f allocations, the budget is %.0f", name, got, c.budget)
		}
	}
}

func BenchmarkInject(b *testing.B) {
	e, raw := engine(b), []byte(typicalPod)
	b.ReportAllocs()
	for b.Loop() {
		injectOnce(b, e, raw)
	}
}

func BenchmarkSkip(b *testing.B) {
	e, raw := engine(b), skipped()
	b.ReportAllocs()
	for b.Loop() {
		skipOnce(b, e, raw)
	}
}

func BenchmarkHandler(b *testing.B) {
	h, body := handler(b), review(b, typicalPod)
	b.ReportAllocs()
	for b.Loop() {
		handle(b, h, body)
	}
}
