// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// A pod may have as many annotations as the API server takes: a template that asks for one of them again
// and again goes on.
func TestManyAnnotations(t *testing.T) {
	text := "metadata:\n  annotations:\n    found: " + strings.Repeat("{{ if isset .ObjectMeta.Annotations `example.com/note-00042` }}y{{ end }}", 100) + "\n    kept: {{ with otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels `a` .Spec.Containers }}{{ . }}{{ end }}\n"
	m, err := mesh.Parse(nil, config.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Policy: policyEnabled, DefaultTemplates: []string{"a"}, Templates: []Template{{Name: "a", Text: text}}, Values: map[string]any{}, Mesh: m}
	e, err := New(c, inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := make([]string, 12_000)
	for i := range notes {
		notes[i] = fmt.Sprintf(`"example.com/note-%05d":"on"`, i)
	}
	doc, err := pod.Parse([]byte(`{"metadata":{"annotations":{` + strings.Join(notes, ",") + `}},"spec":{"containers":[{"name":"a","image":"b"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := pod.Text(pod.Object(pod.Object(r.Tree, "metadata"), "annotations"), "found"); got != strings.Repeat("y", 100) {
		t.Errorf("found %q", got)
	}
}
