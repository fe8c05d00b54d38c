// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pillion-dev/pillion/pkg/patch"
)

// sidecar is a container as an engine would add it.
func sidecar() map[string]any {
	return map[string]any{
		"name": "log", "image": "registry.example/log:1",
		"args": []any{"yes", "-v", "1e3", ""}, "resources": map[string]any{"limits": map[string]any{"memory": "64Mi"}},
	}
}

func op(kind, path string, value any) patch.Op { return patch.Op{Op: kind, Path: path, Value: value} }

func TestApplyText(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		ops    []patch.Op // on every pod
		want   string     // lines that differ, with - and +
	}{
		"Deployment": {
			reason: "Only the lines that the patch reaches differ: blank lines, comments and spaces before them stay.",
			in:     deployment,
			ops: []patch.Op{
				op("add", "/metadata/annotations/pillion.dev~1status", `{"a":"b"}`),
				op("add", "/spec/containers/-", sidecar()),
				op("replace", "/spec/containers/0/image", "registry.example/web:2"),
				op("remove", "/spec/containers/0/env/0", nil),
				op("add", "/spec/hostPID", false),
			},
			want: `-      annotations: {}
+      annotations:
+        pillion.dev/status: '{"a":"b"}'
-        image: "registry.example/web:1"   # pinned
+        image: "registry.example/web:2" # pinned
-        - {name: A, value: "1e3"}
+      - name: log
+        image: registry.example/log:1
+        args:
+        - "yes"
+        - "-v"
+        - "1e3"
+        - ""
+        resources:
+          limits:
+            memory: 64Mi
+      hostPID: false
`,
		},
		"FlowTemplate": {
			reason: "In a flow collection what is new is flow; a template without metadata gets what the patch says.",
			in:     cronJob,
			ops:    []patch.Op{op("add", "/metadata", map[string]any{"labels": map[string]any{"a": "b:c"}}), op("add", "/spec/containers/0", sidecar())},
			want: `-        spec: {restartPolicy: OnFailure, containers: [{name: app, image: "registry.example/tidy:1"}]}
+        spec: {restartPolicy: OnFailure, containers: [{name: log, image: "registry.example/log:1", args: ["yes", "-v", "1e3", ""], resources: {limits: {memory: 64Mi}}}, {name: app, image: "registry.example/tidy:1"}]}
+        metadata:
+          labels:
+            a: b:c
`,
		},
		"CRLF": {
			reason: "New lines end as the author's do.",
			in:     crlf,
			ops:    []patch.Op{op("add", "/spec/containers/0", sidecar())},
			want: strings.ReplaceAll(`+  - name: log
+    image: registry.example/log:1
+    args:
+    - "yes"
+    - "-v"
+    - "1e3"
+    - ""
+    resources:
+      limits:
+        memory: 64Mi
`, "\n", "\r\n"),
		},
		"Indented": {
			reason: "New lists are indented as the author's are.",
			in:     twoSpaces,
			ops:    []patch.Op{op("add", "/spec/initContainers", []any{map[string]any{"name": "a", "env": []any{map[string]any{"name": "b"}}}})},
			want: `+      initContainers:
+        - name: a
+          env:
+            - name: b
`,
		},
		"NoNewline": {
			reason: "A last line without an end gets one when something follows, and only then.",
			in:     "apiVersion: v1\nkind: Pod\nspec: {}",
			ops:    []patch.Op{op("add", "/spec/a", "b")},
			want:   "-spec: {}\n+spec:\n+  a: b\n",
		},
		"Texts": {
			reason: "A string that any reader could take for something else is quoted; lines become a block.",
			in:     "apiVersion: v1\nkind: Pod\nspec:\n  a: []\n# end\n",
			ops: []patch.Op{op("replace", "/spec/a", []any{
				"on", "0123", "null", "~", "2024-01-01", "1_000", "0x1F", ".5", "12:30", "=", "<<", "Yes", "a: b", "it's", "tab\t", "☃",
				"http://registry.example/a?", "a b", "100m", "\\d+", "one\ntwo\n", "one \ntwo",
			})},
			want: `-  a: []
+  a:
+  - "on"
+  - "0123"
+  - "null"
+  - "~"
+  - "2024-01-01"
+  - "1_000"
+  - "0x1F"
+  - ".5"
+  - "12:30"
+  - "="
+  - "<<"
+  - "Yes"
+  - "a: b"
+  - "it's"
+  - "tab\t"
+  - "☃"
+  - "http://registry.example/a?"
+  - a b
+  - 100m
+  - '\d+'
+  - |
+    one
+    two
+  - "one \ntwo"
`,
		},
		"Emptied": {
			reason: "What loses its last entry stays, and is empty.",
			in:     "apiVersion: v1\nkind: Pod\nspec:\n  a: # why\n  - b\n  c:\n    d: e\n",
			ops:    []patch.Op{op("remove", "/spec/a/0", nil), op("remove", "/spec/c/d", nil)},
			want:   "-  a: # why\n-  - b\n-  c:\n-    d: e\n+  a: []\n+  c: {}\n",
		},
		"Aliases": {
			reason: "Aliases into the pod are written out, with the text as it was; aliases elsewhere stay.",
			in:     anchors,
			ops:    []patch.Op{op("add", "/metadata/labels/new", "x"), op("add", "/spec/containers/1/env/0/value", "b")},
			want: `-  labels: &labels
+  labels:
-      labels: *labels
+      labels:
+        app: web # the app
+        tier: front
+        new: x
-      - &one
-        name: one
-        env: &env
+      - name: one
+        env:
-        env: *env
-      initContainers: [*one]
+        env:
+        - {name: A, value: b}
+      initContainers: [{name: one, env: [{name: A, value: a}]}]
`,
		},
		"AliasesOfThePod": {
			reason: "What stands for the pod elsewhere keeps the old text, and an anchor that has nothing to do with the pod stays.",
			in:     crossAnchors,
			ops:    []patch.Op{op("add", "/spec/containers/0/image", "x")},
			want: `-spec: &spec
-  template: &template
-    metadata: {labels: &l {app: web}}
+spec:
+  template:
+    metadata: {labels: {app: web}}
-      containers: &containers
+      containers:
+      - {name: app, image: x}
+copy:
+  metadata: {labels: {app: web}}
+  spec:
+    containers:
+    - {name: app}
+again:
+  template:
+    metadata: {labels: {app: web}}
+    spec:
+      containers:
-copy: *template
-again: *spec
-labels: *l
-containers: *containers
+labels: {app: web}
+containers:
+- {name: app}
`,
		},
		"JSON": {
			reason: "JSON stays JSON, laid out as its author does, with every literal that the patch does not reach.",
			in:     jsonDeployment,
			ops:    []patch.Op{op("add", "/metadata/labels", map[string]any{"a": "yes"}), op("add", "/spec/containers/0/env/1", map[string]any{"name": "Z"}), op("add", "/spec/volumes/-", "v")},
			want: `-      "metadata": {},
+      "metadata": {
+        "labels": {
+          "a": "yes"
+        }
+      },
-            "env": [ { "name": "A" }, { "name": "B" } ]
+            "env": [ { "name": "A" }, {"name": "Z"}, { "name": "B" } ]
-        "volumes": []
+        "volumes": [
+          "v"
+        ]
`,
		},
		"JSONCompact": {
			reason: "JSON on one line stays on one line.",
			in:     jsonCompact,
			ops:    []patch.Op{op("add", "/spec/containers/-", map[string]any{"name": "b", "image": "c", "a": nil}), op("remove", "/spec/b", nil)},
			want: `-{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"app"}],"a":{},"b":[[]]}}
+{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"app"},{"name":"b","image":"c","a":null}],"a":{}}}
`,
		},
		"Rewritten": {
			reason: "A flow at the top is written anew, between what stands around it.",
			in:     "# head\n--- {apiVersion: v1, kind: Pod,\n # about\n spec: {a: 1e3, b: 0o17}} # tail\n# end\n",
			ops:    []patch.Op{op("add", "/spec/c", "on")},
			want: `- # about
- spec: {a: 1e3, b: 0o17}} # tail
+  # about
+  spec: {a: 1e3, b: 0o17, c: "on"}} # tail
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Read([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Pods() {
				if err := p.Apply(tc.ops); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lineDiff(tc.in, string(got))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s\n%s", tc.reason, diff, got)
			}
		})
	}
}

// lineDiff lists the lines that only a has, and only b, after each other as they come.
func lineDiff(a, b string) string {
	from, to := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	common := make([][]int, len(from)+1)
	for i := range common {
		common[i] = make([]int, len(to)+1)
	}
	for i := len(from) - 1; i >= 0; i-- {
		for j := len(to) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if from[i] == to[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(from) || j < len(to); {
		switch {
		case i < len(from) && j < len(to) && from[i] == to[j]:
			i, j = i+1, j+1
		case j == len(to) || i < len(from) && common[i+1][j] >= common[i][j+1]:
			out.WriteString(line("-", from[i]))
			i++
		default:
			out.WriteString(line("+", to[j]))
			j++
		}
	}
	return out.String()
}

func line(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + string(bytes.TrimSuffix([]byte(text), []byte("\n"))) + "\n"
}
