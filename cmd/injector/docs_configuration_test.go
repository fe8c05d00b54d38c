// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/param"
	"github.com/pillion-dev/pillion/pkg/validate"
)

const configHead = "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\n"

// parsed is a configuration of which only the end is written out.
func parsed(t *testing.T, end string) config.Config {
	t.Helper()
	c, err := config.Parse(map[string][]byte{"config.yaml": []byte(configHead + end)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDocsConfigurations lints every configuration that stands in a page, and every one of the
// examples but the broken one.
func TestDocsConfigurations(t *testing.T) {
	seen := 0
	for _, path := range pages(t) {
		_, found := blocks(t, path)
		for _, b := range found {
			text := strings.Join(b.lines, "\n")
			if b.language != "yaml" || !strings.Contains(text, "kind: "+config.Kind) || strings.Contains(path, "templates/") {
				continue
			}
			seen++
			if found := validate.Configuration(map[string][]byte{"config.yaml": []byte(text)}, nil); len(found) > 0 {
				t.Errorf("%s:%d: %+v", path, b.line, found)
			}
		}
	}
	if seen == 0 {
		t.Error("no page shows a configuration")
	}
	for _, name := range []string{"config", "jobs.yaml", "registry.yaml"} {
		command(t, []string{"lint", "--config", filepath.Join(examples, name)}, nil)
	}
}

// TestDocsFragments injects the containers that the pages tell authors to write.
func TestDocsFragments(t *testing.T) {
	_, found := blocks(t, filepath.Join(repository, "docs", "concepts.md"))
	for _, b := range found {
		if b.language != "yaml" {
			continue
		}
		pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec:\n  " + strings.Join(b.lines, "\n  ") +
			"\n  - {name: app, image: \"registry.example/app:1\"}\n"
		out := command(t, []string{"inject", "-f", "-"}, []byte(pod))
		if !strings.Contains(out, "image: fluent/fluent-bit") || !strings.Contains(out, "runAsUser: 4321") {
			t.Errorf("docs/concepts.md:%d: the author's wish is not granted:\n%s", b.line, out)
		}
	}
}

// TestDocsExamplesUsed fails for an example that no page mentions.
func TestDocsExamplesUsed(t *testing.T) {
	all := ""
	for _, path := range pages(t) {
		all += string(read(t, path))
	}
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(all, e.Name()) {
			t.Errorf("docs/examples/%s: no page uses it", e.Name())
		}
	}
}

// fields are the rows of a type's fields: name and default, of a value with defaults alone.
func fields(value reflect.Value) []string {
	var out []string
	for f := range value.Type().Fields() {
		if name := f.Tag.Get("json"); name != "-" {
			out = append(out, name+" | "+display(value.FieldByIndex(f.Index)))
		}
	}
	return out
}

func display(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Map:
		return "`{}`"
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return "`[]`"
		}
		return "`[" + strings.Join(v.Interface().([]string), ", ") + "]`"
	case reflect.Bool:
		return fmt.Sprintf("`%v`", v.Bool())
	}
	if v.Kind() == reflect.String && v.String() != "" {
		return "`" + v.String() + "`"
	}
	return ""
}

func TestDocsFields(t *testing.T) {
	c := parsed(t, "templates:\n- {name: a, text: a, order: [{container: a, before: [b]}], parameters: [{name: a, type: string}]}\n")
	c.APIVersion, c.Kind = "", ""
	one := c.Templates[0]
	one.Name, one.Text = "", ""
	order := one.Order[0]
	order.Container, order.Before = "", nil
	for heading, value := range map[string]any{
		"## Fields": c, "## Templates": one, "### Order": order, "## Parameters": config.Parameter{},
	} {
		var got []string
		for _, cells := range rows(section(t, text(t, "configuration.md"), heading)) {
			if len(cells) == 4 {
				got = append(got, strings.Trim(cells[0], "`")+" | "+cells[2])
			}
		}
		if diff := cmp.Diff(fields(reflect.ValueOf(value)), got); diff != "" {
			t.Errorf("docs/configuration.md, %s (-type +page):\n%s", heading, diff)
		}
	}
}

