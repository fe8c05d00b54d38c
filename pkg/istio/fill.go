// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// filled is a tree with a text's fillings: a copy of what leads to the leaves, which shares all the rest.
// It is false where only a parser could tell what the text means.
func filled(tree any, steps []branch, text string, holes []hole) (any, bool) {
	switch v := tree.(type) {
	case map[string]any:
		if len(steps) == 0 {
			return v, true
		}
		out := maps.Clone(v)
		for i := range steps {
			item, ok := steps[i].fill(v[steps[i].key], text, holes)
			if !ok {
				return nil, false
			}
			out[steps[i].key] = item
		}
		return out, true
	case []any:
		out := slices.Clone(v)
		for i := range steps {
			item, ok := steps[i].fill(v[steps[i].index], text, holes)
			if !ok {
				return nil, false
			}
			out[steps[i].index] = item
		}
		return out, true
	}
	return nil, false
}

func (s *branch) fill(was any, text string, holes []hole) (any, bool) {
	if s.leaf != nil {
		return s.leaf.value(was, s.leaf.join(text, holes))
	}
	return filled(was, s.steps, text, holes)
}

// value is what the API's types would read of a scalar with this text.
func (h *leaf) value(was any, text string) (any, bool) {
	if text == h.filled {
		return was, true
	}
	if h.rigid {
		return nil, false
	}
	var value any = text
	if !h.text && !surelyText(text) {
		n, ok := decimal(text)
		if !h.plain || !ok {
			return nil, false
		}
		value = n
	}
	if h.t == nil {
		return value, true
	}
	if h.t.Kind == pod.Quantity {
		value = pod.Canonical(h.t, value)
	}
	return value, len(h.t.Check(value)) == 0
}

// decimal reads a number that is the same in every version of YAML. Zero is left to the parser: a field may
// be left out for it.
func decimal(text string) (int64, bool) {
	if text[0] < '1' || text[0] > '9' || len(text) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// surelyText tells whether a scalar without quotes can be nothing but a text in YAML 1.1: no number, time,
// boolean, null or merge. https://yaml.org/type/
func surelyText(text string) bool {
	switch strings.ToLower(text) {
	case "", "y", "yes", "true", "on", "n", "no", "false", "off", "null":
		return false
	}
	first := text[0]
	letter := first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z'
	return letter || strings.Trim(text, "0123456789+-._:eExXoObBaAcCdDfFiInNtTzZ ~<=") != ""
}
