// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree reads a document of a test.
func tree(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return integers(v)
}

func TestBetween(t *testing.T) {
	for name, test := range map[string]struct {
		reason        string
		before, after string
		want          []string
	}{
		"null parent": {
			reason: "a path below a null or missing parent does not apply",
			before: `{"metadata":{"labels":null},"spec":{"volumes":null}}`,
			after:  `{"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"}},"spec":{"volumes":[{"name":"v"}]}}`,
			want: []string{
				`{"op":"add","path":"/metadata/annotations","value":{"b":"2"}}`,
				`{"op":"add","path":"/metadata/labels","value":{"a":"1"}}`,
				`{"op":"add","path":"/spec/volumes","value":[{"name":"v"}]}`,
			},
		},
		"null is absent": {
			reason: "what means the same is left as it was",
			before: `{"a":null,"l":[{"b":null},{"name":"x","c":1}]}`,
			after:  `{"z":null,"l":[{},{"name":"x","c":1,"d":null}]}`,
		},
		"value to null": {
			reason: "null in the outcome is a value like any other",
			before: `{"a":{"b":1}}`,
			after:  `{"a":null}`,
			want:   []string{`{"op":"replace","path":"/a","value":null}`},
		},
		"escaped keys": {
			reason: "a slash in a key is ~1, a tilde ~0",
			before: `{"labels":{"a":"1","x/y":"0"}}`,
			after:  `{"labels":{"a":"1","pillion.dev/injected":"true","~":"t"}}`,
			want: []string{
				`{"op":"add","path":"/labels/pillion.dev~1injected","value":"true"}`,
				`{"op":"remove","path":"/labels/x~1y"}`,
				`{"op":"add","path":"/labels/~0","value":"t"}`,
			},
		},
		"new container in front": {
			reason: "a named item is not renamed into another, and keeps what only it has",
			before: `{"c":[{"name":"app","image":"a","future":1},{"name":"db","image":"d"}]}`,
			after:  `{"c":[{"name":"proxy","image":"p"},{"name":"app","image":"a","future":1,"env":[]},{"name":"db","image":"d"}]}`,
			want: []string{
				`{"op":"add","path":"/c/0","value":{"image":"p","name":"proxy"}}`,
				`{"op":"add","path":"/c/1/env","value":[]}`,
			},
		},
		"added and removed": {
			reason: "every index counts what the operations before it did",
			before: `{"c":[{"name":"a"},{"name":"b","v":1},{"name":"c"},{"name":"d","v":1}]}`,
			after:  `{"c":[{"name":"b","v":2},{"name":"x"},{"name":"y"},{"name":"d","v":2},{"name":"z"}]}`,
			want: []string{
				`{"op":"remove","path":"/c/0"}`,
				`{"op":"replace","path":"/c/0/v","value":2}`,
				`{"op":"remove","path":"/c/1"}`,
				`{"op":"add","path":"/c/1","value":{"name":"x"}}`,
				`{"op":"add","path":"/c/2","value":{"name":"y"}}`,
				`{"op":"replace","path":"/c/3/v","value":2}`,
				`{"op":"add","path":"/c/4","value":{"name":"z"}}`,
			},
		},
		"named item replaced": {
			reason: "one name in another's place is no replace",
			before: `{"c":[{"name":"a"}]}`,
			after:  `{"c":[{"name":"b"}]}`,
			want:   []string{`{"op":"remove","path":"/c/0"}`, `{"op":"add","path":"/c/0","value":{"name":"b"}}`},
		},
		"other order": {
			reason: "nothing is gone, so nothing is removed",
			before: `{"c":[{"name":"a"},{"name":"b"}]}`,
			after:  `{"c":[{"name":"b"},{"name":"a","v":1}]}`,
			want:   []string{`{"op":"replace","path":"/c","value":[{"name":"b"},{"name":"a","v":1}]}`},
		},
		"a name twice": {
			reason: "a name that two items have tells nothing, so they count as a whole",
			before: `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"},{"name":"B"}]}`,
			after:  `{"env":[{"name":"A","value":"3"},{"name":"A","value":"1"},{"name":"B","value":"b"}]}`,
			want: []string{
				`{"op":"add","path":"/env/0","value":{"name":"A","value":"3"}}`,
				`{"op":"remove","path":"/env/2"}`,
				`{"op":"add","path":"/env/2/value","value":"b"}`,
			},
		},
		"a name twice, one untouched": {
			reason: "the one that stays tells the other apart",
			before: `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`,
			after:  `{"env":[{"name":"A","value":"1"},{"name":"A","value":"3"}]}`,
			want:   []string{`{"op":"replace","path":"/env/1/value","value":"3"}`},
		},
		"argument changed": {
			reason: "an item without a name takes another's place",
			before: `{"args":["run","-v","-p=1"]}`,
			after:  `{"args":["run","-v","-p=2","-q"]}`,
			want:   []string{`{"op":"replace","path":"/args/2","value":"-p=2"}`, `{"op":"add","path":"/args/3","value":"-q"}`},
		},
		"other arguments": {
			reason: "a list of which nothing stays is another list",
			before: `{"args":["a","b","c"]}`,
			after:  `{"args":["x","y"]}`,
			want:   []string{`{"op":"replace","path":"/args","value":["x","y"]}`},
		},
		"repeated arguments": {
			reason: "one of two equal items is gone",
			before: `{"args":["-v","-v","x"]}`,
			after:  `{"args":["-v","x"]}`,
			want:   []string{`{"op":"remove","path":"/args/1"}`},
		},
		"another type": {
			reason: "an object is not compared with a list",
			before: `{"a":{"0":1},"b":[1],"c":"1","d":1}`,
			after:  `{"a":[1],"b":{"0":1},"c":1,"d":1.0}`,
			want: []string{
				`{"op":"replace","path":"/a","value":[1]}`,
				`{"op":"replace","path":"/b","value":{"0":1}}`,
				`{"op":"replace","path":"/c","value":1}`,
				`{"op":"replace","path":"/d","value":1.0}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := tree(t, test.before).(map[string]any), tree(t, test.after).(map[string]any)
			want := "[" + strings.Join(test.want, ",") + "]"
			if diff := cmp.Diff(want, string(Marshal(Between(before, after)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// A long list costs one operation per item that changed, and work in proportion to its length.
func TestBetweenLongLists(t *testing.T) {
	const length = 2000
	list := func(skip int, extra ...any) map[string]any {
		env := []any{}
		for i := range length {
			if i != skip {
				env = append(env, map[string]any{"name": fmt.Sprint("V", i), "value": "x"})
			}
		}
		return map[string]any{"env": append(env, extra...)}
	}
	before := list(1000)
	after := list(500, map[string]any{"name": "NEW"})
	after["env"].([]any)[0].(map[string]any)["value"] = "y"
	ops := Between(before, after)
	want := []string{"replace /env/0/value", "remove /env/500", "add /env/999", "add /env/1999"}
	var got []string
	for _, op := range ops {
		got = append(got, op.Op+" "+op.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := testing.AllocsPerRun(5, func() { Between(before, after) }); n > 100 {
		t.Errorf("%v allocations for %d items", n, length)
	}
}

// A stage shares what it does not touch, and that is not looked into.
func TestSharedTreesCostNothing(t *testing.T) {
	m := tree(t, podText).(map[string]any)
	if n := testing.AllocsPerRun(5, func() { Between(m, m) }); n > 1 {
		t.Errorf("%v allocations to compare a tree with itself", n)
	}
}
