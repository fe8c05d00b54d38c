// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

var treeSeeds = []string{
	`{}`, `[]`, `null`, `true`, ` [ false , {} , [ ] ] `, `"a"`, `""`, `"\u00e9\n\\\"\ud83d\ude00é"`, `0`, `-0`, `-1`, `1e3`, `1.50`, `12345678901234567890`, `9223372036854775807`,
	`{"a":{"b":[1,"x",null,{"c":true}]},"\u0061b":2,"":3}`, "\t{\n\"a\" :\r[ 1 , 2 ]\n}\n", strings.Repeat("[", 300) + strings.Repeat("]", 300),
	`{"a":1,"a":2}`, `{"a":1,}`, `[1,]`, `{"a"}`, `{"a":}`, `]`, `}`, `{"a":1`, `["a`, `"\ud800"`, "\"\xff\"", `tru`, `01`, `1 2`, ``, ` `, `{]`, `[}`, `{"a":[}]`, `[1 2]`, `nullnull`,
}

// FuzzTree: valid bytes give the tree that the judging decoder makes, others its error, and the trees of
// a Doc are the same.
func FuzzTree(f *testing.F) {
	for _, seed := range treeSeeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(deploymentPod))
	f.Fuzz(func(t *testing.T, raw []byte) {
		treeOf(raw) // any bytes: it ends
		want, wantErr := judge(raw)
		got, err := Decode(raw)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %#v, want %#v", got, want)
		}
		doc, err := Parse(raw)
		if err != nil {
			return
		}
		if wantErr != nil {
			t.Fatalf("a Doc of bytes that are not valid: %v", wantErr)
		}
		if tree, err := doc.Tree(); err == nil && !reflect.DeepEqual(any(tree), want) {
			t.Fatalf("the Doc's tree is %#v, want %#v", tree, want)
		}
	})
}

func TestTreeOfNoJSONEnds(t *testing.T) {
	for _, text := range []string{"[", `{"a":`, `[{"a":[`} {
		treeOf(bytes.Repeat([]byte(text), 1<<20))
	}
}

func BenchmarkTree(b *testing.B) {
	raw := []byte(deploymentPod)
	for name, run := range map[string]func(){
		"tree":   func() { treeOf(raw) },
		"decode": func() { _, _ = Decode(raw) },
		"judge":  func() { _, _ = judge(raw) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
