// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is the faults as a person reads them, with the hints.
func told(err error) string {
	var faults Errors
	if !errors.As(err, &faults) {
		return fmt.Sprintf("no faults: %v", err)
	}
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(f.Error() + "\n")
		if f.Hint != "" {
			b.WriteString("  hint: " + f.Hint + "\n")
		}
	}
	return b.String()
}

func TestParseFaults(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  map[string][]byte
		want   string
	}{
		"nothing": {
			reason: "a clear word, not a panic",
			want:   "no document of kind InjectorConfig in no files\n  hint: one file starts with apiVersion: config.pillion.dev/v1alpha1 and kind: InjectorConfig\n",
		},
		"none among several": {
			reason: "the files are named",
			files:  files("a.yaml", "x: 1", "b.yaml", "InjectorConfig"),
			want:   "no document of kind InjectorConfig in a.yaml, b.yaml\n  hint: one file starts with apiVersion: config.pillion.dev/v1alpha1 and kind: InjectorConfig\n",
		},
		"two by kind": {
			reason: "nobody guesses which one holds",
			files:  files("a.yaml", head, "b.yaml", "kind: \"InjectorConfig\"\r\nbroken: ["),
			want:   "more than one configuration: a.yaml, b.yaml\n  hint: keep one of them; templates in files of their own are named by file:\n",
		},
		"a well-known name": {
			reason: "the name finds it, so that the fault is told",
			files:  files("config.yaml", "apiVersion: config.pillion.dev/v1\n", "t.yaml", ""),
			want:   "config.yaml:1: apiVersion: \"config.pillion.dev/v1\" is not config.pillion.dev/v1alpha1\n  hint: write apiVersion: config.pillion.dev/v1alpha1\n",
		},
		"two well-known names": {
			reason: "nobody guesses here either",
			files:  files("config.yaml", "", "injector.yaml", ""),
			want:   "more than one configuration: config.yaml, injector.yaml\n  hint: keep one of them; templates in files of their own are named by file:\n",
		},
		"empty": {
			reason: "an empty file is no default configuration",
			files:  files("c", "# only a comment\n---\n"),
			want:   "c:1: no document: want one of kind InjectorConfig\n",
		},
		"no kind": {
			reason: "any YAML could be meant",
			files:  files("c", "apiVersion: config.pillion.dev/v1alpha1\n"),
			want:   "c:1: kind: missing\n  hint: write kind: InjectorConfig\n",
		},
		"two documents": {
			reason: "the second would be lost",
			files:  files("c", head+"---\n"+head),
			want:   "c:4: a second document: want a single one\n",
		},
		"no YAML": {
			reason: "the line is the file's",
			files:  files("c", head+"policy: [\n"),
			want:   "c:3: not YAML: did not find expected node content\n",
		},
		"no UTF-8": {
			reason: "the line is the file's",
			files:  files("c", head+"policy: \xff\n"),
			want:   "c:3: not UTF-8\n",
		},
		"alias": {
			reason: "a few lines of aliases make gigabytes",
			files:  files("c", head+"values:\n  a: &a [x]\n  b: [*a, *a]\n"),
			want:   "c:5: the alias *a: aliases are not read here\n  hint: write the value out\n",
		},
		"tag": {
			reason: "a tag changes what a value is",
			files:  files("c", head+"policy: !env POLICY\n"),
			want:   "c:3: the tag !env: only the tags of plain YAML are read here\n  hint: remove the tag\n",
		},
		"depth": {
			reason: "recursion is bounded",
			files:  files("c", head+"values: {a: "+strings.Repeat("[", 200)+strings.Repeat("]", 200)+"}"),
			want:   "c:3: more than 100 maps and lists in each other\n",
		},
		"nodes": {
			reason: "memory is bounded",
			files:  files("c", head+"values: {a: ["+strings.Repeat("1,", maxNodes)+"]}"),
			want:   "c:3: more than 100000 keys and values\n",
		},
		"document size": {
			reason: "memory is bounded",
			files:  files("c", head+strings.Repeat("#", 1<<20)),
			want:   "c:1: the document has 1048637 bytes, and at most 1048576 are read\n  hint: put the templates into files beside the configuration\n",
		},
		"size": {
			reason: "memory is bounded",
			files:  files("c", head, "big", strings.Repeat("#", 4<<20)),
			want:   "the configuration has 4194365 bytes, and at most 4194304 are read\n",
		},
		"wrong types": {
			reason: "every fault is told at once, in the order of the lines",
			files: files("c", head+`policy: 1
ignoredNamespaces: kube
neverInjectSelector: [{matchLabels: [a]}]
aliases: [a]
values: 3
templates:
- required: yes
  text: x
  name: 2024
  overridable: env
  parameters:
  - {name: n, type: enum, default: [a], values: a, min: {}}
- null
`),
			want: `c:3: policy: want a string, got the number 1
  hint: quote it: "1"
c:4: ignoredNamespaces: want a list, got the string kube
c:5: neverInjectSelector[0].matchLabels: want a map, got a list
c:6: aliases: want a map, got a list
c:7: values: want a map, got the number 3
c:9: templates[0].required: want true or false, got the string yes
c:11: templates[0].name: want a string, got the number 2024
  hint: quote it: "2024"
c:12: templates[0].overridable: want a list, got the string env
c:14: templates[0].parameters[0].default: want a single value, got a list
c:14: templates[0].parameters[0].min: want a single value, got a map
c:14: templates[0].parameters[0].values: want a list, got the string a
c:15: templates[1]: want a map, got nothing
`,
		},
		"keys": {
			reason: "unknown ones, in another case, there twice, merged or no strings",
			files: files("c", head+`Policy: enabled
policy: enabled
policy: disabled
values: {<<: {a: 1}, 1: a, b: 1, b: 2}
templates:
- {name: a, text: a, requird: true}
`),
			want: `c:3: Policy: unknown field
c:5: the key policy is there twice, first on line 4
c:6: values: a merge key: they are not read here
  hint: write the keys out
c:6: values: the key b is there twice, first on line 6
c:6: values: want a string as key, got the number 1
  hint: quote it: "1"
c:8: templates[0].requird: unknown field
`,
		},
		"numbers": {
			reason: "a number that changes on the way is worse than none",
			files:  files("c", head+"values:\n  a: 99999999999999999999\n  b: .inf\n"),
			want: `c:4: values[a]: 99999999999999999999 is neither a 64-bit integer nor a finite number
  hint: quote it, if it is a text
c:5: values[b]: .inf is neither a 64-bit integer nor a finite number
  hint: quote it, if it is a text
`,
		},
		"files": {
			reason: "a template's file stands beside the configuration and has content",
			files: files("c", head+`templates:
- {name: a, file: ../etc/passwd}
- {name: b, file: /etc/passwd}
- {name: c, file: c}
- {name: d, file: missing.yaml}
- {name: e, file: empty.yaml}
- {name: f, file: empty.yaml, text: x}
- {name: g}
`, "empty.yaml", " \n"),
			want: `c:4: templates[0].file: "../etc/passwd" is not the plain name of a file
  hint: put the file beside the configuration and write its name without a directory
c:5: templates[1].file: "/etc/passwd" is not the plain name of a file
  hint: put the file beside the configuration and write its name without a directory
c:6: templates[2].file: "c" is the configuration itself
  hint: name the file that holds the template
c:7: templates[3].file: no file "missing.yaml" beside the configuration, which has c, empty.yaml
c:8: templates[4].file: the file "empty.yaml" is empty
c:9: templates[5].file: text is there too: want one of file and text
  hint: remove one of them
c:10: templates[6]: want one of file and text
  hint: write the template below text: |, or name its file in file:
`,
		},
		"in a ConfigMap": {
			reason: "the lines are those of the manifest",
			files:  files("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n\n    apiVersion: config.pillion.dev/v1alpha1\n    kind: InjectorConfig\n    polici: x\n"),
			want:   "cm.yaml:8: polici: unknown field\n",
		},
		"in a quoted ConfigMap": {
			reason: "of a quoted text only the beginning is known",
			files:  files("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: \"a: 1\\nb: 2\\n\"\n"),
			want:   "cm.yaml:4: apiVersion: missing\n  hint: write apiVersion: config.pillion.dev/v1alpha1\n",
		},
		"empty ConfigMap": {
			reason: "there is nothing to read",
			files:  files("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nbinaryData: {a: eA==}\n"),
			want:   "cm.yaml:1: data: the ConfigMap has no data\n  hint: put the configuration into data under the key config.yaml\n",
		},
		"bad ConfigMap": {
			reason: "the API server would refuse it too",
			files:  files("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: 1\n  b: x\n  b: y\n"),
			want:   "cm.yaml:4: data[a]: want a string, got the number 1\ncm.yaml:6: data[b]: the key is there twice\n",
		},
		"too many faults": {
			reason: "a reader mends the first and asks again",
			files:  files("c", head+"values:\n"+strings.Repeat("  1: a\n", 1000)),
			want:   tooMany(),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.files)
			if diff := cmp.Diff(tc.want, told(err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func tooMany() string {
	var b strings.Builder
	for i := range maxErrors {
		fmt.Fprintf(&b, "c:%d: values: want a string as key, got the number 1\n  hint: quote it: \"1\"\n", i+4)
	}
	return b.String() + "c: there are more faults; mend these first\n"
}
