// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	tests := map[string]struct {
		reason string
		tree   any
		want   []Op
		err    string
	}{
		"none": {reason: "no operations", tree: []any{}, want: []Op{}},
		"each": {
			reason: "every member is read",
			tree:   []any{object("op", "add", "path", "/a", "value", int64(1)), object("op", "move", "from", "/a", "path", "/b")},
			want:   []Op{{Op: "add", Path: "/a", Value: int64(1)}, {Op: "move", Path: "/b", From: "/a"}},
		},
		"object":  {reason: "not a list", tree: object(), err: "a patch is a list, not a map[string]interface {}"},
		"no-path": {reason: "without a place", tree: []any{object("op", "add", "path", ""), object("op", "add")}, err: "operation 1 has no op or no path"},
		"text":    {reason: "an operation is an object", tree: []any{"add"}, err: "operation 0 has no op or no path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Of(tt.tree)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tt.err, text); diff != "" {
				t.Errorf("%s: error (-want +got)\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}
