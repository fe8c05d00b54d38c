// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/validate"
)

// text is a page of docs, without its blocks.
func text(t *testing.T, name string) string {
	t.Helper()
	return prose(string(read(t, filepath.Join(repository, "docs", name))))
}

// prose is a page without its blocks.
func prose(page string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
}

// section is what stands under a heading, up to the next heading of any level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	if end := regexp.MustCompile(`(?m)^#+ `).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// rows are the cells of a section's tables, without their heads.
func rows(section string) [][]string {
	var list [][]string
	lines := strings.Split(section, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|--") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " |")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		list = append(list, cells)
	}
	return list
}

func column(list [][]string, n int) []string {
	var out []string
	for _, cells := range list {
		out = append(out, strings.Trim(cells[n], "`"))
	}
	return out
}

// codes are the words of a cell that stand in backquotes.
func codes(cell string) []string {
	var out []string
	for _, found := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, found[1])
	}
	return out
}

// flagRows are the rows that the flags of some verbs must have: names, verbs and default.
func flagRows(verbs ...*cobra.Command) []string {
	users := map[string][]string{}
	names, fallback := map[string]string{}, map[string]string{}
	for _, verb := range verbs {
		for _, name := range flagNames(verb) {
			name = strings.TrimPrefix(name, "--")
			f := verb.Flags().Lookup(name)
			if f == nil || name == "help" || slices.Contains(users[name], verb.Name()) {
				continue
			}
			users[name] = append(users[name], verb.Name())
			names[name] = "`--" + name + "`"
			if f.Shorthand != "" {
				names[name] = "`-" + f.Shorthand + "`, " + names[name]
			}
			if def := strings.Trim(f.DefValue, "[]"); def != "" && def != "false" {
				fallback[name] = "`" + def + "`"
			}
		}
	}
	var out []string
	for name := range users {
		out = append(out, strings.Join([]string{names[name], strings.Join(users[name], ", "), fallback[name]}, " | "))
	}
	slices.Sort(out)
	return out
}

// verb is one verb of the command line.
func verb(t *testing.T, name string) *cobra.Command {
	t.Helper()
	cmd, _, err := newRoot(streams{}).Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestDocsFlags(t *testing.T) {
	var got []string
	for _, cells := range rows(section(t, text(t, "cli.md"), "## Flags")) {
		got = append(got, strings.Join(cells[:3], " | "))
	}
	slices.Sort(got)
	offline := flagRows(verb(t, "inject"), verb(t, "uninject"), verb(t, "explain"), verb(t, "lint"), verb(t, "bench"), verb(t, "version"))
	if diff := cmp.Diff(offline, got); diff != "" {
		t.Errorf("docs/cli.md (-flags +page):\n%s", diff)
	}
	got = nil
	for _, cells := range rows(section(t, text(t, "serve.md"), "## Flags")) {
		got = append(got, cells[0]+" | serve | "+cells[1])
	}
	slices.Sort(got)
	if diff := cmp.Diff(flagRows(verb(t, "serve")), got); diff != "" {
		t.Errorf("docs/serve.md (-flags +page):\n%s", diff)
	}
}

func TestDocsVerbs(t *testing.T) {
	var got, want []string
	_, table, _ := strings.Cut(text(t, "cli.md"), "\n\n")
	for _, name := range column(rows(table[:strings.Index(table, "\n## ")]), 0) {
		got = append(got, codes(strings.Replace(name, "[", "", 1) + "`")[0])
	}
	root := newRoot(streams{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		want = append(want, cmd.Name())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/cli.md (-verbs +page):\n%s", diff)
	}
}

// jsonPaths are the paths of a type's JSON, as the pages write them.
func jsonPaths(typ reflect.Type, prefix string) []string {
	var out []string
	for f := range typ.Fields() {
		name := f.Tag.Get("json")
		switch {
		case name == "":
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct && f.Type.Elem() != reflect.TypeFor[explainedPatchOp]():
			out = append(out, jsonPaths(f.Type.Elem(), prefix+name+"[].")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

func TestDocsJSON(t *testing.T) {
	for heading, typ := range map[string]reflect.Type{"## explain": reflect.TypeFor[explanation](), "## lint": reflect.TypeFor[validate.Finding]()} {
		if diff := cmp.Diff(jsonPaths(typ, ""), column(rows(section(t, text(t, "cli.md"), heading)), 0)); diff != "" {
			t.Errorf("docs/cli.md, %s (-type +page):\n%s", heading, diff)
		}
	}
}

func TestDocsMetrics(t *testing.T) {
	scrape := string(read(t, filepath.Join(repository, "pkg/metrics/testdata/scrape.txt")))
	var want []string
	for _, found := range regexp.MustCompile(`(?m)^# HELP (injector_\w+)`).FindAllStringSubmatch(scrape, -1) {
		want = append(want, found[1])
	}
	table := rows(section(t, text(t, "serve.md"), "## Metrics"))
	got := column(table, 0)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/serve.md (-metrics +page):\n%s", diff)
	}
	for _, cells := range table {
		series := regexp.MustCompile(`(?m)^` + strings.Trim(cells[0], "`") + `(?:_bucket)?(?:\{(.*)\})? `).FindStringSubmatch(scrape)
		if series == nil {
			continue // told above
		}
		labels := map[string]bool{}
		for _, found := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[1], -1) {
			labels[found[1]] = found[1] != "le"
		}
		for _, label := range strings.Split(cells[1], ", ") {
			if label != "" && !labels[label] {
				t.Errorf("docs/serve.md: %s has no label %s", cells[0], label)
			}
			delete(labels, label)
		}
		for label, own := range labels {
			if own {
				t.Errorf("docs/serve.md: %s has the label %s too", cells[0], label)
			}
		}
	}
}

// TestDocsLinks follows every link between pages, and the headings that they name.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, path := range pages(t) {
		page := prose(string(read(t, path)))
		page = regexp.MustCompile("`[^`]*`").ReplaceAllStringFunc(page, func(code string) string {
			return strings.ReplaceAll(code, "](", "") // no link
		})
		for _, found := range link.FindAllStringSubmatch(page, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(found[1], "#")
			target, content := path, page
			if name != "" {
				target = filepath.Join(filepath.Dir(path), name)
				info, err := os.Stat(target)
				if err != nil {
					t.Errorf("%s: the link %s leads nowhere", path, found[1])
					continue
				}
				if !info.IsDir() {
					content = prose(string(read(t, target)))
				}
			}
			if anchor != "" && !slices.Contains(anchors(content), anchor) {
				t.Errorf("%s: %s has no heading for %s", path, target, found[1])
			}
		}
	}
}

// anchors are the names by which links reach the headings of a page.
func anchors(page string) []string {
	var out []string
	for _, found := range regexp.MustCompile(`(?m)^#+ (.*)$|<a id="([^"]+)">`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(strings.ToLower(found[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"), found[2])
	}
	return out
}
