// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fault names the template that has it, also where another one renders the same text.
func TestLayerFaultsNameTheirTemplate(t *testing.T) {
	var c layers
	for _, name := range []string{"first", "second", "first"} {
		l := c.read(name, "spec: [a: b")
		if l.err == nil || !strings.HasPrefix(l.err.Detail, fmt.Sprintf("template %q: ", name)) {
			t.Errorf("template %s: got %v", name, l.err)
		}
	}
}

// Pods with annotations of any length cannot fill the memory with layers.
func TestLayersAreBounded(t *testing.T) {
	var c layers
	for _, size := range []int{10, maxLayerBytes / 5, maxLayerBytes + 1, 10} {
		for i := range 2 * maxLayers {
			text := fmt.Sprintf("# %d%s", i, strings.Repeat("x", size))
			if first := c.read("a", text); c.read("a", text) != first {
				t.Fatalf("a text of %d bytes was read twice in a row", len(text))
			}
			kept := 0
			for key := range c.known {
				kept += len(key.text)
			}
			if len(c.known) > maxLayers || kept > max(maxLayerBytes, len(text)) {
				t.Fatalf("%d texts of %d bytes are kept", len(c.known), kept)
			}
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
