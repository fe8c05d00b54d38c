// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestRecord(t *testing.T) {
	changes := []Change{
		{Path: "/a", Kind: Added},
		{Path: "/l/x", Kind: Added},
		{Path: "/l", Kind: Created},
		{Path: "/b", Kind: Replaced, Old: "x"},
		{Path: "/c/n", Kind: Removed, Old: map[string]any{"name": "n"}, Index: 0},
	}
	want := `{"added":["/a","/l/x"],"created":["/l"],"restore":[{"old":"x","path":"/b"},{"index":0,"old":{"name":"n"},"path":"/c/n"}]}`
	record := Encode(changes)
	if diff := cmp.Diff(want, string(pod.Encode(record))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := Decode(record)
	if diff := cmp.Diff(changes, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got := string(pod.Encode(Encode(nil))); got != "{}" {
		t.Errorf("no changes are written as %s", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	paths := `"/a"` + strings.Repeat(`,"/a"`, maxChanges-1)
	for name, test := range map[string]struct{ reason, record, want string }{
		"no object":      {"a record is one", `["/a"]`, "want an object"},
		"no list":        {"its members are lists", `{"added":"/a"}`, `added: want a list, got "/a"`},
		"unknown member": {"another version may mean more by it", `{"moved":[]}`, `"moved" is no list`},
		"no text":        {"a path is text", `{"added":["/a",1]}`, "added[1]: want a JSON pointer, got 1"},
		"no slash":       {"a pointer begins with one", `{"created":["a"]}`, "want a JSON pointer"},
		"bad escape":     {"~2 is none", `{"added":["/~2"]}`, "want a JSON pointer"},
		"whole document": {"a record undoes parts", `{"added":[""]}`, "want a JSON pointer"},
		"no entry":       {"a place and its value are told together", `{"restore":["/a"]}`, "restore[0]: want an object"},
		"no old value":   {"there is nothing to restore", `{"restore":[{"path":"/a"}]}`, "old is missing"},
		"no path":        {"there is nowhere to restore it", `{"restore":[{"old":1}]}`, "want path, old"},
		"more":           {"another version may mean more by it", `{"restore":[{"path":"/a","old":1,"kind":2}]}`, `got ["kind" "old" "path"]`},
		"negative index": {"a list has no such place", `{"restore":[{"path":"/a","old":1,"index":-1}]}`, "index: want a place"},
		"no index":       {"a place is an integer", `{"restore":[{"path":"/a","old":1,"index":1.5}]}`, "index: want a place"},
		"huge index":     {"a list has no such place", `{"restore":[{"path":"/a","old":1,"index":9007199254740993}]}`, "index: want a place"},
		"too many":       {"the whole is bounded, not each list", `{"added":[` + paths + `],"created":["/a"]}`, "more than 5000"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(tree(t, test.record))
			if err == nil || !strings.Contains(err.Error(), test.want) || got != nil {
				t.Errorf("%s: got %v and error %v, want %q", test.reason, got, err, test.want)
			}
		})
	}
	if got, err := Decode(tree(t, `{"added":[`+paths+`]}`)); err != nil || len(got) != maxChanges {
		t.Errorf("%d changes and error %v at the bound", len(got), err)
	}
}
