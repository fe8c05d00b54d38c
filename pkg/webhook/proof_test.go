// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// injected is a pod of so many containers and what the engine makes of it.
func injected(t *testing.T, e *inject.Engine, containers int) (pod.Doc, inject.Result) {
	t.Helper()
	list := make([]string, containers)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"app-%d","image":"registry.example/till:1"}`, i)
	}
	doc, err := pod.Parse([]byte(`{"metadata":{"name":"till"},"spec":{"containers":[` + strings.Join(list, ",") + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true, OldNodes: []inject.Node{{Name: "old"}}})
	if err != nil || len(r.Patch) == 0 {
		t.Fatalf("not injected: %v", err)
	}
	return doc, r
}

// broken is the result with a patch that is not the one that makes its pod.
func broken(r inject.Result, how string) inject.Result {
	r.Patch = slices.Clone(r.Patch)
	switch how {
	case "does not apply":
		r.Patch = append(r.Patch, patch.Op{Op: "replace", Path: "/spec/containers/77/image", Value: "registry.example/other:1"})
	case "makes another pod":
		r.Patch = append(r.Patch, patch.Op{Op: "add", Path: "/spec/hostNetwork", Value: true})
	case "makes no pod":
		r.Patch = append(r.Patch, patch.Op{Op: "add", Path: "/spec/hostNetwork", Value: "yes"})
		r.Tree = nil
	}
	return r
}

// The first patch of a shape is proved, then one request in so many.
func TestProofSamples(t *testing.T) {
	e := testEngine(t, testConfig)
	p := &Proof{}
	doc, good := injected(t, e, 1)
	bad := broken(good, "does not apply")
	if shapeOf(bad) == shapeOf(good) {
		t.Fatal("another path, the same shape")
	}
	if !p.due(e, good) {
		t.Error("the first of a shape is not proved")
	}
	var proved []int
	for n := 2; n <= 3*sampleEvery; n++ {
		if p.due(e, good) {
			proved = append(proved, n)
		}
	}
	if diff := cmp.Diff([]int{sampleEvery, 2 * sampleEvery, 3 * sampleEvery}, proved); diff != "" {
		t.Errorf("requests proved of a known shape (-want +got):\n%s", diff)
	}
	_, other := injected(t, e, 2)
	if !p.due(e, other) || p.due(e, other) {
		t.Error("another shape is to be proved once")
	}
	if err := p.check(e, doc, good); err != nil {
		t.Error(err)
	}
}

// A patch that is wrong is never sent, the failure is told, and from then on every patch is proved.
func TestProofFails(t *testing.T) {
	e := testEngine(t, testConfig)
	for _, how := range []string{"does not apply", "makes another pod", "makes no pod"} {
		t.Run(how, func(t *testing.T) {
			failures := 0
			p := &Proof{Failed: func() { failures++ }}
			doc, good := injected(t, e, 1)
			for range 3 {
				if err := p.check(e, doc, good); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.check(e, doc, broken(good, how)); err == nil || failures != 1 {
				t.Fatalf("got %v, told %d times", err, failures)
			}
			for n := range 2 * sampleEvery {
				if !p.due(e, good) {
					t.Fatalf("request %d after a failure is not proved", n+1)
				}
			}
			if err := p.check(e, doc, good); err != nil || failures != 1 {
				t.Errorf("a good patch after a failure: %v, told %d times", err, failures)
			}
			if err := p.check(e, doc, broken(good, how)); err == nil || failures != 2 {
				t.Errorf("a second failure: %v, told %d times", err, failures)
			}
		})
	}
}

// A patch of a known shape and wrong values passes unproved until its turn comes: this is what the
// sampling gives away, and proof: always does not.
func TestProofAlways(t *testing.T) {
	for _, c := range []struct {
		mode   string
		caught bool
	}{{"sampled", false}, {"always", true}} {
		t.Run(c.mode, func(t *testing.T) {
			e := testEngine(t, testConfig+"proof: "+c.mode+"\n")
			p := &Proof{}
			doc, good := injected(t, e, 1)
			if err := p.check(e, doc, good); err != nil {
				t.Fatal(err)
			}
			bad := good
			bad.Patch = slices.Clone(good.Patch)
			bad.Patch[0].Value = "other"
			if shapeOf(bad) != shapeOf(good) {
				t.Fatal("other values make another shape")
			}
			if err := p.check(e, doc, bad); (err != nil) != c.caught {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What is remembered is bounded: beyond, a shape may be proved again, and never passes unproved.
func TestProofForgets(t *testing.T) {
	e := testEngine(t, testConfig)
	p := &Proof{}
	_, r := injected(t, e, 1)
	for n := range 3 * maxShapes {
		r.Hash = fmt.Sprint(n)
		if !p.due(e, r) {
			t.Fatalf("shape %d is not proved", n)
		}
	}
	held := 0
	p.seen.Range(func(any, any) bool {
		held++
		return true
	})
	if held > maxShapes {
		t.Errorf("%d shapes are held, of at most %d", held, maxShapes)
	}
}

// The webhook sends no patch that it could not prove: the request ends broken, and the failure policy
// decides.
func TestReviewSendsNoUnprovedPatch(t *testing.T) {
	failures, proved := 0, 0
	m := testMutator(testEngine(t, testConfig), nil)
	m.Proof = &Proof{Failed: func() { failures++ }, prove: func(r inject.Result, doc pod.Doc) error {
		proved++
		return broken(r, "does not apply").Prove(doc)
	}}
	for n := range 3 {
		resp, err := m.Review(t.Context(), create("shop", plainPod))
		if err == nil || resp.Patch != nil || resp.AuditAnnotations != nil || proved != n+1 || failures != n+1 {
			t.Errorf("request %d: %s, %v; proved %d, failed %d times", n+1, resp.Patch, err, proved, failures)
		}
	}
	if _, err := m.Review(t.Context(), create("attic", plainPod)); err != nil || proved != 3 {
		t.Errorf("a skipped pod has no patch to prove: %v, proved %d times", err, proved)
	}
}
