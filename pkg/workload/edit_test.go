// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pillion-dev/pillion/pkg/patch"
)

func TestApplyErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		op     patch.Op
		want   string
	}{
		"Missing":    {"What is not there cannot be removed.", op("remove", "/spec/x", nil), "remove /spec/x in cronjob/tidy -n shop: there is no such value"},
		"NoParent":   {"A parent is not made.", op("add", "/metadata/labels", "x"), "add /metadata/labels in cronjob/tidy -n shop: there is no such value"},
		"Index":      {"An index beyond the end is none.", op("add", "/spec/containers/2", "x"), "add /spec/containers/2 in cronjob/tidy -n shop: there is no such value"},
		"LeadingNil": {"An index has one way of writing.", op("replace", "/spec/containers/00", "x"), "replace /spec/containers/00 in cronjob/tidy -n shop: there is no such value"},
		"Scalar":     {"A scalar holds nothing.", op("add", "/spec/restartPolicy/x", "x"), "add /spec/restartPolicy/x in cronjob/tidy -n shop: there is no such value"},
		"Kind":       {"The kind that JSON shows is not in a template.", op("replace", "/kind", "x"), "replace /kind in cronjob/tidy -n shop: a pod template has no such field"},
		"Root":       {"The pod cannot be another one.", op("replace", "", nil), "replace  in cronjob/tidy -n shop: the path leads nowhere inside a pod"},
		"Move":       {"Only what a diff makes is known.", op("move", "/spec", nil), "move /spec in cronjob/tidy -n shop: no such operation"},
		"Value":      {"A value is a tree.", op("add", "/spec/a", 1.5), "add /spec/a in cronjob/tidy -n shop: float64 is no tree value"},
		"Number":     {"A number that YAML would read as text is refused.", op("add", "/spec/a", json.Number("1e999")), "add /spec/a in cronjob/tidy -n shop: the number 1e999 is too large to be written"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Read([]byte(cronJob))
			if err != nil {
				t.Fatal(err)
			}
			p := s.Pods()[0]
			before := string(p.JSON())
			got := "no error"
			if err := p.Apply([]patch.Op{op("add", "/spec/first", "x"), tc.op}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			text, err := s.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != cronJob || string(p.JSON()) != before {
				t.Error("a patch that fails must change nothing")
			}
		})
	}
}

// What two patches do one after the other is what one does with the operations of both, and the
// same patches give the same bytes.
func TestApplyTwice(t *testing.T) {
	ops := []patch.Op{
		op("add", "/spec/containers/0", sidecar()), op("add", "/spec/volumes", []any{map[string]any{"name": "v", "b": nil, "a": true}}),
		op("remove", "/spec/containers/0/args/0", nil), op("replace", "/spec/volumes/0/a", pointless()),
	}
	var texts []string
	for _, cut := range []int{0, 1, 2, 3, 4} {
		s, err := Read([]byte(deployment))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range [][]patch.Op{ops[:cut], ops[cut:]} {
			if err := s.Pods()[0].Apply(part); err != nil {
				t.Fatal(err)
			}
		}
		text, err := s.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts[1:] {
		if diff := cmp.Diff(texts[0], text); diff != "" {
			t.Error(diff)
		}
	}
}

func pointless() map[string]any {
	m := map[string]any{}
	for _, text := range texts {
		m[text] = text
	}
	return m
}

// The tree that an operation brings stays the caller's.
func TestApplyKeepsValues(t *testing.T) {
	s, err := Read([]byte(plainPod))
	if err != nil {
		t.Fatal(err)
	}
	value := sidecar()
	p := s.Pods()[0]
	if err := p.Apply([]patch.Op{op("add", "/spec/containers/-", value), op("replace", "/spec/containers/1/name", "other")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sidecar(), value); diff != "" {
		t.Error(diff)
	}
	p.JSON()[0] = 'x'
	if p.JSON()[0] != '{' {
		t.Error("the pod's JSON can be written to from outside")
	}
}

// JSON may hold these characters raw, but readers of YAML, which take JSON too, do not.
func TestApplyEscapesForYAMLReaders(t *testing.T) {
	s, err := Read([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Pods()[0].Apply([]patch.Op{op("add", "/spec/hostname", "a\u0085b\u007fc\ufffe\u00e9")}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if want := `"a\u0085b\u007fc\ufffe` + "\u00e9" + `"`; !strings.Contains(string(out), want) {
		t.Errorf("got %s, want %s in it", out, want)
	}
}

// A null that is written as nothing at all stays one where the document is written anew.
func TestApplyBesideImplicitNull(t *testing.T) {
	s, err := Read([]byte("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: app, image:*\"x\"}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Pods()[0]
	if err := p.Apply([]patch.Op{op("add", "/spec/hostname", "h")}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(p.JSON()), string(again.Pods()[0].JSON())); diff != "" {
		t.Errorf("%s\nin\n%s", diff, out)
	}
}

// Text that would swallow the comment after it is written so that it does not.
func TestApplyBlockBeforeComment(t *testing.T) {
	s, err := Read([]byte(tailComments))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Pods()[0].Apply([]patch.Op{op("replace", "/spec/a", "one\ntwo\n")}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	want := "apiVersion: v1\nkind: Pod\nspec:\n  a: \"one\\ntwo\\n\"\n\n    # deep\n  # shallow\n\n# root\n\n\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
