// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// floors says how high each package lives. A package may import those of lower floors only: never
// one above it, never a neighbour. The command, on top, knows everything.
var floors = map[string]int{
	// words
	"templates": 0, "pkg/annotation": 0, "pkg/config": 0, "pkg/measure": 0, "pkg/patch": 0, "pkg/pod": 0, "pkg/reason": 0,
	// stages
	"pkg/finish": 1, "pkg/overlay": 1, "pkg/param": 1, "pkg/policy": 1, "pkg/render": 1, "pkg/workload": 1,
	// domain
	"pkg/ambient": 2, "pkg/cert": 2, "pkg/history": 2, "pkg/inject": 2, "pkg/nodeauth": 2, "pkg/revision": 2,
	// judges and dialects
	"pkg/istio": 3, "pkg/repair": 3, "pkg/validate": 3,
	// doors
	"pkg/admission": 4, "pkg/cluster": 4, "pkg/files": 4, "pkg/metrics": 4,
	// glue
	"pkg/webhook": 5,
	"cmd":         6,
}

// judges is the highest floor that must not link a Kubernetes client or a metrics library.
const judges = 3

// restricted names the imports, and all below them, that only some packages may use.
var restricted = map[string][]string{
	"k8s.io/client-go":               {"pkg/cluster"},
	"sigs.k8s.io/controller-runtime": {"pkg/cluster"},
	"github.com/prometheus":          {"pkg/metrics"},
	"istio.io/api":                   {"pkg/istio"},
	"net/http":                       {"pkg/admission", "pkg/cluster", "pkg/metrics", "cmd"},
	"os":                             {"pkg/files", "cmd"},
	"log":                            {"pkg/admission", "pkg/webhook", "pkg/cluster", "pkg/files", "cmd"},
	"flag":                           {"cmd"},
	"syscall":                        {"pkg/measure", "cmd"},
	"github.com/spf13":               {"cmd"},
	module + "/templates":            {"cmd"},
	"unsafe":                         {}, // nobody: what reads hostile bytes stays memory-safe
}

// clients are the libraries that must not reach the engine by any road.
var clients = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/prometheus"}

// house is the entry of the floor table that a folder belongs to; empty when there is none.
func house(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := floors[dir]; ok {
			return dir
		}
	}
	return ""
}

func importsGoDown(t tree) []string {
	var breaches []string
	for _, s := range t.product() {
		from := house(s.dir)
		if from == "" {
			if within(s.dir, "pkg") {
				breaches = append(breaches, s.breach(s.ast, "package %s has no floor", s.dir))
			}
			continue
		}
		s.imports(func(spec *ast.ImportSpec, _, target string) {
			to, ok := strings.CutPrefix(target, module+"/")
			if !ok {
				return
			}
			if why := sideways(s.dir, to); why != "" {
				breaches = append(breaches, s.breach(spec, "%s imports %s: %s", s.dir, to, why))
			}
		})
	}
	return breaches
}

// sideways tells what is wrong with an import of the folder to by the folder from.
func sideways(from, to string) string {
	up, down := house(from), house(to)
	switch {
	case down == "":
		return "it has no floor"
	case up == down && strings.HasPrefix(to, from+"/"):
		return "" // a package may use the rooms below its own
	case floors[down] >= floors[up]:
		return fmt.Sprintf("from floor %d to floor %d", floors[up], floors[down])
	}
	return ""
}

func restrictedImports(t tree) []string {
	var breaches []string
	for _, s := range t.product() {
		from := house(s.dir)
		if from == "" {
			continue
		}
		s.imports(func(spec *ast.ImportSpec, _, target string) {
			for prefix, allowed := range restricted {
				if within(target, prefix) && !slices.Contains(allowed, from) {
					breaches = append(breaches, s.breach(spec, "%s imports %s, which is for %s only", s.dir, target, strings.Join(allowed, ", ")))
				}
			}
		})
	}
	return breaches
}

// linkedClients reads lines of a package and all that it links, and tells of each client in a
// package of the lower floors.
func linkedClients(list string) []string {
	var breaches []string
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		dir := strings.TrimPrefix(fields[0], module+"/")
		home := house(dir)
		if home == "" || floors[home] > judges {
			continue
		}
		for _, dep := range fields[1:] {
			for _, client := range clients {
				if within(dep, client) {
					breaches = append(breaches, fmt.Sprintf("%s links %s", dir, dep))
				}
			}
		}
	}
	return breaches
}

// clockIsPassedIn finds calls of the clock, and the clock passed as a value, outside of the
// packages that own one.
func clockIsPassedIn(t tree) []string {
	var breaches []string
	for _, s := range t.product() {
		if from := house(s.dir); from == "" || from == "pkg/cluster" || from == "pkg/measure" || from == "cmd" {
			continue
		}
		breaches = append(breaches, s.uses("time", []string{"Now", "Since", "Until"}, "take the time as an argument")...)
	}
	return breaches
}

// uses tells of every mention of one of the names of an imported package.
func (s source) uses(target string, names []string, advice string) []string {
	var breaches []string
	local := s.nameOf(target)
	ast.Inspect(s.ast, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && local != "" && x.Name == local && slices.Contains(names, selector.Sel.Name) {
			breaches = append(breaches, s.breach(selector, "%s.%s: %s", target, selector.Sel.Name, advice))
		}
		return true
	})
	return breaches
}
