// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/render"
)

// A fault names the template that has it, also where another one renders the same text.
func TestLayerFaultsNameTheirTemplate(t *testing.T) {
	var c layers
	for _, name := range []string{"first", "second", "first"} {
		l := c.read(name, render.Rendered{Text: "spec: [a: b"})
		if l.err == nil || !strings.HasPrefix(l.err.Detail, fmt.Sprintf("template %q: ", name)) {
			t.Errorf("template %s: got %v", name, l.err)
		}
	}
}

// Pods with annotations of any length cannot fill the memory with skeletons.
func TestSkeletonsAreBounded(t *testing.T) {
	var c layers
	for _, size := range []int{10, maxSkeletonKeys / 5, maxSkeletonKeys, 10} {
		for i := range 40 {
			r := render.Rendered{Text: fmt.Sprintf("# %d%s", i, strings.Repeat("x", size))}
			first, second, third := c.read("a", r), c.read("a", r), c.read("a", r)
			if first.err != nil || second.err != nil || third.err != nil {
				t.Fatal(first.err, second.err, third.err)
			}
			kept := 0
			for key := range c.known {
				kept += len(key)
			}
			if len(c.known) > maxSkeletons || kept > maxSkeletonKeys || kept != c.bytes {
				t.Fatalf("%d keys of %d bytes are kept, %d are counted", len(c.known), kept, c.bytes)
			}
		}
		if len(c.known) == 0 {
			t.Fatal("nothing is kept")
		}
	}
}

// Unknown fields are told in the order of their paths, and not without end.
func TestLayerTellsUnknownFields(t *testing.T) {
	var text strings.Builder
	var want []string
	text.WriteString("spec:\n")
	for i := range 3 * maxUnknown {
		fmt.Fprintf(&text, "  strange%04d: 1\n", i)
		want = append(want, fmt.Sprintf("spec.strange%04d", i))
	}
	l := readLayer("a", "kindness: 1\n"+text.String()+"metadata: {odd: {}, labels: {any: x}}\n")
	want = slices.Concat([]string{"kindness", "metadata.odd"}, want)[:maxUnknown]
	if diff := cmp.Diff(want, l.unknown); diff != "" || l.err != nil {
		t.Errorf("(-want +got) %s, error %v", diff, l.err)
	}
}
