// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"
	"text/template/parse"
)

// Sees tells whether what the template renders may depend on the value at a path of its data, such as
// ObjectMeta, Name: whether another value in its place could make a difference. That something is there
// at all, and how many items a list has, is not asked. The items of a list have the list's own path, and
// an item of a map goes by its key. False is certain; where the template cannot be followed, the answer
// is true. A method that Source.Foreign permits must be one of a value that nobody asks of, or read no
// more of it than the value whose path ends there; getters are taken for readers of all.
func (t *Template) Sees(path ...string) bool {
	return t.sight.all || slices.ContainsFunc(t.sight.read, func(read []string) bool {
		return within(read, path) || within(path, read)
	}) || slices.ContainsFunc(t.sight.tested, func(tested []string) bool { return within(path, tested) })
}

// within tells whether one path is a part of the other, in its order: a template that takes an item of a
// map without naming its key has a gap there.
func within(part, path []string) bool {
	for _, name := range path {
		if len(part) > 0 && part[0] == name {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// sight is what a template sees.
type sight struct {
	all    bool
	read   [][]string // with all that is below
	tested [][]string // for being empty only
}

// trail is a path as a map's key takes it.
type trail string

// The marks behind the name of a member, and behind what goes over the items: of a list, or of a map whatever
// their keys.
const (
	trailMark = "\x00"
	itemMark  = "\x01"
)

// below is the trail of a member.
func (p trail) below(name string) trail { return p + trail(name) + trailMark }

func (p trail) path() []string {
	bare := strings.ReplaceAll(string(p), itemMark, "")
	return strings.Split(strings.TrimSuffix(bare, trailMark), trailMark)
}

// trails are what a value may be. A value that is none of the data's has none.
type trails map[trail]bool

// The bounds of the search: past them, everything counts as seen.
const (
	maxTrails     = 64
	maxTrailDepth = 16
	maxSightings  = 100
)

// looker follows the data through a template, until nothing new turns up.
type looker struct {
	source *Source
	trees  map[string]*parse.Tree
	sight  sight

	read, tested trails
	dots         map[string]trails            // by template: what its dot may be
	vars         map[string]map[string]trails // by template and name: what a variable may be, whichever of that name
	at           string                       // the template that is looked at
	changed      bool
}

// look finds what a template sees.
func look(source *Source, trees map[string]*parse.Tree) sight {
	l := &looker{
		source: source, trees: trees, read: trails{}, tested: trails{},
		dots: map[string]trails{source.main(): {"": true}}, vars: map[string]map[string]trails{},
	}
	for pass := 0; !l.sight.all; pass++ {
		l.changed = false
		for _, name := range sortedNames(trees) {
			if dot, invoked := l.dots[name]; invoked {
				l.at = name
				l.join(l.variables(), "$", dot)
				l.list(trees[name].Root, dot)
			}
		}
		if !l.changed {
			break
		}
		l.sight.all = pass == maxSightings
	}
	for p := range l.read {
		l.sight.all = l.sight.all || strings.Trim(string(p), itemMark) == ""
		l.sight.read = append(l.sight.read, p.path())
	}
	for p := range l.tested {
		l.sight.tested = append(l.sight.tested, p.path())
	}
	return l.sight
}

func (l *looker) variables() map[string]trails {
	if l.vars[l.at] == nil {
		l.vars[l.at] = map[string]trails{}
	}
	return l.vars[l.at]
}

// join adds what a name may be.
func (l *looker) join(names map[string]trails, name string, more trails) {
	if names[name] == nil {
		names[name], l.changed = trails{}, true
	}
	l.add(names[name], more)
}

func (l *looker) add(to, more trails) {
	for p := range more {
		if !to[p] {
			to[p], l.changed = true, true
		}
	}
	l.sight.all = l.sight.all || len(to) > maxTrails*maxTrails
}

// whole counts a value as read, with all that is below it.
func (l *looker) whole(v trails) { l.add(l.read, v) }

// empty counts a value as tested for being empty. A test of an item counts as reading it: of a map it is not
// known which.
func (l *looker) empty(v trails) {
	for p := range v {
		into := l.tested
		if strings.Contains(string(p), itemMark) {
			into = l.read
		}
		l.add(into, trails{p: true})
	}
}

// items are those of a value.
func (v trails) items() trails {
	out := make(trails, len(v))
	for p := range v {
		if !strings.HasSuffix(string(p), itemMark) {
			p += itemMark
		}
		out[p] = true
	}
	return out
}

// fields are the members of a value, one in another.
func (l *looker) fields(v trails, names []string) trails {
	for _, name := range names {
		out := make(trails, len(v))
		for p := range v {
			switch {
			case strings.HasPrefix(name, "Get"), strings.Count(string(p), trailMark) == maxTrailDepth:
				l.whole(trails{p: true})
			default:
				out[p.below(name)] = true
			}
		}
		v = out
	}
	if len(v) > maxTrails {
		l.sight.all = true
	}
	return v
}

func (l *looker) list(nodes *parse.ListNode, dot trails) {
	if nodes == nil {
		return
	}
	for _, n := range nodes.Nodes {
		l.node(n, dot)
	}
}

func (l *looker) node(n parse.Node, dot trails) {
	switch n := n.(type) {
	case *parse.ActionNode:
		v := l.pipe(n.Pipe, dot)
		if len(n.Pipe.Decl) == 0 {
			l.whole(v)
		}
	case *parse.IfNode:
		l.empty(l.pipe(n.Pipe, dot))
		l.list(n.List, dot)
		l.list(n.ElseList, dot)
	case *parse.WithNode:
		v := l.pipe(n.Pipe, dot)
		l.empty(v)
		l.list(n.List, v)
		l.list(n.ElseList, dot)
	case *parse.RangeNode:
		l.loop(n, dot)
	case *parse.TemplateNode:
		l.invoke(n, dot)
	case *parse.TextNode, *parse.BreakNode, *parse.ContinueNode, *parse.CommentNode:
	default:
		l.sight.all = true
	}
}

// loop goes over a list or a map: an index or a key tells what is there, not what it holds. A number
// that is counted up to, or an iterator, is read.
func (l *looker) loop(n *parse.RangeNode, dot trails) {
	v := l.commands(n.Pipe, dot)
	l.empty(v)
	v = v.items()
	switch decl := n.Pipe.Decl; len(decl) {
	case 1:
		l.join(l.variables(), decl[0].Ident[0], v)
	case 2:
		l.join(l.variables(), decl[1].Ident[0], v)
	}
	l.list(n.List, v)
	l.list(n.ElseList, dot)
}

func (l *looker) invoke(n *parse.TemplateNode, dot trails) {
	var v trails
	if n.Pipe != nil {
		v = l.pipe(n.Pipe, dot)
	}
	l.join(l.dots, n.Name, v)
}
