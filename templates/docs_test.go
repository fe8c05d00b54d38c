// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
)

var update = flag.Bool("update", false, "write the parameter tables of the pages anew")

const (
	pages = "../docs/templates"
	head  = "| parameter | annotation | type | default | bounds | what it sets |\n|---|---|---|---|---|---|\n"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pages, name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryTemplateHasAPage(t *testing.T) {
	entries, err := os.ReadDir(pages)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, entry := range entries {
		got = append(got, strings.TrimSuffix(entry.Name(), ".md"))
	}
	for _, c := range load(t).Templates {
		want = append(want, c.Name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the templates, and the pages on them (-template +page):\n%s", diff)
	}
}

// TestParameterTables holds the tables of the pages to the configuration. What a parameter sets is
// written by hand, and must be.
func TestParameterTables(t *testing.T) {
	for _, c := range load(t).Templates {
		t.Run(c.Name, func(t *testing.T) {
			text := page(t, c.Name)
			before, rest, ok := strings.Cut(text, "<!-- parameters "+c.Name+" -->\n")
			table, after, closed := strings.Cut(rest, "<!-- end -->")
			if !ok || !closed {
				t.Fatalf("the page has no table between <!-- parameters %s --> and <!-- end -->", c.Name)
			}
			want := head
			for _, p := range c.Parameters {
				meaning := meaning(table, p.Name)
				if meaning == "" {
					t.Errorf("the page does not tell what %s sets", p.Name)
				}
				want += row(p, meaning)
			}
			if *update {
				text := before + "<!-- parameters " + c.Name + " -->\n" + want + "<!-- end -->" + after
				if err := os.WriteFile(filepath.Join(pages, c.Name+".md"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, table); diff != "" {
				t.Errorf("the table is not the configuration's; go test ./templates -update writes it (-want +got):\n%s", diff)
			}
		})
	}
}

func row(p config.Parameter, meaning string) string {
	fallback := ""
	if p.Default != nil {
		fallback = code(*p.Default)
	}
	var bounds []string
	for _, b := range []struct{ word, text string }{{"at least", p.Min}, {"at most", p.Max}, {"at most", p.AtMost}} {
		if b.text == "" {
			continue
		}
		bound := b.word + " " + code(b.text)
		if p.Type == config.TypeString {
			bound += " characters"
		}
		bounds = append(bounds, bound)
	}
	if p.Values != nil {
		bounds = append(bounds, "one of "+code(strings.Join(p.Values, "`, `")))
	}
	if p.Pattern != "" {
		bounds = append(bounds, code(p.Pattern))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", code(p.Name), code(p.Annotation), p.Type, fallback, strings.Join(bounds, ", "), meaning)
}

// code is a text as code in a cell of a table, whose borders are escaped even there.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// meaning is the last cell of a parameter's row.
func meaning(table, name string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| "+code(name)+" |") {
			line = strings.TrimSuffix(strings.TrimSpace(line), "|")
			return strings.TrimSpace(line[strings.LastIndex(line, "|")+1:])
		}
	}
	return ""
}
