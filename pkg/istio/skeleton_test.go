// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/render"
)

// renderedOf is a text with its pieces between « and ».
func renderedOf(marked string) render.Rendered {
	var r render.Rendered
	var b strings.Builder
	from := 0
	for _, c := range marked {
		switch c {
		case '«':
			from = b.Len()
		case '»':
			r.Pieces = append(r.Pieces, render.Piece{From: from, To: b.Len()})
		default:
			b.WriteRune(c)
		}
	}
	r.Text = b.String()
	return r
}

// sameLayer reads a text through what has been learnt, and by the parser.
func sameLayer(t *testing.T, c *layers, r render.Rendered) {
	t.Helper()
	want, got := readLayer("a", r.Text), c.read("a", r)
	if diff := cmp.Diff(want.err, got.err); diff != "" {
		t.Fatalf("%s\nerror (-parsed +learnt)\n%s", r.Text, diff)
	}
	if diff := cmp.Diff(want.unknown, got.unknown); diff != "" {
		t.Fatalf("%s\nunknown fields (-parsed +learnt)\n%s", r.Text, diff)
	}
	if diff := cmp.Diff(want.tree, got.tree); diff != "" || !pod.Equal(want.tree, got.tree) {
		t.Fatalf("%s\n(-parsed +learnt)\n%s", r.Text, diff)
	}
}

