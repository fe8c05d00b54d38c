// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
)

const testConfig = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
ignoredNamespaces: [attic]
defaultTemplates: [shipper]
templates:
- name: shipper
  sidecars: [shipper]
  parameters:
  - {name: memory, type: quantity, default: 64Mi, max: 1Gi, annotation: logs.pillion.dev/memory}
  text: |
    metadata:
      annotations:
        logs.example/zone: {{ get .Namespace.Labels "zone" | quote }}
    spec:
      containers:
      - name: shipper
        image: registry.example/shipper:1
        resources: {limits: {memory: {{ .Params.memory | quote }}}}
      imagePullSecrets: [{name: shipper-pull}]
`

func testEngine(t testing.TB, text string) *inject.Engine {
	t.Helper()
	c, err := config.Parse(map[string][]byte{"config.yaml": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := inject.New(c, inject.Options{OwnNamespace: "pillion-system"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// knownFacts is what the cluster knows, without one.
type knownFacts struct {
	labels, annotations map[string]map[string]string // by namespace
	oldNodes            []inject.Node
	nodes               map[string]bool
}

func (f knownFacts) Namespace(name string) (labels, annotations map[string]string, known bool) {
	labels, known = f.labels[name]
	return labels, f.annotations[name], known
}

func (f knownFacts) OldNodes() []inject.Node { return f.oldNodes }

func (f knownFacts) NodeKnown(name string) bool { return f.nodes[name] }

func testMutator(e *inject.Engine, f Facts) *Mutator {
	return &Mutator{Engine: func() *inject.Engine { return e }, Facts: f, Proof: &Proof{}}
}

const plainPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"till"},"spec":{"containers":[{"name":"app","image":"registry.example/till:1"}]}}`

// create is the request for a pod's creation.
func create(namespace, object string) *admission.Request {
	return &admission.Request{
		UID: "u", Operation: "CREATE", Namespace: namespace, Object: []byte(object),
		Kind:     metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
		Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
	}
}
