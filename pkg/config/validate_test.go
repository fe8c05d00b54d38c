// SPDX-License-Identifier: Apache-2.0

package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const oneTemplate = "templates:\n- name: a\n  text: x\n"

func TestValidateFaults(t *testing.T) {
	tests := map[string]struct{ reason, config, want string }{
		"choices": {
			reason: "the supported values are named",
			config: "policy: enable\nnativeSidecars: yes\nproof: never\ndialect: linkerd\n",
			want: `c:3: policy: Unsupported value: "enable": supported values: "enabled", "disabled"
c:4: nativeSidecars: Unsupported value: "yes": supported values: "auto", "on", "off"
c:5: proof: Unsupported value: "never": supported values: "sampled", "always"
c:6: dialect: Unsupported value: "linkerd": supported values: "pillion", "istio"
`,
		},
		"options": {
			reason: "what only another dialect reads would be lost",
			config: "dialectOptions: {a: b}\n",
			want:   "c:3: dialectOptions: Forbidden: dialect pillion has none\n  hint: set dialect: istio, or remove dialectOptions\n",
		},
		"selectors": {
			reason: "an empty one would match every pod",
			config: "neverInjectSelector: [{}]\nalwaysInjectSelector:\n- matchLabels: {a: \"b c\"}\n- matchExpressions: [{key: a, operator: Is}]\nignoredNamespaces: [Build]\n",
			want: `c:3: neverInjectSelector[0]: Required value: an empty selector matches every pod
  hint: set policy to decide for every pod
c:5: alwaysInjectSelector[0].matchLabels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
c:6: alwaysInjectSelector[1].matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator
c:7: ignoredNamespaces[0]: Invalid value: "Build": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
`,
		},
		"template names": {
			reason: "a name is there, and once",
			config: oneTemplate + "- name: a\n  text: x\n- text: \"\"\n",
			want: `c:6: templates[1].name: Duplicate value: "a"
c:8: templates[2].name: Required value
c:8: templates[2].text: Required value: a template has a text
`,
		},
		"template fields": {
			reason: "the supported values are named",
			config: oneTemplate + "  os: plan9\n  jobs: always\n  sidecars: [b, b, B_]\n  overridable: [resource, \"*\", securityContext.user, probes]\n",
			want: `c:6: templates[0].os: Unsupported value: "plan9": supported values: "linux", "windows", "any"
c:7: templates[0].jobs: Unsupported value: "always": supported values: "native", "skip", "inject"
c:8: templates[0].sidecars[1]: Duplicate value: "b"
c:8: templates[0].sidecars[2]: Invalid value: "B_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
c:9: templates[0].overridable[0]: Invalid value: "resource": no field of a container that can be opened
  hint: write * for all of them, or names such as env, resources.limits, securityContext.runAsUser
c:9: templates[0].overridable[2]: Invalid value: "securityContext.user": no field of a container that can be opened
  hint: write * for all of them, or names such as env, resources.limits, securityContext.runAsUser
`,
		},
		"aliases": {
			reason: "they end in templates",
			config: oneTemplate + "aliases:\n  a: [a]\n  b: [c]\n  c: [d, a]\n  d: [b]\n  e: []\n  f: [g]\ndefaultTemplates: [b, h, b]\n",
			want: `c:7: aliases[a]: Invalid value: "a": a template has this name already
c:7: aliases[a]: Invalid value: "a": the alias stands for itself: a, which stands for a
c:11: aliases[e]: Required value: an alias stands for one template or more
c:12: aliases[f][0]: Not found: "g"
c:13: defaultTemplates[1]: Not found: "h"
c:13: defaultTemplates[2]: Duplicate value: "b"
`,
		},
		"alias cycle": {
			reason: "the whole round is told",
			config: oneTemplate + "aliases: {b: [c], c: [d, a], d: [b]}\n",
			want:   "c:6: aliases[b]: Invalid value: \"b\": the alias stands for itself: b, which stands for c, which stands for d, which stands for b\n",
		},
		"order": {
			reason: "it names containers and says something",
			config: oneTemplate + "  order:\n  - {container: b}\n  - {container: b, before: [\"\"]}\n  - {container: \"*\", after: [C_]}\n",
			want: `c:7: templates[0].order[0]: Required value: before or after names another container
c:8: templates[0].order[1].before[0]: Required value
c:8: templates[0].order[1].container: Duplicate value: "b"
c:9: templates[0].order[2].after[0]: Invalid value: "C_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
c:9: templates[0].order[2].container: Invalid value: "*": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
`,
		},
		"order cycle": {
			reason: "the author's containers are one place in the order",
			config: oneTemplate + "  order: [{container: b, before: [\"*\"]}, {container: c, before: [b], after: [\"*\"]}]\n",
			want:   "c:6: templates[0].order: Invalid value: \"*\": the order contradicts itself: * before c before b before *\n  hint: remove one of the constraints\n",
		},
		"order cycle across templates": {
			reason: "templates that are injected together must agree",
			config: oneTemplate + "  order: [{container: b, before: [c]}]\n- name: e\n  text: x\n  order: [{container: c, before: [b]}]\naliases: {both: [a, e]}\ndefaultTemplates: [both]\n",
			want:   "c:11: defaultTemplates: Invalid value: \"both\": the orders of these templates contradict each other: b before c before b\n  hint: remove one of the constraints from order\n",
		},
		"parameter names": {
			reason: "names and annotations are there once",
			config: oneTemplate + "  parameters:\n  - {name: p, type: int, annotation: x.example/p}\n  - {name: p, type: int, annotation: x.example/p}\n  - {name: 1st, type: int, annotation: \"a b\"}\n  - {}\n  - {name: q, type: integer}\n",
			want: `c:8: templates[0].parameters[1].annotation: Duplicate value: "x.example/p"
c:8: templates[0].parameters[1].name: Duplicate value: "p"
c:9: templates[0].parameters[2].annotation: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')
c:9: templates[0].parameters[2].name: Invalid value: "1st": want a letter, then letters, digits, - and _, at most 63 in all
c:10: templates[0].parameters[3].name: Required value
c:10: templates[0].parameters[3].type: Required value: one of string, bool, int, quantity, duration, port, ports, cidrs, enum, image
c:11: templates[0].parameters[4].type: Unsupported value: "integer": supported values: "string", "bool", "int", "quantity", "duration", "port", "ports", "cidrs", "enum", "image"
`,
		},
		"parameter bounds": {
			reason: "a bound that means nothing is a mistake",
			config: oneTemplate + "  parameters:\n  - {name: b, type: bool, min: 1, max: 2, values: [a]}\n  - {name: e, type: enum}\n  - {name: f, type: enum, values: [a, a]}\n  - {name: i, type: int, pattern: x}\n  - {name: s, type: string, pattern: \"(\"}\n  - {name: t, type: string, pattern: " + strings.Repeat("x", 1025) + "}\n",
			want: `c:7: templates[0].parameters[0].max: Forbidden: means nothing for type bool, only for string, int, quantity, duration, port, ports
c:7: templates[0].parameters[0].min: Forbidden: means nothing for type bool, only for string, int, quantity, duration, port, ports
c:7: templates[0].parameters[0].values: Forbidden: means nothing for type bool, only for enum
c:8: templates[0].parameters[1].values: Required value: an enum has values
c:9: templates[0].parameters[2].values[1]: Duplicate value: "a"
c:10: templates[0].parameters[3].pattern: Forbidden: means nothing for type int, only for string, image
c:11: templates[0].parameters[4].pattern: Invalid value: "(": missing closing ): ` + "`(`" + `
c:12: templates[0].parameters[5].pattern: Too long: may not be more than 1024 bytes
`,
		},
		"atMost": {
			reason: "two values are compared only if they are of one kind",
			config: oneTemplate + "  parameters:\n  - {name: a, type: quantity, atMost: b}\n  - {name: b, type: int, atMost: b}\n  - {name: c, type: port, atMost: d}\n",
			want: `c:7: templates[0].parameters[0].atMost: Invalid value: "b": its type is int, and this one's is quantity
c:8: templates[0].parameters[1].atMost: Invalid value: "b": the parameter itself
c:9: templates[0].parameters[2].atMost: Forbidden: means nothing for type port, only for quantity, int, duration
c:9: templates[0].parameters[2].atMost: Not found: "d"
`,
		},
		"too many": {
			reason: "the work is bounded",
			config: "templates: [" + strings.Repeat("{name: a, text: b},", 201) + "]\n",
			want:   "c:3: templates: Too many: 201: must have at most 200 items\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(files("c", head+tc.config))
			if diff := cmp.Diff(tc.want, told(err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateWithoutParse(t *testing.T) {
	got := Config{}.Validate().ToAggregate().Error()
	want := `[apiVersion: Unsupported value: "": supported values: "config.pillion.dev/v1alpha1", kind: Unsupported value: "": supported values: "InjectorConfig", dialect: Unsupported value: "": supported values: "pillion", "istio", policy: Unsupported value: "": supported values: "enabled", "disabled", nativeSidecars: Unsupported value: "": supported values: "auto", "on", "off", proof: Unsupported value: "": supported values: "sampled", "always"]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExpand(t *testing.T) {
	c := Config{
		Templates: []Template{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Aliases:   map[string][]string{"ab": {"a", "b"}, "all": {"ab", "c", "ab"}, "round": {"round", "a"}},
	}
	tests := map[string]struct {
		reason          string
		names           []string
		templates, lost []string
	}{
		"templates":   {"in the order given", []string{"c", "a"}, []string{"c", "a"}, nil},
		"aliases":     {"each template once", []string{"b", "all"}, []string{"b", "a", "c"}, nil},
		"unknown":     {"told apart", []string{"x", "a", "y", "x"}, []string{"a"}, []string{"x", "y"}},
		"round":       {"it ends", []string{"round"}, []string{"a"}, nil},
		"no names":    {"no templates", nil, nil, nil},
		"empty names": {"no template has an empty name", []string{""}, nil, []string{""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			templates, lost := c.Expand(tc.names)
			if diff := cmp.Diff([][]string{tc.templates, tc.lost}, [][]string{templates, lost}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// The names of overridable are the API's own, so that a field that Kubernetes adds is met here.
func TestContainerFieldsAreTheAPIs(t *testing.T) {
	container := fieldsOf(reflect.TypeFor[corev1.Container]())
	delete(container, "name")
	var top []string
	for _, name := range containerFields {
		if name == "*" || name == "probes" {
			continue
		}
		outer, inner, nested := strings.Cut(name, ".")
		f, ok := container[outer]
		if !ok {
			t.Errorf("%s: a container has no field %s", name, outer)
			continue
		}
		if !nested {
			top = append(top, name)
			continue
		}
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if _, ok := fieldsOf(typ)[inner]; !ok {
			t.Errorf("%s: %s has no field %s", name, outer, inner)
		}
	}
	if diff := cmp.Diff(sortedKeys(container), slices.Sorted(slices.Values(top))); diff != "" {
		t.Errorf("the fields of a container (-API +ours):\n%s", diff)
	}
	for name := range fieldsOf(reflect.TypeFor[corev1.SecurityContext]()) {
		if !slices.Contains(containerFields, "securityContext."+name) {
			t.Errorf("securityContext.%s is missing", name)
		}
	}
}

func TestOverridableFields(t *testing.T) {
	got := Template{Overridable: []string{"env", "probes"}}.OverridableFields()
	if diff := cmp.Diff([]string{"env", "livenessProbe", "readinessProbe", "startupProbe"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
