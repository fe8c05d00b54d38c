// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// skeleton is the layer of all texts that are equal but for what fills their holes.
type skeleton struct {
	layer *layer   // of the text that it was made from; at its leaves stand those fillings
	steps []branch // to the leaves
	holes int
}

// branch leads to a leaf, or to further branches: by a key of an object or an index of a list.
type branch struct {
	key   string
	index int
	steps []branch
	leaf  *leaf
}

// leaf is a scalar with holes.
type leaf struct {
	parts []chunk
	t     *pod.Type // nil where it is not known

	text   bool   // it is a text, whatever it looks like
	plain  bool   // it is a hole without quotes: what looks like a number is one
	rigid  bool   // another value would merge otherwise
	filled string // when the skeleton was made
}

// chunk of a leaf is a text, or a hole.
type chunk struct {
	text string
	hole int // -1: none
}

// builder makes a skeleton. Every hole is filled with a text that has all that its class may have and that
// YAML could take for something else: where that text comes out to the letter, any text of the class would.
type builder struct {
	text  string
	holes []hole
	found []int // how often each hole was met
	bad   bool
}

// build makes the skeleton of a text whose layer is known; nil where a hole stands where not any text of
// its class can.
func build(l *layer, text string, holes []hole) *skeleton {
	b := &builder{text: text, holes: holes, found: make([]int, len(holes))}
	raw, err := readYAML(refilled(text, holes, b.filling))
	if err != nil {
		return nil
	}
	numbers, _ := readYAML(refilled(text, holes, b.number))
	tree, _ := b.punch(raw, numbers).(map[string]any)
	if b.bad || tree == nil || slices.ContainsFunc(b.found, func(n int) bool { return n != 1 }) {
		return nil
	}
	settled := (&layer{}).settle(pod.Schema(), tree, "")
	s := &skeleton{layer: l, holes: len(holes), steps: b.steps(pod.Schema(), settled, false)}
	if !alike(settled, l.tree) {
		return nil
	}
	return s
}

// alike tells whether a tree with leaves is the one that was parsed.
func alike(skeleton, tree any) bool {
	switch v := skeleton.(type) {
	case *leaf:
		h := *v
		h.filled, h.rigid = "", false
		value, ok := h.value(nil, v.filled)
		return !ok || pod.Equal(value, tree)
	case map[string]any:
		other, ok := tree.(map[string]any)
		return ok && maps.EqualFunc(v, other, alike)
	case []any:
		other, ok := tree.([]any)
		return ok && slices.EqualFunc(v, other, alike)
	}
	return pod.Equal(skeleton, tree)
}

// holeName begins every filling; a number has its own form.
const (
	holeName   = "Hole"
	holeNumber = 7_000_000
)

func (b *builder) filling(i int) string {
	switch b.holes[i].class {
	case wordy:
		return fmt.Sprintf("%s%06d.a_b/c-d.0e", holeName, i)
	case enclosed:
		return fmt.Sprintf("%s%06d: #{[,]}&*!|>%%@`?<- - =~: e", holeName, i)
	}
	return fmt.Sprintf(`%s%06d": ' "#{[,]}&*!|>%%@`+"`"+`\n\?<- - =~': e`, holeName, i)
}

func (b *builder) number(i int) string {
	if b.holes[i].class == wordy {
		return fmt.Sprint(holeNumber + i)
	}
	return b.filling(i)
}

// punch puts leaves in place of the scalars that hold fillings. beside is the same value with numbers for
// fillings.
func (b *builder) punch(value, beside any) any {
	switch v := value.(type) {
	case map[string]any:
		other, _ := beside.(map[string]any)
		out := make(map[string]any, len(v))
		for key, item := range v {
			b.bad = b.bad || strings.Contains(key, holeName)
			out[key] = b.punch(item, other[key])
		}
		return out
	case []any:
		other, _ := beside.([]any)
		out := make([]any, len(v))
		for i, item := range v {
			var and any
			if i < len(other) {
				and = other[i]
			}
			out[i] = b.punch(item, and)
		}
		return out
	case string:
		if strings.Contains(v, holeName) {
			return b.leaf(v, beside)
		}
	}
	return value
}

// leaf takes a scalar apart.
func (b *builder) leaf(text string, beside any) *leaf {
	out := &leaf{}
	for len(text) > 0 {
		at := strings.Index(text, holeName)
		if at < 0 {
			out.parts = append(out.parts, chunk{text, -1})
			break
		}
		if at > 0 {
			out.parts = append(out.parts, chunk{text[:at], -1})
		}
		i, rest := b.hole(text[at:])
		if i < 0 {
			b.bad = true
			return out
		}
		out.parts = append(out.parts, chunk{"", i})
		out.text = out.text || b.holes[i].class != wordy
		text = rest
	}
	if len(out.parts) == 1 && !out.text {
		switch beside := beside.(type) {
		case int64:
			out.plain = beside == int64(holeNumber+out.parts[0].hole)
		case string:
			out.text = true
		}
	}
	return out
}

// hole is the hole whose filling a text begins with.
func (b *builder) hole(text string) (i int, rest string) {
	if _, err := fmt.Sscanf(text[len(holeName):], "%06d", &i); err != nil || i >= len(b.holes) {
		return -1, ""
	}
	rest, ok := strings.CutPrefix(text, b.filling(i))
	if !ok {
		return -1, ""
	}
	b.found[i]++
	return i, rest
}

// steps are the ways to the leaves. A leaf that a merge goes by is rigid: a key of a list's items, an item
// of a set, and all that belongs to a directive.
func (b *builder) steps(t *pod.Type, value any, rigid bool) []branch {
	var out []branch
	add := func(s branch, t *pod.Type, item any, rigid bool) {
		if h, ok := item.(*leaf); ok {
			h.t, h.rigid, h.filled = t, rigid, h.join(b.text, b.holes)
			s.leaf = h
		} else {
			s.steps = b.steps(t, item, rigid)
		}
		if s.leaf != nil || s.steps != nil {
			out = append(out, s)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			add(branch{key: key}, t.Field(key), item, rigid || strings.HasPrefix(key, "$"))
		}
	case []any:
		for i, item := range v {
			elem := t.At("*")
			_, scalar := item.(*leaf)
			add(branch{index: i}, elem, item, rigid || scalar && t != nil && t.Set)
			b.keys(t, item)
		}
	}
	return out
}

// keys makes the leaves rigid that identify an item of a list.
func (b *builder) keys(t *pod.Type, item any) {
	m, _ := item.(map[string]any)
	if t == nil || m == nil {
		return
	}
	for _, key := range t.MergeKeys {
		if h, ok := m[key].(*leaf); ok {
			h.rigid = true
		}
	}
}

// join is what the leaf holds with a text's fillings.
func (h *leaf) join(text string, holes []hole) string {
	if len(h.parts) == 1 {
		return h.parts[0].of(text, holes)
	}
	size := 0
	for _, p := range h.parts {
		size += len(p.of(text, holes))
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range h.parts {
		b.WriteString(p.of(text, holes))
	}
	return b.String()
}

func (p chunk) of(text string, holes []hole) string {
	if p.hole < 0 {
		return p.text
	}
	return text[holes[p.hole].From:holes[p.hole].To]
}

// fill gives the layer of a text by its skeleton.
func (s *skeleton) fill(text string, holes []hole) (*layer, bool) {
	if len(holes) != s.holes {
		return nil, false
	}
	tree, ok := filled(s.layer.tree, s.steps, text, holes)
	if !ok {
		return nil, false
	}
	return &layer{tree: tree.(map[string]any), directs: s.layer.directs, unknown: s.layer.unknown}, true
}