// Nasty values, each of which some context takes for something else.
var nasty = []string{
	"a", "web-1", "true", "True", "y", "no", "null", "~", "1", "0", "-0", "007", "1e3", "0x1f", "0o17", "0b1", "1_000", ".5", "5.", ".inf", "12:30:45", "2001-01-01", "2001-01-01T00:00:00Z",
	"<<", "=", "-", "- a", "a: b", "a:b", "a #b", "#b", "&a", "*a", "!a", "!!str a", "[a", "a]", "{a: b}", "a,b", "|", ">", "%a", "@a", "`a", `"a"`, `"`, `a"b`, `'`, `it's`, `a\`, `\n`, `"a: b"`, `"a", "b"`, `["a","b"]`, `{"a":"b"}`,
	" a", "a ", "a  b", "", "é", "a\nb", "a\n  b: c", "\u2028", "100m", "1Gi", "1.0", "0.5", "65536", "9223372036854775808", "Hole000001", "Hole000000.a_b/c-d.0e", "7000000", "\x01", "?", "? a", "...", "---", "*", "$(A)", strings.Repeat("x", 300),
}

// contexts are layers with two pieces; A and B stand for them.
var contexts = []string{
	"metadata:\n  labels:\n    one: A\n    two: B\n",
	"metadata:\n  labels:\n    one: \"A\"\n    two: 'B'\n",
	"metadata:\n  labels:\n    one: x-A-B\n    two: A.B\n",
	"metadata:\n  labels:\n    A: one\n    B: \"two\"\n",
	"metadata:\n  labels:\n    \"A\": one # B\n",
	"metadata:\n  annotations:\n    json: |\n      A\n      [B]\n    next: x\n",
	"metadata:\n  annotations:\n    json: |-\n      [\n      A,B\n      ]\n",
	"metadata:\n  annotations:\n    folded: >\n      A\n      B\n",
	"metadata: {labels: {one: A, two: \"B\"}}\n",
	"spec:\n  containers:\n  - name: A\n    image: B\n",
	"spec:\n  containers:\n  - name: x\n    args: [A, \"B\"]\n",
	"spec:\n  containers:\n  - name: x\n    args:\n    - A\n    - --b=B\n",
	"spec:\n  containers:\n  - name: x\n    env:\n    - name: ONE\n      value: A\n    - name: TWO\n      value: \"B\"\n",
	"spec:\n  containers:\n  - name: x\n    env:\n    - name: A\n    - name: B\n",
	"spec:\n  containers:\n  - name: x\n    ports:\n    - containerPort: A\n    - containerPort: B\n",
	"spec:\n  containers:\n  - name: x\n    resources:\n      limits:\n        cpu: A\n        memory: \"B\"\n",
	"spec:\n  containers:\n  - name: x\n    securityContext:\n      runAsUser: A\n      privileged: B\n",
	"spec:\n  containers:\n  - name: x\n    readinessProbe:\n      httpGet: {port: A, path: \"B\"}\n      initialDelaySeconds: A\n",
	"spec:\n  terminationGracePeriodSeconds: A\n  hostNetwork: B\n",
	"spec:\n  volumes:\n  - emptyDir: {medium: A}\n    name: v\n  - name: w\n    emptyDir: {}\n    hostPath: {path: B}\n",
	"spec:\n  strange: A\n  serviceAccountName: B\n",
	"spec:\n  $patch: A\n  hostname: B\n",
	"spec:\n  a: &A x\n  hostname: *B\n",
	"spec:\n  finalizers: [A, B]\nmetadata:\n  finalizers: [A, B]\n",
	"A\nspec: {}\n", "A: B\n", "spec:\nA\n", "- A\n- B\n", "'A' : 'B'\n", "%A\n---\nB: x\n",
}

func inContext(context, a, b string) render.Rendered {
	return renderedOf(strings.NewReplacer("A", "«"+a+"»", "B", "«"+b+"»").Replace(context))
}

// TestSkeletonTellsWhatTheParserTells fills every context with every pair of nasty values.
func TestSkeletonTellsWhatTheParserTells(t *testing.T) {
	for _, context := range contexts {
		var c layers
		for range 2 {
			sameLayer(t, &c, inContext(context, "web", "other"))
			sameLayer(t, &c, inContext(context, "a,b", `{"x":"y"}`))
		}
		for i, a := range nasty {
			for _, b := range []string{"web", nasty[(i*7+3)%len(nasty)]} {
				sameLayer(t, &c, inContext(context, a, b))
				sameLayer(t, &c, inContext(context, b, a))
			}
		}
	}
}

// FuzzSkeleton: what has been learnt of a template makes no difference, in whatever order texts come.
func FuzzSkeleton(f *testing.F) {
	for i := range contexts {
		f.Add(uint64(i), contexts[i], "a", "true")
		f.Add(uint64(i), contexts[i], "web-2", `["x"]`)
	}
	f.Fuzz(func(t *testing.T, seed uint64, context, a, b string) {
		if len(context)+len(a)+len(b) > 2000 || strings.Count(context, "A")+strings.Count(context, "B") > 20 || strings.ContainsAny(context+a+b, "«»") {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		values := append([]string{a, b}, nasty...)
		pick := func() string { return values[r.IntN(min(len(values), 4+r.IntN(len(values))))] }
		var c layers
		for range 12 {
			one, two := pick(), pick()
			sameLayer(t, &c, inContext(context, one, two))
			sameLayer(t, &c, inContext(context, two, one))
		}
	})
}

// A text that has what fills holes teaches nothing, least of all about texts that have it not.
func TestSkeletonStaysLearnt(t *testing.T) {
	var c layers
	text := func(app string) render.Rendered {
		return renderedOf("metadata:\n  labels:\n    app: «" + app + "»\n")
	}
	for _, app := range []string{holeName + "1", holeName + "1", holeName + "1", "a", "b", "c"} {
		sameLayer(t, &c, text(app))
	}
	parsed := testing.AllocsPerRun(20, func() { readLayer("a", text("d").Text) })
	if n := testing.AllocsPerRun(20, func() { c.read("a", text("d")) }); n > parsed/2 {
		t.Errorf("%.0f allocations, the parser takes %.0f", n, parsed)
	}
}

func TestSkeletonSavesTheParser(t *testing.T) {
	var c layers
	text := func(i int) render.Rendered {
		return renderedOf(fmt.Sprintf("metadata:\n  labels:\n    app: «web-%d»\nspec:\n  containers:\n  - name: p\n    args: [\"«a%d,b»\"]\n    env:\n    - name: E\n      value: |-\n        [«{\"port\":%d}»]\n", i, i, i))
	}
	for i := range 3 {
		c.read("a", text(i))
	}
	if n := testing.AllocsPerRun(50, func() { c.read("a", text(7)) }) - testing.AllocsPerRun(50, func() { text(7) }); n > 30 {
		t.Errorf("%.0f allocations for a text of a known skeleton", n)
	}
	l := c.read("a", text(7))
	want := readLayer("a", text(7).Text)
	if diff := cmp.Diff(want.tree, l.tree); diff != "" {
		t.Error(diff)
	}
}
