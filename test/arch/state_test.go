// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

func noInit(t tree) []string {
	var breaches []string
	t.functions(func(s source, f *ast.FuncDecl) {
		if f.Recv == nil && f.Name.Name == "init" {
			breaches = append(breaches, s.breach(f, "an init function: build the value where it is used"))
		}
	})
	return breaches
}

func noSkips(t tree) []string {
	var breaches []string
	for _, s := range t {
		if !s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, f.Sel.Name) {
				breaches = append(breaches, s.breach(call, "a test that skips proves nothing: let it fail"))
			}
			return true
		})
	}
	return breaches
}

// noSleeps allows the sleeps of testing/synctest, which take no time.
func noSleeps(t tree) []string {
	var breaches []string
	for _, s := range t {
		if (s.test || within(s.dir, "test")) && s.nameOf("testing/synctest") == "" {
			breaches = append(breaches, s.uses("time", []string{"Sleep"}, "wait for what is awaited, or use testing/synctest")...)
		}
	}
	return breaches
}

// constantVariables finds package variables that are made to change: those that a function assigns
// to or hands out by address, and those of a type that exists to be changed. It knows names, not
// types: a name that a function declares for itself is taken for a local one all through it.
func constantVariables(t tree) []string {
	var breaches []string
	for _, files := range t.written().packages() {
		vars := map[string]bool{}
		for _, s := range files {
			breaches = append(breaches, s.variables(vars)...)
		}
		files.functions(func(s source, f *ast.FuncDecl) {
			breaches = append(breaches, s.changes(f, vars)...)
		})
	}
	return breaches
}

// variables adds the file's package variables to vars and tells of those of a changeable type.
func (s source) variables(vars map[string]bool) []string {
	var breaches []string
	for _, decl := range s.ast.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			for _, name := range v.Names {
				vars[name.Name] = name.Name != "_"
			}
			if kind := s.changeable(v.Type); kind != "" {
				breaches = append(breaches, s.breach(v, "package variable %s is a %s: put it into a struct", v.Names[0].Name, kind))
			}
		}
	}
	return breaches
}

// changeable names a type whose only use is to change. sync.Pool is none: what it holds has no meaning.
func (s source) changeable(kind ast.Expr) string {
	if _, ok := kind.(*ast.ChanType); ok {
		return "channel"
	}
	if index, ok := kind.(*ast.IndexExpr); ok {
		kind = index.X
	}
	selector, ok := kind.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from := root(selector).Name
	known := from == s.nameOf("sync/atomic") ||
		from == s.nameOf("sync") && slices.Contains([]string{"Mutex", "RWMutex", "Map", "Once", "WaitGroup", "Cond"}, selector.Sel.Name)
	if from == "" || !known {
		return ""
	}
	return from + "." + selector.Sel.Name
}

// changes tells where a function changes one of the package variables, or one of another package.
func (s source) changes(f *ast.FuncDecl, vars map[string]bool) []string {
	var breaches []string
	local := locals(f)
	tell := func(at ast.Node, target ast.Expr) {
		name := root(target).Name
		if local[name] {
			return
		}
		if _, foreign := target.(*ast.SelectorExpr); vars[name] || foreign && s.importsAs(name) {
			breaches = append(breaches, s.breach(at, "%s changes the package variable %s", f.Name.Name, name))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.AssignStmt:
			for _, target := range v.Lhs {
				if v.Tok != token.DEFINE {
					tell(v, target)
				}
			}
		case *ast.IncDecStmt:
			tell(v, v.X)
		case *ast.RangeStmt:
			for _, target := range []ast.Expr{v.Key, v.Value} {
				if target != nil && v.Tok == token.ASSIGN {
					tell(v, target)
				}
			}
		case *ast.UnaryExpr:
			if v.Op == token.AND {
				tell(v, v.X)
			}
		case *ast.CallExpr:
			if fun, ok := v.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, fun.Name) && len(v.Args) > 0 {
				tell(v, v.Args[0])
			}
		}
		return true
	})
	return breaches
}

func (s source) importsAs(name string) bool {
	found := false
	s.imports(func(_ *ast.ImportSpec, n, _ string) { found = found || n == name })
	return found
}

// locals is every name that a function declares anywhere in it.
func locals(f *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.Field:
			for _, name := range v.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if v.Tok == token.DEFINE {
				add(v.Lhs...)
			}
		case *ast.RangeStmt:
			if v.Tok == token.DEFINE {
				add(v.Key, v.Value)
			}
		case *ast.ValueSpec:
			for _, name := range v.Names {
				add(name)
			}
		}
		return true
	})
	return names
}

// root is the name that an expression starts from: x of x.f[1].g. It has no name when the
// expression starts from something else, such as a call.
func root(e ast.Expr) *ast.Ident {
	for {
		switch v := e.(type) {
		case *ast.Ident:
			return v
		case *ast.SelectorExpr:
			e = v.X
		case *ast.IndexExpr:
			e = v.X
		case *ast.IndexListExpr:
			e = v.X
		case *ast.SliceExpr:
			e = v.X
		case *ast.StarExpr:
			e = v.X
		case *ast.ParenExpr:
			e = v.X
		default:
			return &ast.Ident{Name: fmt.Sprintf("(%T)", e)}
		}
	}
}
