// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestCovers(t *testing.T) {
	cases := map[string]struct {
		why, have, want string
		covers          bool
	}{
		"same":            {"", `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, true},
		"more":            {"strangers' additions", `{"spec":{"containers":[{"name":"b"},{"name":"a","image":"i","tty":false}]}}`, `{"spec":{"containers":[{"name":"a","image":"i"}]}}`, true},
		"order":           {"keys count, not places", `{"spec":{"volumes":[{"name":"b"},{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a"},{"name":"b"}]}}`, true},
		"default in list": {"the API server fills in", `{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}}]}}]}}`, `{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}}`, true},
		"changed":         {"", `{"spec":{"containers":[{"name":"a","image":"j"}]}}`, `{"spec":{"containers":[{"name":"a","image":"i"}]}}`, false},
		"gone":            {"", `{"spec":{"containers":[{"name":"b"}]}}`, `{"spec":{"containers":[{"name":"a"}]}}`, false},
		"longer args":     {"an atomic list is one value", `{"spec":{"containers":[{"name":"a","args":["x","y"]}]}}`, `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, false},
		"no source":       {"an empty struct is a value", `{"spec":{"volumes":[{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}`, false},
		"repeated":        {"the second is the second", `{"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"}]}]}}`, `{"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"X","value":"2"}]}]}}`, true},
		"repeated, fewer": {"have may hold more", `{"spec":{"volumes":[{"name":"a","emptyDir":{}},{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}`, true},
		"repeated, more":  {"one cannot stand for two", `{"spec":{"volumes":[{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a"},{"name":"a"}]}}`, false},
		"repeated, turned": {"the last one counts, so their order does", `{"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"2"},{"name":"X","value":"1"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"X","value":"2"}]}]}}`, false},
		"repeated in a set": {"it is there or not", `{"metadata":{"finalizers":["a","b"]}}`, `{"metadata":{"finalizers":["a","b","a"]}}`, true},
		"nothing wanted":    {"", `{}`, `{"spec":{"volumes":null},"metadata":{"labels":{}}}`, true},
	}
	for name, c := range cases {
		have, err := pod.Decode([]byte(c.have))
		if err != nil {
			t.Fatal(err)
		}
		want, err := pod.Decode([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got := Covers(pod.Schema(), have, want); got != c.covers {
			t.Errorf("%s: %s: got %v", name, c.why, got)
		}
	}
}

// Of a list too long to search, the n-th of a key is found too.
func TestCoversLongLists(t *testing.T) {
	list := func(values ...int) any {
		env := []any{}
		for i, v := range values {
			env = append(env, map[string]any{"name": string(rune('A' + i%7)), "value": fmt.Sprint(v)})
		}
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "env": env}}}}
	}
	ascending, turned := make([]int, 30), make([]int, 30)
	for i := range ascending {
		ascending[i], turned[i] = i, i
	}
	turned[0], turned[7] = 7, 0
	for name, c := range map[string]struct {
		have, want []int
		covers     bool
	}{
		"same":   {ascending, ascending, true},
		"fewer":  {ascending, ascending[:20], true},
		"more":   {ascending[:20], ascending, false},
		"turned": {ascending, turned, false},
	} {
		if got := Covers(pod.Schema(), list(c.have...), list(c.want...)); got != c.covers {
			t.Errorf("%s: got %v", name, got)
		}
	}
	set := []any{}
	for i := range 30 {
		set = append(set, fmt.Sprint(i))
	}
	if finalizers := pod.Schema().At("metadata", "finalizers"); !Covers(finalizers, set, slices.Concat(set, set)) {
		t.Error("a set has to hold a thing twice")
	}
}

// FuzzCovers: every tree covers itself, and still does when others have added to it at the end.
func FuzzCovers(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		schema := pod.Schema()
		long := map[string]any{"name": "c", "env": slices.Concat(a.variables(), a.variables(), a.variables(), a.variables(), a.variables())}
		crew := map[string]any{"spec": map[string]any{"containers": []any{long, a.messy(long)}}}
		for _, tree := range []any{crew, a.pod(), a.twins(schema, a.spread(a.pod())), a.messy(a.pod()), a.messy(a.twins(schema, a.pod()))} {
			if !Covers(schema, tree, tree) {
				t.Errorf("a tree does not cover itself: %s", pod.Encode(tree))
			}
			if !Covers(schema, b.appended(schema, tree), tree) {
				t.Errorf("more does not cover less: %s", pod.Encode(tree))
			}
		}
	})
}

// appended is a copy of a tree with more at the end of its keyed lists.
func (s *source) appended(t *pod.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = s.appended(t.Field(k), v[k])
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, s.appended(itemType(t), item))
		}
		for range s.below(3) {
			if keyed(t) && len(v) > 0 {
				out = append(out, pod.Clone(v[s.below(len(v))]))
			}
		}
		return out
	}
	return v
}
