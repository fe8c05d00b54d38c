// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	repository = "../.."
	examples   = "../../docs/examples"
)

// pages are the files that readers copy commands from. Design notes are none: they tell what was
// thought at a time.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{filepath.Join(repository, "README.md"), filepath.Join(repository, "templates", "README.md")}
	err := filepath.WalkDir(filepath.Join(repository, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "design" {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range list { // the examples are run in a directory of their own
		if list[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// block is one fenced block of a page.
type block struct {
	language string
	line     int // of its first line in the page, from 1
	lines    []string
}

// blocks cuts a page at its fences.
func blocks(t *testing.T, path string) (lines []string, found []block) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var open *block
	for i, line := range lines {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && line[0] != '`':
			t.Fatalf("%s:%d: an indented fence is not read here", path, i+1)
		case fence && open == nil:
			open = &block{language: language, line: i + 2}
		case fence:
			open.lines = lines[open.line-1 : i]
			found = append(found, *open)
			open = nil
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", path, open.line)
	}
	return lines, found
}

// TestDocsBlocks holds the fences to the few languages that a test reads, and the commands that no
// test runs to those that need a cluster or a terminal.
func TestDocsBlocks(t *testing.T) {
	notRun := regexp.MustCompile(`^(make|git|kubectl|cd|export|injector serve|bin/injector serve)\b`)
	for _, path := range pages(t) {
		_, found := blocks(t, path)
		for _, b := range found {
			if !slices.Contains([]string{"console", "sh", "yaml"}, b.language) {
				t.Errorf("%s:%d: the language %q: want console, which is run, or sh or yaml", path, b.line, b.language)
			}
			for i, line := range b.lines {
				if b.language == "sh" && line != "" && !strings.HasPrefix(line, "#") && !notRun.MatchString(line) {
					t.Errorf("%s:%d: %q can be run: put it into a console block", path, b.line+i, line)
				}
			}
		}
	}
}

// TestDocsExamples runs every console block, and compares or rewrites what it shows. The blocks of a
// page share a directory, a copy of docs/examples.
func TestDocsExamples(t *testing.T) {
	for _, path := range pages(t) {
		name, err := filepath.Rel(repository, path)
		if err != nil {
			name = filepath.Base(path)
		}
		lines, found := blocks(t, path)
		if !slices.ContainsFunc(found, func(b block) bool { return b.language == "console" }) {
			continue
		}
		from, err := filepath.Abs(examples)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			page(t, path, lines, found)
		})
	}
}

func page(t *testing.T, path string, lines []string, found []block) {
	var out []string
	at := 0 // lines that are copied already
	for _, b := range found {
		if b.language != "console" {
			continue
		}
		out = append(out, lines[at:b.line-1]...)
		at = b.line - 1 + len(b.lines)
		out = append(out, console(t, path, b)...)
	}
	out = append(out, lines[at:]...)
	if t.Failed() || slices.Equal(lines, out) {
		return
	}
	if err := os.WriteFile(path, []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// console runs the commands of one block, and returns the block as it should be.
func console(t *testing.T, path string, b block) []string {
	if len(b.lines) == 0 || !strings.HasPrefix(b.lines[0], "$ ") {
		t.Fatalf("%s:%d: a console block begins with a command", path, b.line)
	}
	var out []string
	for i := 0; i < len(b.lines); {
		end := i + 1
		for end < len(b.lines) && !strings.HasPrefix(b.lines[end], "$ ") {
			end++
		}
		want, got := b.lines[i+1:end], shell(t, strings.TrimPrefix(b.lines[i], "$ "))
		out = append(out, b.lines[i])
		switch {
		case shows(want, got):
			out = append(out, want...)
		case *update:
			out = append(out, got...)
		default:
			t.Errorf("%s:%d: %s (-page +got; make golden accepts it)\n%s", path, b.line+i, b.lines[i], cmp.Diff(want, got))
			out = append(out, want...)
		}
		i = end
	}
	return out
}

// shows tells whether a page shows this output. A line of three dots stands for any lines.
func shows(page, output []string) bool {
	if len(page) == 0 {
		return len(output) == 0
	}
	if page[0] != "..." {
		return len(output) > 0 && page[0] == output[0] && shows(page[1:], output[1:])
	}
	for i := range len(output) + 1 {
		if shows(page[1:], output[i:]) {
			return true
		}
	}
	return false
}

// step is one command of a pipe.
type step struct {
	args    []string
	in, out string // redirections
}

// shell runs one command line and returns the lines that a terminal shows, and the exit code if it
// is not 0.
func shell(t *testing.T, line string) []string {
	t.Helper()
	var report bytes.Buffer
	var data []byte
	code := exitOK
	for _, c := range pipe(t, line) {
		if c.in != "" {
			data = read(t, c.in)
		}
		var out bytes.Buffer
		code = c.run(t, streams{bytes.NewReader(data), &out, &report})
		data = out.Bytes()
		if c.out != "" {
			if err := os.WriteFile(c.out, data, 0o644); err != nil {
				t.Fatal(err)
			}
			data = nil
		}
	}
	text := string(data)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += report.String()
	if code != exitOK {
		text += fmt.Sprintf("# exit %d\n", code)
	}
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (c step) run(t *testing.T, s streams) int {
	t.Helper()
	switch c.args[0] {
	case "injector":
		return run(t.Context(), c.args[1:], s)
	case "cat":
		for _, name := range c.args[1:] {
			_, _ = s.out.Write(read(t, name))
		}
		return exitOK
	case "diff":
		cmd := exec.CommandContext(t.Context(), "diff", c.args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
	t.Fatalf("%s: only injector, cat and diff are run here", c.args[0])
	return exitUsage
}

// pipe reads a command line: words, single quotes, pipes and redirections.
func pipe(t *testing.T, line string) []step {
	t.Helper()
	words := regexp.MustCompile(`'[^']*'|[|<>]|[^\s|<>']+`).FindAllString(line, -1)
	list := []step{{}}
	for i := 0; i < len(words); i++ {
		c := &list[len(list)-1]
		switch word := words[i]; {
		case word == "|":
			list = append(list, step{})
		case (word == "<" || word == ">") && i+1 < len(words):
			i++
			if word == "<" {
				c.in = words[i]
			} else {
				c.out = words[i]
			}
		default:
			c.args = append(c.args, strings.Trim(word, "'"))
		}
	}
	if slices.ContainsFunc(list, func(c step) bool { return len(c.args) == 0 }) {
		t.Fatalf("%q: a command is missing", line)
	}
	return list
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
