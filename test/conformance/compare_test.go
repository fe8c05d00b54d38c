// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T, text string) any {
	t.Helper()
	value, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// A document is like itself, two documents differ in both directions or in none, and a normal form is
// its own normal form but for JSON texts, which have become JSON.
func FuzzCompare(f *testing.F) {
	f.Add(`{"a":[1,{"name":"x","value":"{\"b\":2}"}],"emptyDir":{}}`, `{"a":[1.0],"labels":{"x":""}}`)
	f.Add(`[null,"",[],{}]`, `[]`)
	f.Fuzz(func(t *testing.T, one, other string) {
		a, err := decode([]byte(one))
		b, err2 := decode([]byte(other))
		if err != nil || err2 != nil {
			return
		}
		a, b = norm(a, ""), norm(b, "")
		if d := diff(a, a, ""); len(d) > 0 {
			t.Errorf("it differs from itself: %q", d)
		}
		if (len(diff(a, b, "")) == 0) != (len(diff(b, a, "")) == 0) {
			t.Errorf("%s and %s differ in one direction only", text(a), text(b))
		}
		if d := diff(norm(a, ""), a, ""); len(d) > 0 {
			t.Errorf("a normal form has another: %q", d)
		}
	})
}

func TestCompare(t *testing.T) {
	cases := map[string]struct {
		reason    string
		got, want string
		diffs     []string
	}{
		"empty says nothing":        {"the original leaves out or writes it as its types say", `{"a":null,"b":{},"c":[],"d":"","e":{"f":{}}}`, `{}`, nil},
		"an empty volume":           {"emptyDir is a source, even when it is empty", `{"emptyDir":{}}`, `{}`, []string{"/emptyDir: unexpected {}"}},
		"an empty label":            {"the name alone says something", `{"labels":{"a":""}}`, `{"labels":{}}`, []string{"/labels: unexpected {\"a\":\"\"}"}},
		"an empty variable":         {"a variable without a value is an empty one", `[{"name":"A","value":""}]`, `[{"name":"A"}]`, nil},
		"numbers":                   {"by their value", `{"a":1.0,"b":1e2,"c":0.5}`, `{"a":1,"b":100,"c":0.50}`, nil},
		"a number is no text":       {"a port by number is another than one by name", `{"port":80}`, `{"port":"80"}`, []string{`/port: want "80" got 80`}},
		"zero and false":            {"they are values", `{"a":0,"b":false}`, `{}`, []string{"/a: unexpected 0", "/b: unexpected false"}},
		"JSON in a variable":        {"by its meaning", `[{"value":"{\"a\": 1, \"b\":[2]}"}]`, `[{"value":"{\"b\":[2],\"a\":1}"}]`, nil},
		"other JSON in a variable":  {"by its meaning", `[{"value":"[1]"}]`, `[{"value":"[2]"}]`, []string{"/0/value: want [2] got [1]"}},
		"JSON in an annotation":     {"only variables are compared by their meaning", `{"annotations":{"a":"{ }"}}`, `{"annotations":{"a":"{}"}}`, []string{`/annotations/a: want "{}" got "{ }"`}},
		"a template in a variable":  {"it only looks like JSON", `[{"value":"{x}"}]`, `[{"value":"{y}"}]`, []string{`/0/value: want "{y}" got "{x}"`}},
		"order":                     {"the order of lists is part of the answer", `["a","b"]`, `["b","a"]`, []string{`/0: want "b" got "a"`, `/1: want "a" got "b"`}},
		"length":                    {"with what both have", `["a","b"]`, `["c"]`, []string{"length", `/0: want "c" got "a"`}},
		"missing":                   {"with what was wanted", `{}`, `{"a":{"b":1}}`, []string{`/a: missing (want {"b":1})`}},
		"another kind":              {"a list is no object", `{"a":[1]}`, `{"a":{"b":1}}`, []string{`/a: want {"b":1} got [1]`}},
		"an object for a text":      {"nor is an object a text", `{"a":{"b":1}}`, `{"a":"b"}`, []string{`/a: want "b" got {"b":1}`}},
		"null in a list stays":      {"it has a place", `[null]`, `[]`, []string{"length"}},
		"a null variable's meaning": {"value is kept where it is null", `[{"value":null}]`, `[{}]`, []string{"/0/value: unexpected null"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := diff(norm(tree(t, c.got), ""), norm(tree(t, c.want), ""), "")
			for i, d := range c.diffs {
				if d == "length" {
					c.diffs[i] = got[min(i, len(got)-1)]
				}
			}
			if d := cmp.Diff(c.diffs, got); d != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, d)
			}
		})
	}
}

func TestUnnamed(t *testing.T) {
	const original = "2 errors:\n* invalid value 'a\n\"b' for annotation 'x.example/one': no\n* invalid value '0123456789012345678901234567890123456789' for annotation 'x.example/two': no"
	cases := map[string]struct {
		reason, our string
		missing     int
	}{
		"all":            {"as they are", "x.example/one: a\n\"b; x.example/two: 0123456789012345678901234567890123456789", 0},
		"quoted and cut": {"a quoted value, and the beginning of a long one", `x.example/one: "a\n\"b"; x.example/two: 012345678901234567890123456...`, 0},
		"half escaped":   {"control characters escaped, quotes not", `x.example/one: 'a\n"b'; x.example/two: 0123456789012345678901234567890123456789`, 0},
		"one annotation": {"the other is not told", `x.example/two: a\n"b 0123456789012345678901234567890123456789`, 1},
		"no values":      {"the annotations alone", "x.example/one x.example/two", 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := unnamed(original, c.our); len(got) != c.missing {
				t.Errorf("%s: %q", c.reason, got)
			}
		})
	}
	if got := unnamed("template: no such field", "whatever"); len(got) > 0 {
		t.Errorf("an error that names no annotation asks for nothing, got %q", got)
	}
}
