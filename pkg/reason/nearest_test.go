// SPDX-License-Identifier: Apache-2.0

package reason

import (
	"slices"
	"strings"
	"testing"
)

// slowDistance is the textbook recursion, which distance must agree with on short words.
func slowDistance(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	}
	d := min(slowDistance(a[1:], b)+1, slowDistance(a, b[1:])+1, slowDistance(a[1:], b[1:])+differ(a[0], b[0]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, slowDistance(a[2:], b[2:])+1)
	}
	return d
}

func FuzzDistance(f *testing.F) {
	f.Add("inject", "injetc")
	f.Add("", "ab")
	f.Add("abcdef", "badcfe")
	f.Add("aab", "ab")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = a[:min(len(a), 6)], b[:min(len(b), 6)]
		want := slowDistance(a, b)
		for most := range 8 {
			got := distance(a, b, most)
			if want <= most && got != want || want > most && got <= most {
				t.Errorf("distance(%q, %q, %d) = %d, want %d", a, b, most, got, want)
			}
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"pillion.dev/inject", "pillion.dev/revision", "pillion.dev/status", "pillion.dev/templates", "required", "text"}
	tests := map[string]struct{ reason, word, want string }{
		"missing letter":   {"the commonest slip", "pillion.dev/template", "pillion.dev/templates"},
		"swapped letters":  {"a swap is one slip", "pillion.dev/ijnect", "pillion.dev/inject"},
		"longer form":      {"people write the noun", "pillion.dev/injection", "pillion.dev/inject"},
		"other case":       {"keys are case-sensitive", "Required", "required"},
		"short word":       {"two letters may always differ", "txet", "text"},
		"nothing near":     {"a wild guess is worse than none", "pillion.dev/zzzzzzzzzz", ""},
		"exact":            {"a known word is its own nearest", "text", "text"},
		"much too long":    {"the work is bounded", strings.Repeat("x", 1<<20), ""},
		"empty is nothing": {"an empty word is no slip", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tc.word, known); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	reversed := slices.Clone(known)
	slices.Reverse(reversed)
	if got := NearestWithin("pillion.dev/injection", reversed, 2); got != "" {
		t.Errorf("three letters differ and two may: got %q", got)
	}
}