// TestDocsParameterTypes holds every type to the values that the page says it takes and refuses.
func TestDocsParameterTypes(t *testing.T) {
	var types []string
	for _, cells := range rows(section(t, text(t, "configuration.md"), "## Parameters")) {
		if len(cells) != 5 {
			continue
		}
		name := strings.Trim(cells[0], "`")
		types = append(types, name)
		p := config.Parameter{Name: "p", Type: name, Annotation: "a.example/p"}
		if name == config.TypeEnum {
			p.Values = []string{"a", "b"}
		}
		set, faults := param.New(config.Template{Name: "t", Parameters: []config.Parameter{p}})
		if faults != nil {
			t.Fatal(faults)
		}
		for i, want := range []bool{true, false} {
			for _, value := range codes(cells[3+i]) {
				value = strings.ReplaceAll(value, "⏎", "\n")
				if _, refusal := set.Resolve(map[string]string{p.Annotation: value}, nil); (refusal == nil) != want {
					t.Errorf("%s: %q: %v", name, value, refusal)
				}
			}
		}
	}
	if diff := cmp.Diff(config.ParameterTypes(), types); diff != "" {
		t.Errorf("docs/configuration.md (-types +page):\n%s", diff)
	}
}

// TestDocsOverridable holds the names that the page lists to those that a configuration may use.
func TestDocsOverridable(t *testing.T) {
	names := codes(section(t, text(t, "configuration.md"), "### Overridable"))
	c := map[string]bool{}
	for _, name := range names[1:] { // the first is the field itself
		c[name] = true
	}
	end := "templates:\n- name: a\n  text: a\n  overridable: ['" + strings.Join(slices.Sorted(maps.Keys(c)), "', '") + "']\n"
	parsed(t, end)
	if len(c) < 40 {
		t.Errorf("%d names", len(c))
	}
}

// TestDocsBounds makes configurations at and past each bound of the page.
func TestDocsBounds(t *testing.T) {
	template := "templates:\n- name: a\n  text: a\n"
	repeat := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, item, i)
		}
		return b.String()
	}
	makers := map[string]func(n int) string{
		"templates":                       func(n int) string { return "templates:\n" + repeat(n, "- {name: t%d, text: a}\n") },
		"aliases":                         func(n int) string { return template + "aliases:\n" + repeat(n, "  alias%d: [a]\n") },
		"selectors in a list":             func(n int) string { return "neverInjectSelector:\n" + repeat(n, "- matchLabels: {a: b%d}\n") },
		"items in any list of a template": func(n int) string { return template + "  sidecars:\n" + repeat(n, "  - s%d\n") },
		"a pattern": func(n int) string {
			return template + "  parameters: [{name: p, type: string, pattern: " + strings.Repeat("a", n) + "}]\n"
		},
		"the document":       func(n int) string { return "#" + strings.Repeat("a", n-len(configHead)-2) + "\n" },
		"all files together": nil, // below
	}
	units := map[string]int{"": 1, " KiB": 1 << 10, " MiB": 1 << 20}
	var got []string
	for _, cells := range rows(section(t, text(t, "configuration.md"), "## Bounds")) {
		got = append(got, cells[0])
		var n int
		var unit string
		if _, err := fmt.Sscanf(cells[1], "%d", &n); err != nil {
			t.Fatal(err)
		}
		unit = strings.TrimLeft(cells[1], "0123456789")
		n *= units[unit]
		at := func(n int) map[string][]byte {
			if maker := makers[cells[0]]; maker != nil {
				return map[string][]byte{"config.yaml": []byte(configHead + maker(n))}
			}
			return map[string][]byte{"config.yaml": []byte(configHead), "other": make([]byte, n-len(configHead))}
		}
		if _, err := config.Parse(at(n)); err != nil {
			t.Errorf("%s: %s is refused: %v", cells[0], cells[1], err)
		}
		if _, err := config.Parse(at(n + 1)); err == nil {
			t.Errorf("%s: more than %s is taken", cells[0], cells[1])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(makers)), got); diff != "" {
		t.Errorf("docs/configuration.md (-bounds +page):\n%s", diff)
	}
}
