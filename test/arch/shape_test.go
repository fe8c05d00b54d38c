// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

const (
	maxFile       = 300
	maxFunction   = 60
	maxParameters = 4
	maxNesting    = 3
)

const licence = "// SPDX-License-Identifier: Apache-2.0\n"

func filesAreShort(t tree) []string {
	var breaches []string
	for _, s := range t {
		if n := strings.Count(s.text, "\n"); n > maxFile && !s.generated {
			breaches = append(breaches, fmt.Sprintf("%s: %d lines, at most %d", s.path, n, maxFile))
		}
	}
	return breaches
}

// functions visits the functions of the files that people wrote, tests apart.
func (t tree) functions(visit func(s source, f *ast.FuncDecl)) {
	for _, s := range t.written() {
		for _, decl := range s.ast.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				visit(s, f)
			}
		}
	}
}

func functionsAreShort(t tree) []string {
	var breaches []string
	t.functions(func(s source, f *ast.FuncDecl) {
		if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunction {
			breaches = append(breaches, s.breach(f, "%s has %d lines, at most %d", f.Name.Name, n, maxFunction))
		}
	})
	return breaches
}

func fewParameters(t tree) []string {
	var breaches []string
	t.functions(func(s source, f *ast.FuncDecl) {
		if n := f.Type.Params.NumFields(); n > maxParameters {
			breaches = append(breaches, s.breach(f, "%s takes %d parameters, at most %d: make it a struct", f.Name.Name, n, maxParameters))
		}
	})
	return breaches
}

func littleNesting(t tree) []string {
	var breaches []string
	t.functions(func(s source, f *ast.FuncDecl) {
		if n := depth(f.Body); n > maxNesting {
			breaches = append(breaches, s.breach(f, "%s nests %d deep, at most %d", f.Name.Name, n, maxNesting))
		}
	})
	return breaches
}

// depth is how deep the branches and loops of a function nest. A function literal counts as a
// function of its own, an else-if as its if.
func depth(body *ast.BlockStmt) int {
	deepest := 0
	if body == nil {
		return 0
	}
	var visit func(n ast.Node, level int)
	visit = func(n ast.Node, level int) {
		deepest = max(deepest, level)
		ast.Inspect(n, func(child ast.Node) bool {
			if child == n || child == nil {
				return true
			}
			switch c := child.(type) {
			case *ast.FuncLit:
				visit(c.Body, 0)
				return false
			case *ast.IfStmt:
				if parent, ok := n.(*ast.IfStmt); ok && parent.Else == c {
					visit(c, level)
					return false
				}
				visit(c, level+1)
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				visit(c, level+1)
				return false
			}
			return true
		})
	}
	visit(body, 0)
	return deepest
}

func packageComments(t tree) []string {
	var breaches []string
	for dir, files := range t.written().packages() {
		want, found := "Package "+files[0].ast.Name.Name+" ", false
		if files[0].ast.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		for _, s := range files {
			found = found || strings.HasPrefix(s.ast.Doc.Text(), want)
		}
		if !found {
			breaches = append(breaches, fmt.Sprintf("%s: no comment that begins with %q", dir, want))
		}
	}
	return breaches
}

func exportedComments(t tree) []string {
	var breaches []string
	for _, s := range t.product() {
		if s.ast.Name.Name == "main" {
			continue
		}
		for _, decl := range s.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && receiverExported(d) {
					breaches = append(breaches, s.breach(d, "%s has no comment", d.Name.Name))
				}
			case *ast.GenDecl:
				breaches = append(breaches, s.bareSpecs(d)...)
			}
		}
	}
	return breaches
}

func receiverExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	return ast.IsExported(root(f.Recv.List[0].Type).Name)
}

// bareSpecs tells of exported names without a comment; the comment of a group speaks for its
// constants and variables, but each type needs one of its own.
func (s source) bareSpecs(d *ast.GenDecl) []string {
	var breaches []string
	for _, spec := range d.Specs {
		switch v := spec.(type) {
		case *ast.TypeSpec:
			if v.Name.IsExported() && v.Doc == nil && v.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				breaches = append(breaches, s.breach(v, "%s has no comment", v.Name.Name))
			}
		case *ast.ValueSpec:
			if v.Names[0].IsExported() && v.Doc == nil && v.Comment == nil && d.Doc == nil {
				breaches = append(breaches, s.breach(v, "%s has no comment", v.Names[0].Name))
			}
		}
	}
	return breaches
}

func packageNames(t tree) []string {
	var breaches []string
	for dir, files := range t.packages() {
		for _, name := range []string{path.Base(dir), strings.TrimSuffix(files[0].ast.Name.Name, "_test")} {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc", "base"}, name) {
				breaches = append(breaches, fmt.Sprintf("%s: %q says nothing about what the package is", dir, name))
				break
			}
		}
	}
	return breaches
}

func licenceLines(t tree) []string {
	var breaches []string
	for _, s := range t {
		if !strings.HasPrefix(s.text, licence) && !s.generated {
			breaches = append(breaches, s.path+": does not begin with "+strings.TrimSpace(licence))
		}
	}
	return breaches
}
