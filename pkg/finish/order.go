// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Everyone stands in a constraint for every container of the pod's author.
const Everyone = "*"

// Constraint says that a container of a template stands before or after others of its list. Names
// that are not in the list are ignored.
type Constraint struct {
	Template  string
	Container string
	Before    []string
	After     []string
}

func order(s *State) error {
	if len(s.Order) == 0 {
		return nil
	}
	for _, list := range pod.ContainerLists {
		was := pod.Items(pod.Object(s.After, "spec"), list)
		is, err := arrange(was, s.Brought, s.Order)
		if err != nil {
			return err
		}
		if is != nil {
			s.set(is, "spec", list)
		}
	}
	return nil
}

// Ordered tells whether a pod's containers stand as the constraints say.
func Ordered(tree map[string]any, brought map[string]bool, constraints []Constraint) bool {
	for _, list := range pod.ContainerLists {
		if moved, err := arrange(pod.Items(pod.Object(tree, "spec"), list), brought, constraints); moved != nil || err != nil {
			return false
		}
	}
	return true
}

// arrange sorts the items topologically, each as near to its present place as the constraints
// allow. The author's containers keep their order among themselves. It is nil where nothing moves.
func arrange(list []any, brought map[string]bool, constraints []Constraint) ([]any, error) {
	g := newGraph(list, brought)
	for _, c := range constraints {
		g.constrain(c)
	}
	sorted := g.sort()
	if sorted == nil {
		return nil, &reason.Refusal{
			Reason: reason.OrderUnsatisfiable,
			Path:   "spec",
			Detail: "no order of the containers satisfies " + describe(constraints),
			Hint:   "drop one of these constraints from the order of its template",
		}
	}
	if slices.IsSorted(sorted) {
		return nil, nil
	}
	out := make([]any, len(list))
	for i, from := range sorted {
		out[i] = list[from]
	}
	return out, nil
}

// graph holds the containers of one list by index, and for each those that must come first.
type graph struct {
	index  map[string]int
	author []int
	first  []map[int]bool
}

func newGraph(list []any, brought map[string]bool) *graph {
	g := &graph{index: map[string]int{}, first: make([]map[int]bool, len(list))}
	for i, item := range list {
		g.first[i] = map[int]bool{}
		tree, _ := item.(map[string]any)
		name := pod.Text(tree, "name")
		g.index[name] = i
		if brought[name] {
			continue
		}
		if n := len(g.author); n > 0 {
			g.edge(g.author[n-1], i)
		}
		g.author = append(g.author, i)
	}
	return g
}

func (g *graph) edge(first, then int) { g.first[then][first] = true }

func (g *graph) constrain(c Constraint) {
	at, ok := g.index[c.Container]
	if !ok {
		return
	}
	for _, name := range c.Before {
		for _, other := range g.named(name, at) {
			g.edge(at, other)
		}
	}
	for _, name := range c.After {
		for _, other := range g.named(name, at) {
			g.edge(other, at)
		}
	}
}

func (g *graph) named(name string, but int) []int {
	if name == Everyone {
		return slices.DeleteFunc(slices.Clone(g.author), func(i int) bool { return i == but })
	}
	if i, ok := g.index[name]; ok {
		return []int{i}
	}
	return nil
}

// sort gives the indices in order, or nil where there is a cycle.
func (g *graph) sort() []int {
	sorted := make([]int, 0, len(g.first))
	done := make([]bool, len(g.first))
	for len(sorted) < len(g.first) {
		next := -1
		for i := range g.first {
			if !done[i] && g.ready(i, done) {
				next = i
				break
			}
		}
		if next < 0 {
			return nil
		}
		done[next] = true
		sorted = append(sorted, next)
	}
	return sorted
}

func (g *graph) ready(i int, done []bool) bool {
	for first := range g.first[i] {
		if !done[first] {
			return false
		}
	}
	return true
}

func describe(constraints []Constraint) string {
	var parts []string
	for _, c := range constraints {
		if len(c.Before) > 0 {
			parts = append(parts, fmt.Sprintf("%q before %q (template %s)", c.Container, c.Before, c.Template))
		}
		if len(c.After) > 0 {
			parts = append(parts, fmt.Sprintf("%q after %q (template %s)", c.Container, c.After, c.Template))
		}
	}
	return strings.Join(parts, ", ")
}
