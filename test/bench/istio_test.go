// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// What the original allocates for the typical case of a recorded corpus, from pod to patch, as
// measured on its own code.
const (
	originalAllocs = 18440
	originalBytes  = 1_300_000
)

// istioBudget is in allocations, from the bytes of request.object to the bytes of a proved patch.
const istioBudget = 3000

// istioCase is a configuration of the Istio dialect with a pod.
type istioCase struct {
	engine    *inject.Engine
	namespace string
	raw       []byte
}

// ownIstio is the typical pod in the example's mesh.
func ownIstio(tb testing.TB) istioCase {
	files := map[string][]byte{}
	for _, name := range []string{"istio-sidecar-injector.yaml", "istio.yaml"} {
		files[name] = read(tb, filepath.Join("../../docs/examples/istio", name))
	}
	return newIstio(tb, files, "shop", []byte(typicalPod))
}

// recordedIstio is the typical case of the corpus at a folder.
func recordedIstio(tb testing.TB, dir string) istioCase {
	at := filepath.Join(dir, "typical/native")
	var c struct {
		RawInjectionConfig, RawMesh, Values string
	}
	var review struct {
		Request struct {
			Namespace string
			Object    json.RawMessage
		}
	}
	for name, into := range map[string]any{"case.json": &c, "request.json": &review} {
		if err := json.Unmarshal(read(tb, filepath.Join(at, name)), into); err != nil {
			tb.Fatal(err)
		}
	}
	files := map[string][]byte{}
	for key, name := range map[string]string{"config": c.RawInjectionConfig, "mesh": c.RawMesh, "values": c.Values} {
		files[key] = read(tb, filepath.Join(dir, name))
	}
	return newIstio(tb, files, review.Request.Namespace, review.Request.Object)
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func newIstio(tb testing.TB, files map[string][]byte, namespace string, raw []byte) istioCase {
	tb.Helper()
	c, err := istio.Parse(files)
	if err != nil {
		tb.Fatal(err)
	}
	e, err := istio.New(c, inject.Options{Revision: "default"})
	if err != nil {
		tb.Fatal(err)
	}
	return istioCase{e, namespace, raw}
}

func (c istioCase) inject(tb testing.TB) []byte {
	doc, err := pod.Parse(c.raw)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := c.engine.Inject(doc, inject.Facts{Namespace: c.namespace, Selected: true})
	if err != nil || !r.Decision.Inject {
		tb.Fatal(r.Decision.Reason, err)
	}
	if err := r.Prove(doc); err != nil {
		tb.Fatal(err)
	}
	return patch.Marshal(r.Patch)
}

// BenchmarkInjectIstio takes the corpus that CORPUS names, where it does. The original's own figures
// stand beside ours.
func BenchmarkInjectIstio(b *testing.B) {
	c := ownIstio(b)
	if dir := os.Getenv("CORPUS"); dir != "" {
		c = recordedIstio(b, dir)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.inject(b)
	}
	b.ReportMetric(originalAllocs, "original-allocs/op")
	b.ReportMetric(originalBytes, "original-B/op")
}
