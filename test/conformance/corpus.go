// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// testCase is one line of the report.
type testCase struct {
	suite, name string
	check       func(*runner) verdict
}

// corpus is a folder of recorded cases. What a file is for is told by its form, not by its folder.
type corpus struct {
	root   string
	cases  []testCase
	unread []string // top folders and files in which nothing is a case

	pods  []*input // of the folders, for the rows of HTTP requests, which name no configuration
	texts map[string][]byte
}

// ours are the files that a case consists of, or that say something about the corpus.
func ours(name string) bool {
	return name == "case.json" || name == "http.json" || path.Ext(name) == ".jsonl"
}

// open finds the cases below a folder.
func open(root string) (*corpus, error) {
	c := &corpus{root: root, texts: map[string][]byte{}}
	tops := map[string]bool{}
	var http []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		top, _, _ := strings.Cut(name, "/")
		switch {
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || name == top && !ours(name):
			return nil
		case !ours(entry.Name()):
			tops[top] = tops[top] || false
			return nil
		}
		tops[top] = true
		if entry.Name() == "http.json" {
			http = append(http, name)
			return nil
		}
		return c.add(name)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range http { // last: they look for a configuration among the others
		if err := c.addHTTP(name); err != nil {
			return nil, err
		}
	}
	if len(c.cases) == 0 {
		return nil, fmt.Errorf("%s holds no case", root)
	}
	for top, read := range tops {
		if !read && top != "shared" {
			c.unread = append(c.unread, top)
		}
	}
	slices.Sort(c.unread)
	return c, nil
}

// add adds the cases of one file.
func (c *corpus) add(name string) error {
	var err error
	switch stem := strings.TrimSuffix(name, ".jsonl"); {
	case path.Base(name) == "case.json":
		err = c.addFolder(path.Dir(name))
	case c.exists(stem + ".case.json"):
		err = c.addLines(stem)
	default:
		err = c.addTable(name)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// suiteOf is the name of the top folder, up to the first dot.
func suiteOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	if i := strings.IndexByte(top, '.'); i > 0 {
		top = top[:i]
	}
	return top
}

func (c *corpus) exists(name string) bool {
	_, err := os.Stat(filepath.Join(c.root, name))
	return err == nil
}

// text is a file that many cases share.
func (c *corpus) text(name string) ([]byte, error) {
	if raw, ok := c.texts[name]; ok {
		return raw, nil
	}
	raw, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		return nil, err
	}
	c.texts[name] = raw
	return raw, nil
}

func (c *corpus) file(parts ...string) ([]byte, error) {
	return os.ReadFile(filepath.Join(append([]string{c.root}, parts...)...))
}

// addFolder adds the case of a folder: a request to the webhook, or a manifest for the command line.
func (c *corpus) addFolder(dir string) error {
	in, err := c.input(path.Join(dir, "case.json"))
	if err != nil {
		return err
	}
	in.name = dir
	want := outcome{kind: in.file.Outcome, text: in.file.Error}
	one := testCase{suite: suiteOf(dir), name: dir}
	if c.exists(path.Join(dir, "input.yaml")) {
		one.check, err = c.manifestCase(dir, in, want)
	} else {
		one.check, err = c.requestCase(dir, in, want)
	}
	c.cases = append(c.cases, one)
	return err
}

func (c *corpus) requestCase(dir string, in *input, want outcome) (func(*runner) verdict, error) {
	raw, err := c.file(dir, "request.json")
	if err != nil {
		return nil, err
	}
	if err := in.request(raw); err != nil {
		return nil, err
	}
	if want.kind == injected {
		if want.tree, err = c.document(dir, "expected.json"); err != nil {
			return nil, err
		}
	}
	in.want = want
	c.pods = append(c.pods, in)
	return func(r *runner) verdict { return r.pod(in, want) }, nil
}

func (c *corpus) document(parts ...string) (any, error) {
	raw, err := c.file(parts...)
	if err != nil {
		return nil, err
	}
	return decode(raw)
}

// line is one case of a file of many pods that share a configuration.
type line struct {
	Name, Namespace, Outcome, Error string
	Pod, Expected                   json.RawMessage
}

func (c *corpus) addLines(stem string) error {
	raw, err := c.file(stem + ".jsonl")
	if err != nil {
		return err
	}
	base, err := c.input(stem + ".case.json")
	if err != nil {
		return err
	}
	n := 0
	for text := range bytes.Lines(raw) {
		if n++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		in := *base
		in.name = fmt.Sprintf("%s/%s#%d", stem, l.Name, n)
		if err := in.object(l.Pod, l.Namespace); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		want := outcome{kind: l.Outcome, text: l.Error}
		if want.kind == injected {
			if want.tree, err = decode(l.Expected); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		c.cases = append(c.cases, testCase{suiteOf(stem), in.name, func(r *runner) verdict { return r.pod(&in, want) }})
	}
	return nil
}

// addTable adds the rows of a table of one function.
func (c *corpus) addTable(name string) error {
	raw, err := c.file(name)
	if err != nil {
		return err
	}
	stem := strings.TrimSuffix(name, ".jsonl")
	n := 0
	for text := range bytes.Lines(raw) {
		if n++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		row := row(bytes.TrimSpace(text))
		c.cases = append(c.cases, testCase{suiteOf(stem), fmt.Sprintf("%s#%d", stem, n), func(r *runner) verdict {
			return r.unit(path.Base(stem), row)
		}})
	}
	return nil
}
