// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// listOf makes containers; an upper-case name is one that a template brought.
func listOf(names string) (items []any, brought map[string]bool) {
	brought = map[string]bool{}
	for _, name := range strings.Fields(names) {
		items = append(items, map[string]any{"name": name})
		brought[name] = name != strings.ToLower(name)
	}
	return items, brought
}

func namesOf(items []any) string {
	var out []string
	for _, item := range items {
		out = append(out, item.(map[string]any)["name"].(string))
	}
	return strings.Join(out, " ")
}

func TestArrange(t *testing.T) {
	after := func(c string, others ...string) Constraint { return Constraint{Container: c, After: others} }
	before := func(c string, others ...string) Constraint { return Constraint{Container: c, Before: others} }
	cases := map[string]struct {
		why, in string
		order   []Constraint
		want    string // empty: nothing moves
	}{
		"none":            {"without constraints nothing moves", "X a b", nil, ""},
		"satisfied":       {"what holds already stays", "X a b", []Constraint{before("X", "a")}, ""},
		"after one":       {"no further than needed", "X a b c", []Constraint{after("X", "b")}, "a b X c"},
		"after everyone":  {"the author's first", "X a b", []Constraint{after("X", Everyone)}, "a b X"},
		"before everyone": {"ours first", "a b X", []Constraint{before("X", Everyone)}, "X a b"},
		"chain":           {"ours keep their order among themselves", "X Y a", []Constraint{after("X", "a"), after("Y", "X")}, "a X Y"},
		"absent":          {"a name that is not there says nothing", "X a", []Constraint{after("X", "z"), before("z", "X")}, ""},
		"between":         {"two bounds", "a b X", []Constraint{after("X", "a"), before("X", "b")}, "a X b"},
	}
	for name, c := range cases {
		items, brought := listOf(c.in)
		got, err := arrange(items, brought, c.order)
		if err != nil || namesOf(got) != c.want {
			t.Errorf("%s: %s: got %q, %v, want %q", name, c.why, namesOf(got), err, c.want)
		}
	}
}

func TestArrangeRefusesACycle(t *testing.T) {
	items, brought := listOf("X a b")
	_, err := arrange(items, brought, []Constraint{{Template: "t", Container: "X", After: []string{"b"}, Before: []string{"a"}}})
	var refusal *reason.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != reason.OrderUnsatisfiable || !strings.Contains(refusal.Detail, "template t") {
		t.Errorf("got %v", err)
	}
}

// FuzzArrange: the outcome holds every constraint, keeps the author's order, and loses nothing; or
// there is no order at all.
func FuzzArrange(f *testing.F) {
	f.Add("XaYb", []byte{0, 1, 0, 2, 3, 1})
	f.Add("aXbYc", []byte{1, 4, 0, 3, 0, 1, 1, 2, 1})
	f.Fuzz(func(t *testing.T, names string, raw []byte) {
		var fields []string
		for _, r := range names {
			name := string(r)
			if (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') && !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
		if len(fields) < 2 || len(fields) > 12 || len(raw) > 60 {
			return
		}
		items, brought := listOf(strings.Join(fields, " "))
		var order []Constraint
		for ; len(raw) >= 3; raw = raw[3:] {
			c := Constraint{Container: fields[int(raw[0])%len(fields)]}
			other := fields[int(raw[1])%len(fields)]
			if raw[2]%2 == 0 {
				c.Before = []string{other}
			} else {
				c.After = []string{other}
			}
			order = append(order, c)
		}
		got, err := arrange(items, brought, order)
		if err != nil {
			return
		}
		if got == nil {
			got = items
		}
		sorted := strings.Fields(namesOf(got))
		if diff := cmp.Diff(own(fields, brought), own(sorted, brought)); diff != "" || len(sorted) != len(fields) {
			t.Fatalf("the author's order changed from %v to %v", fields, sorted)
		}
		for _, c := range order {
			at := slices.Index(sorted, c.Container)
			for _, other := range c.Before {
				if i := slices.Index(sorted, other); i <= at {
					t.Fatalf("%v: %s must stand before %s", sorted, c.Container, other)
				}
			}
			for _, other := range c.After {
				if i := slices.Index(sorted, other); i >= at {
					t.Fatalf("%v: %s must stand after %s", sorted, c.Container, other)
				}
			}
		}
	})
}

func own(names []string, brought map[string]bool) string {
	return fmt.Sprint(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return brought[n] }))
}
