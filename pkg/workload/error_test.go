// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func itoa(n int) string { return strconv.Itoa(n) }

// docs is a stream of one object for each "apiVersion kind path", with a pod of no containers at
// the path.
func docs(objects ...string) string {
	var b strings.Builder
	for i, o := range objects {
		f := strings.Fields(o)
		if i > 0 {
			b.WriteString("---\n")
		}
		path := strings.Split(f[2], ".")
		b.WriteString("{apiVersion: " + f[0] + ", kind: " + f[1] + ", metadata: {name: x},\n")
		b.WriteString(strings.Join(path, ": {") + ":\n{spec: {}}" + strings.Repeat("}", len(path)) + "\n")
	}
	return b.String()
}

func TestReadErrors(t *testing.T) {
	pod := func(rest string) string { return "# c\n---\nkind: X\n---\napiVersion: v1\nkind: Pod\n" + rest }
	bomb := "x: &a [1,1,1,1,1,1,1,1,1,1]\n" + levels("abcdefgh") + "spec: *h\n"
	cases := map[string]struct {
		reason, in, want string
	}{
		"Syntax": {
			reason: "A document that does not parse is told with its place in the stream.",
			in:     "a: b\n---\n# c\n\na: b\nc: d: e\n",
			want:   "document 2 (line 6): mapping values are not allowed in this context",
		},
		"JSONSyntax": {
			reason: "What begins like JSON is told what is wrong with it as JSON.",
			in:     "{\"a\":\n 1,\n",
			want:   "document 1 (line 2): neither JSON (line 3 of the document: unexpected EOF) nor YAML (did not find expected node content)",
		},
		"NoObject":   {"A list at the top is no object.", "- a\n", "document 1 (line 1): want an object, got a list"},
		"JSONList":   {"A list at the top is no object in JSON either.", "[{}]", "document 1 (line 1): want an object, got a list"},
		"Text":       {"Text is no object.", "---\nError: no such chart\n---\njust text\n", `document 2 (line 4): want an object, got "just text"`},
		"UTF16":      {"A file of another encoding is told what it is.", "\xff\xfea\x00", "the manifest is UTF-16; save it as UTF-8"},
		"TwoInOne":   {"A break that only the parser knows does not hide a document.", "a: b\r---\rc: d\r", "document 1 (line 2): a second document without a --- line before it"},
		"Duplicate":  {"A key twice in the pod is an error, as readers differ.", pod("spec:\n  a: 1\n  a: 2\n"), "document 2 (line 9): spec.a: duplicate key"},
		"DupKind":    {"A key twice on the way to the pod is one too.", pod("kind: Pod\n"), "document 2 (line 7): duplicate key kind"},
		"DupSpec":    {"In JSON too.", "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\n\"spec\":{},\"spec\":{}}", "document 1 (line 2): duplicate key spec"},
		"DupMeta":    {"The name must not be in doubt.", pod("metadata: {name: a}\nmetadata: {name: b}\n"), "document 2 (line 8): duplicate key metadata"},
		"NumberKey":  {"A key that is no string is an error.", pod("spec: {a: [{1: 2}]}\n"), "document 2 (line 7): spec.a[0]: want a string as key, got 1: put it in quotes"},
		"TrueKey":    {"So is one that every reader takes for true.", pod("spec: {True: 2}\n"), "document 2 (line 7): spec: want a string as key, got True: put it in quotes"},
		"ObjectKey":  {"So is a key that is an object.", pod("spec: {? {a: b} : 2}\n"), "document 2 (line 7): spec: want a string as key, got an object"},
		"NumberName": {"A name that is a number would be refused by the API server.", pod("metadata: {name: 12}\n"), "document 2 (line 7): metadata.name: want a string, got 12"},
		"ListMeta":   {"Metadata is an object.", pod("metadata: []\n"), "document 2 (line 7): metadata: want an object, got a list"},
		"Template": {
			reason: "A template is an object.",
			in:     "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template: [a]\n",
			want:   "document 1 (line 4): spec.template: want an object, got a list",
		},
		"Spec":        {"So is all that it stands in.", "apiVersion: apps/v1\nkind: Deployment\nspec: text\n", `document 1 (line 3): spec: want an object, got "text"`},
		"Item":        {"A List holds objects.", "apiVersion: v1\nkind: List\nitems:\n- {}\n- a\n", `document 1 (line 5): items[1]: want an object, got "a"`},
		"Items":       {"A List has a list of items.", "apiVersion: v1\nkind: List\nitems: {}\n", "document 1 (line 3): items: want a list, got an object"},
		"Infinity":    {"JSON cannot hold it.", pod("spec: {a: .inf}\n"), "document 2 (line 7): spec.a: JSON has no number .inf"},
		"Tag":         {"A tag that contradicts its value is an error.", pod("spec: {a: !!int b}\n"), `document 2 (line 7): spec.a: the tag !!int does not go with "b"`},
		"BinaryTag":   {"So is one that JSON does not know.", pod("spec: {a: !!binary YQ==}\n"), `document 2 (line 7): spec.a: the tag !!binary does not go with "YQ=="`},
		"Bomb":        {"A few lines of aliases must not fill the memory.", pod(bomb), "document 2 (line 12): its aliases stand for more than 1000000 values"},
		"Loop":        {"An alias inside what it stands for has no end.", pod("spec: &a {b: *a}\n"), "document 2 (line 7): nested deeper than 100 levels"},
		"Deep":        {"A pod has a depth that can be walked.", pod("spec: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n"), "document 2 (line 7): spec" + strings.Repeat("[0]", 100) + ": nested deeper than 100 levels"},
		"DeepList":    {"Lists inside Lists have an end.", nested(4), "document 1 (line 4): items[0].items[0].items[0]: more than 3 Lists inside each other"},
		"MergeScalar": {"A merge key wants objects.", pod("spec: {<<: 1}\n"), "document 2 (line 7): a merge key << wants an object or a list of objects"},
		"MergeOrder":  {"Where readers differ in what a merge key does, nothing is guessed.", pod("spec: {a: 1, <<: {a: 2}}\n"), "document 2 (line 7): a stands before the merge key << that brings it too, and readers differ in which wins: put << first"},
		"Namespace":   {"A namespace's labels are strings.", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n    b: on\n", "document 1 (line 6): metadata.labels.b: want a string, got true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := "no error"
			if _, err := Read([]byte(tc.in)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// levels are anchors of which each holds ten aliases of the one before.
func levels(names string) string {
	var b strings.Builder
	for i := 1; i < len(names); i++ {
		b.WriteString("y" + itoa(i) + ": &" + names[i:i+1] + " [" + strings.Repeat("*"+names[i-1:i]+",", 10) + "]\n")
	}
	return b.String()
}

// nested is a List inside Lists.
func nested(depth int) string {
	return strings.Repeat("{apiVersion: v1, kind: List, items: [\n", depth) + strings.Repeat("]}", depth) + "\n"
}

// A name is a stranger's text, and a report goes to a terminal.
func TestObjectsNameIsShownPlain(t *testing.T) {
	for name, want := range map[string]string{
		"shop":         "pod/shop",
		"":             "pod/(unnamed)",
		"a\nb\x1b[31m": `pod/"a\nb\x1b[31m"`,
		"läden":        "pod/läden",
	} {
		if got := object("Pod", name, ""); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
}
