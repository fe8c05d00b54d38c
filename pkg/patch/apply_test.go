// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApply(t *testing.T) {
	const doc = `{"a":{"b":[1,2,{"c":3}]},"n":null,"s/t":{"~":0}}`
	for name, test := range map[string]struct {
		reason string
		ops    []Op
		want   string // or
		err    string
	}{
		"add and append": {
			reason: "an index may be the length, and - stands for it",
			ops:    []Op{{Op: "add", Path: "/a/b/3", Value: int64(4)}, {Op: "add", Path: "/a/b/-", Value: int64(5)}, {Op: "add", Path: "/a/b/0", Value: int64(0)}},
			want:   `{"a":{"b":[0,1,2,{"c":3},4,5]},"n":null,"s/t":{"~":0}}`,
		},
		"escapes": {
			reason: "~01 is the text ~1",
			ops:    []Op{{Op: "replace", Path: "/s~1t/~0", Value: "x"}, {Op: "add", Path: "/~01", Value: "y"}},
			want:   `{"a":{"b":[1,2,{"c":3}]},"n":null,"s/t":{"~":"x"},"~1":"y"}`,
		},
		"move and test": {
			reason: "the value is gone from where it was",
			ops:    []Op{{Op: "move", From: "/a/b/2", Path: "/n"}, {Op: "test", Path: "/n/c", Value: int64(3)}},
			want:   `{"a":{"b":[1,2]},"n":{"c":3},"s/t":{"~":0}}`,
		},
		"a copy is one": {
			reason: "writing to the copy leaves the source alone",
			ops:    []Op{{Op: "add", Path: "/a/x", Value: true}, {Op: "copy", From: "/a", Path: "/n"}, {Op: "remove", Path: "/n/b/0"}},
			want:   `{"a":{"b":[1,2,{"c":3}],"x":true},"n":{"b":[2,{"c":3}],"x":true},"s/t":{"~":0}}`,
		},
		"whole document": {
			reason: "replace may take the root",
			ops:    []Op{{Op: "replace", Path: "", Value: map[string]any{}}},
			want:   `{}`,
		},
		"missing parent":      {reason: "nothing is made on the way", ops: []Op{{Op: "add", Path: "/x/y"}}, err: "operation 0: add /x/y: there is nothing at the path"},
		"null parent":         {reason: "null has no members", ops: []Op{{Op: "add", Path: "/n/y"}}, err: "add /n/y: the parent is neither"},
		"remove of nothing":   {reason: "it must be there", ops: []Op{{Op: "remove", Path: "/x"}}, err: "there is nothing"},
		"replace of nothing":  {reason: "it must be there", ops: []Op{{Op: "replace", Path: "/x"}}, err: "there is nothing"},
		"past the end":        {reason: "no hole in a list", ops: []Op{{Op: "add", Path: "/a/b/4"}}, err: "no valid index"},
		"remove at the end":   {reason: "the length is no item", ops: []Op{{Op: "remove", Path: "/a/b/3"}}, err: "no valid index"},
		"remove -":            {reason: "- is no item", ops: []Op{{Op: "remove", Path: "/a/b/-"}}, err: "no valid index"},
		"negative index":      {reason: "not in the standard", ops: []Op{{Op: "replace", Path: "/a/b/-1"}}, err: "no valid index"},
		"leading zero":        {reason: "not in the standard", ops: []Op{{Op: "replace", Path: "/a/b/01"}}, err: "no valid index"},
		"no slash":            {reason: "a pointer begins with one", ops: []Op{{Op: "add", Path: "a"}}, err: "no valid JSON pointer"},
		"bad escape":          {reason: "~2 is none", ops: []Op{{Op: "add", Path: "/~2"}}, err: "no valid JSON pointer"},
		"tilde at the end":    {reason: "it begins no escape", ops: []Op{{Op: "add", Path: "/a~"}}, err: "no valid JSON pointer"},
		"removal of the root": {reason: "something must stay", ops: []Op{{Op: "remove", Path: ""}}, err: "whole document"},
		"scalar root":         {reason: "a document holds something", ops: []Op{{Op: "replace", Path: "", Value: "x"}}, err: "object or a list"},
		"move inside":         {reason: "its own parent would be gone", ops: []Op{{Op: "move", From: "/a", Path: "/a/b/0"}}, err: "into itself"},
		"copy of nothing":     {reason: "it must be there", ops: []Op{{Op: "copy", From: "/x", Path: "/y"}}, err: "from /x: there is nothing"},
		"failed test":         {reason: "1 is not the text 1", ops: []Op{{Op: "test", Path: "/a/b/0", Value: "1"}}, err: "another one"},
		"test of nothing":     {reason: "absent is not null", ops: []Op{{Op: "test", Path: "/x"}}, err: "there is nothing"},
		"unknown operation":   {reason: "none is guessed", ops: []Op{{Op: "merge", Path: "/a"}}, err: "unknown operation"},
		"the second one":      {reason: "the error counts", ops: []Op{{Op: "remove", Path: "/n"}, {Op: "remove", Path: "/n"}}, err: "operation 1: remove /n"},
	} {
		t.Run(name, func(t *testing.T) {
			input := tree(t, doc)
			got, err := Apply(input, test.ops)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("%s: got error %v, want %q", test.reason, err, test.err)
				}
			} else if diff := cmp.Diff(tree(t, test.want), got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", test.reason, err, diff)
			}
			if diff := cmp.Diff(tree(t, doc), input); diff != "" {
				t.Errorf("the document was changed:\n%s", diff)
			}
		})
	}
}

func TestMarshal(t *testing.T) {
	got := string(Marshal([]Op{
		{Op: "remove", Path: "/a", Value: "unused"},
		{Op: "move", Path: "/b", From: "/c", Value: "unused"},
		{Op: "add", Path: "/d", Value: tree(t, `{"z":[true,null,1.50],"a":"\u00e9\"<"}`)},
		{Op: "test", Path: "/\xff"},
	}))
	want := `[{"op":"remove","path":"/a"},{"op":"move","from":"/c","path":"/b"},` +
		`{"op":"add","path":"/d","value":{"a":"é\"<","z":[true,null,1.50]}},{"op":"test","path":"/` + "\uFFFD" + `","value":null}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(Marshal(nil)); got != "[]" {
		t.Errorf("no operations give %s", got)
	}
}
