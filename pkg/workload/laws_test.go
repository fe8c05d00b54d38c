// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	sigsyaml "sigs.k8s.io/yaml"
)

// FuzzRead states: no bytes make Read panic; what is not touched comes back byte for byte; and a
// pod's JSON is what kubectl would send.
func FuzzRead(f *testing.F) {
	for _, text := range manifests {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(data)
		if err != nil {
			return
		}
		got, err := s.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, got) {
			t.Fatalf("untouched stream changed:\n%s", cmp.Diff(string(data), string(got)))
		}
		for _, p := range s.Pods() {
			if p.Bare() && p.Pointer() == "" && !p.doc.src.json {
				sameAsKubectl(t, p)
			}
		}
	})
}

var manyDigits = regexp.MustCompile(`[0-9_]{19}`)

func sameAsKubectl(t *testing.T, p *Pod) {
	t.Helper()
	// kubectl has other ways with tags, with a sign after 0b, and with keys that are truth values of
	// YAML 1.1, and it loses digits of long numbers.
	text := p.doc.src.text
	if bytes.ContainsAny(text, "!%") || bytes.Contains(text, []byte("0b")) || manyDigits.Match(text) {
		return
	}
	raw, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return
	}
	want, err := pod.Decode(raw)
	if err != nil || bytes.Contains(raw, []byte(`"true":`)) || bytes.Contains(raw, []byte(`"false":`)) {
		return
	}
	if got := p.JSON(); !bytes.Equal(got, pod.Encode(want)) {
		t.Errorf("not what kubectl reads in\n%s\n%s", text, cmp.Diff(string(pod.Encode(want)), string(got)))
	}
}

// FuzzApply states: a patch on a document does what it does on the pod's tree; the text that comes
// out reads as that; the other pods and documents stay.
func FuzzApply(f *testing.F) {
	for i, text := range manifests {
		for seed := range 20 {
			f.Add([]byte(text), uint64(i*100+seed))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		s, err := Read(data)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		var want []string
		for _, p := range s.Pods() {
			want = append(want, mutate(t, r, p))
		}
		text, err := s.Bytes()
		if err != nil {
			t.Fatalf("%v\nof\n%s", err, data)
		}
		again, err := Read(text)
		if err != nil {
			t.Fatalf("the output does not read: %v\n%s\nof\n%s", err, text, data)
		}
		var got []string
		for _, p := range again.Pods() {
			got = append(got, string(p.JSON()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("pods differ:\n%s\nin\n%s\nof\n%s", diff, text, data)
		}
		sameRest(t, s, again)
	})
}

// mutate applies random operations to a pod and gives the JSON that it must have then.
func mutate(t *testing.T, r *rand.Rand, p *Pod) string {
	t.Helper()
	tree, err := pod.Decode(p.JSON())
	if err != nil {
		t.Fatalf("the pod's JSON does not read: %v", err)
	}
	var ops []patch.Op
	for range r.IntN(5) {
		op := randomOp(r, tree)
		if !p.Bare() && (strings.HasPrefix(op.Path, "/apiVersion") || strings.HasPrefix(op.Path, "/kind")) {
			continue
		}
		if p.Bare() && !strings.HasPrefix(op.Path, "/spec") && op.Path != "/metadata/labels" {
			continue // the document must stay a Pod of a name
		}
		next, err := patch.Apply(tree, []patch.Op{op})
		if err != nil {
			continue
		}
		tree, ops = next, append(ops, op)
	}
	if err := p.Apply(ops); err != nil {
		t.Fatalf("apply %v: %v", ops, err)
	}
	want := string(pod.Encode(tree))
	if diff := cmp.Diff(want, string(p.JSON())); diff != "" {
		t.Fatalf("patch %v:\n%s", ops, diff)
	}
	return want
}

func sameRest(t *testing.T, before, after *Stream) {
	t.Helper()
	if len(before.parts) != len(after.parts) {
		t.Fatalf("%d parts became %d", len(before.parts), len(after.parts))
	}
	for i, p := range before.parts {
		if (p.doc == nil || p.doc.was == nil) && !bytes.Equal(p.raw, after.parts[i].raw) {
			t.Fatalf("an untouched document changed:\n%s", cmp.Diff(string(p.raw), string(after.parts[i].raw)))
		}
	}
}

// randomOp makes an operation at a random place of a tree.
func randomOp(r *rand.Rand, tree any) patch.Op {
	path, at := []byte{}, tree
	for {
		token, next := randomToken(r, at)
		path = pod.AppendToken(path, token)
		deeper := false
		switch next.(type) {
		case map[string]any, []any:
			deeper = r.IntN(4) > 0
		}
		if !deeper {
			break
		}
		at = next
	}
	op := patch.Op{Op: []string{"add", "add", "replace", "remove"}[r.IntN(4)], Path: string(path)}
	if op.Op != "remove" {
		op.Value = randomValue(r, 3)
	}
	return op
}

func randomToken(r *rand.Rand, at any) (string, any) {
	switch v := at.(type) {
	case map[string]any:
		if len(v) > 0 && r.IntN(4) > 0 {
			keys := sortedKeys(v)
			key := keys[r.IntN(len(keys))]
			return key, v[key]
		}
		return randomText(r), nil
	case []any:
		i := r.IntN(len(v) + 1)
		if i < len(v) {
			return strconv.Itoa(i), v[i]
		}
		return strconv.Itoa(i), nil
	}
	return "x", nil
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range r.IntN(4) {
			m[randomText(r)] = randomValue(r, depth-1)
		}
		return m
	case n < 5 && depth > 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	case n == 5:
		return r.Int64() - r.Int64()
	case n == 6:
		return r.IntN(2) == 0
	case n == 7:
		return pod.Number([]string{"0.5", "-2.25", "18446744073709551615", "9007199254740993"}[r.IntN(4)])
	}
	return randomText(r)
}

func randomText(r *rand.Rand) string {
	if r.IntN(4) > 0 {
		return texts[r.IntN(len(texts))]
	}
	const letters = "ab:#-?,[]{}&*!|>'\"%@` \n\t~/=.09eE_\\é☃\u2028\u0085\x7f\x00"
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}
