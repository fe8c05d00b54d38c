// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// seeds gives a fuzz target pairs of long inputs, so that a plain test run exercises its law too.
func seeds(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		pair := [2][]byte{}
		for i := range pair {
			pair[i] = make([]byte, random.IntN(300))
			for j := range pair[i] {
				pair[i][j] = byte(random.Uint32())
			}
		}
		f.Add(pair[0], pair[1])
	}
}

// source turns fuzz bytes into choices; when they run out, every choice is the first one.
type source struct{ data []byte }

func (s *source) below(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func pick[T any](s *source, from ...T) T { return from[s.below(len(from))] }

func (s *source) key() string {
	return pick(s, "name", "a", "b", "~/", "", "é", "app.kubernetes.io/name", "0", "-")
}

func (s *source) value(depth int) any {
	kinds := 6
	if depth > 0 {
		kinds = 9
	}
	switch s.below(kinds) {
	case 0:
		return nil
	case 1:
		return true
	case 2:
		return int64(s.below(3))
	case 3:
		return json.Number("1.50")
	case 4, 5:
		return pick(s, "", "x", "y", "é\"\\")
	case 6:
		return s.object(depth - 1)
	}
	return s.list(depth - 1)
}

func (s *source) object(depth int) map[string]any {
	m := map[string]any{}
	for range s.below(5) {
		m[s.key()] = s.value(depth)
	}
	return m
}

func (s *source) list(depth int) []any {
	list := []any{}
	named := s.below(2) == 0
	for range s.below(6) {
		item := s.value(depth)
		if m, ok := item.(map[string]any); ok && named {
			m["name"] = pick(s, "p", "q", "r", "s")
		}
		list = append(list, item)
	}
	return list
}

// edited is a copy of a value in which some things are others, gone, new or elsewhere.
func (s *source) edited(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch s.below(6) {
			case 0:
			case 1:
				out[k] = s.value(2)
			default:
				out[k] = s.edited(v[k])
			}
		}
		if s.below(3) == 0 {
			out[s.key()] = s.value(2)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			switch s.below(8) {
			case 0:
			case 1:
				out = append(out, s.value(2), s.edited(item))
			case 2:
				out = slices.Insert(out, 0, s.edited(item))
			default:
				out = append(out, s.edited(item))
			}
		}
		return out
	}
	return v
}

// grown is a copy of a value to which things were added, and nothing else was done. Only items that
// have a name of their own grow inside.
func (s *source) grown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if out[k] = s.grown(v[k]); v[k] == nil && k != "name" {
				out[k] = s.value(2)
			}
		}
		for range s.below(3) {
			if k := s.key(); v[k] == nil && k != "name" {
				out[k] = s.value(2)
			}
		}
		return out
	case []any:
		counts := map[string]int{}
		for _, item := range v {
			counts[name(item)]++
		}
		out := []any{}
		for i := 0; i <= len(v); i++ {
			for range s.below(3) {
				out = append(out, pick[any](s, "x", int64(1), map[string]any{"name": "new" + strconv.Itoa(len(out))}))
			}
			if i < len(v) && named(v[i]) && counts[name(v[i])] == 1 {
				out = append(out, s.grown(v[i]))
			} else if i < len(v) {
				out = append(out, v[i])
			}
		}
		return out
	}
	return v
}

// pointers lists the pointer of every value in a tree.
func pointers(v any) []string {
	list := []string{""}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			for _, p := range pointers(v[k]) {
				list = append(list, string(appendToken(nil, k))+p)
			}
		}
	case []any:
		for i, item := range v {
			for _, p := range pointers(item) {
				list = append(list, "/"+strconv.Itoa(i)+p)
			}
		}
	}
	return list
}

// meaning is a copy without null members.
func meaning(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if item != nil {
				out[k] = meaning(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, meaning(item))
		}
		return out
	}
	return v
}

func text(v any) string {
	e := encoder{}
	e.value(v)
	return string(e.dst)
}
