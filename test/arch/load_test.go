// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pillion-dev/pillion"

// A source is one parsed Go file of the repository.
type source struct {
	path      string // from the root of the repository, with slashes
	dir       string
	text      string
	test      bool
	generated bool
	fset      *token.FileSet
	ast       *ast.File
}

type tree []source

// product leaves out tests, generated files and everything that only tests use.
func (t tree) product() tree {
	var out tree
	for _, s := range t {
		if !s.test && !s.generated && !within(s.dir, "test") {
			out = append(out, s)
		}
	}
	return out
}

// written leaves out tests and generated files.
func (t tree) written() tree {
	var out tree
	for _, s := range t {
		if !s.test && !s.generated {
			out = append(out, s)
		}
	}
	return out
}

func (t tree) packages() map[string]tree {
	out := map[string]tree{}
	for _, s := range t {
		out[s.dir] = append(out[s.dir], s)
	}
	return out
}

func (s source) breach(at ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.line(at.Pos()), fmt.Sprintf(format, args...))
}

func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// imports gives each import's path, and the name that the file calls it by.
func (s source) imports(visit func(spec *ast.ImportSpec, name, target string)) {
	for _, spec := range s.ast.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(target)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		visit(spec, name, target)
	}
}

// nameOf is the name that the file calls target by; empty when it does not import it.
func (s source) nameOf(target string) string {
	found := ""
	s.imports(func(_ *ast.ImportSpec, name, t string) {
		if t == target {
			found = name
		}
	})
	return found
}

// within reports whether the folder is parent or lies below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func parse(name, text string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	return source{
		path: name, dir: path.Dir(name), text: text, fset: fset, ast: file,
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(file),
	}, nil
}

func parseAll(t *testing.T, files map[string]string) tree {
	t.Helper()
	var out tree
	for name, text := range files {
		s, err := parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// findRoot climbs from the test's folder to the one with the module's go.mod.
func findRoot(t *testing.T) (string, fs.FS) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir, os.DirFS(dir)
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod of %s above the test", module)
		}
		dir = filepath.Dir(dir)
	}
}

// load parses every Go file of the repository, those of its other modules too.
func load(t *testing.T) tree {
	t.Helper()
	_, root := findRoot(t)
	var out tree
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		s, err := parse(name, string(text))
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
