// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// oracle applies a patch with the library that the API server uses.
func oracle(doc any, ops []Op) (any, error) {
	p, err := jsonpatch.DecodePatch(Marshal(ops))
	if err != nil {
		return nil, err
	}
	raw, err := p.Apply([]byte(text(doc)))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var out any
	err = dec.Decode(&out)
	return integers(out), err
}

// integers gives numbers their form in a tree.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = integers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = integers(item)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
	}
	return v
}

func FuzzBetween(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		before := (&source{first}).object(4)
		b := source{second}
		other := (&source{second}).object(4)
		edited := b.edited(before).(map[string]any)
		grown := (&source{second}).grown(before).(map[string]any)

		for _, after := range []map[string]any{before, other, edited, grown, {}} {
			checkBetween(t, before, after)
			checkBetween(t, after, before)
		}
		for _, op := range Between(before, grown) {
			if op.Op == opRemove {
				t.Errorf("%s removes what is not gone:\nbefore %s\nafter  %s", op.Path, text(before), text(grown))
			}
		}
	})
}

func checkBetween(t *testing.T, before, after map[string]any) {
	t.Helper()
	wasBefore, wasAfter := text(before), text(after)
	ops := Between(before, after)
	if same := cmp.Equal(meaning(before), meaning(after)); same != (len(ops) == 0) {
		t.Errorf("same meaning: %v, but the patch is %s", same, Marshal(ops))
	}
	for name, apply := range map[string]func(any, []Op) (any, error){"Apply": Apply, "oracle": oracle} {
		got, err := apply(before, ops)
		if err != nil {
			t.Fatalf("%s: %v\nbefore %s\nafter  %s\npatch  %s", name, err, wasBefore, wasAfter, Marshal(ops))
		}
		if diff := cmp.Diff(meaning(after), meaning(got)); diff != "" {
			t.Fatalf("%s: (-want +got)\n%s\nbefore %s\npatch %s", name, diff, wasBefore, Marshal(ops))
		}
	}
	if text(before) != wasBefore || text(after) != wasAfter {
		t.Error("an argument was changed")
	}
	if again := Marshal(Between(before, after)); string(again) != string(Marshal(ops)) {
		t.Errorf("two patches of the same trees: %s and %s", Marshal(ops), again)
	}
}

func FuzzApply(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		doc := (&source{first}).object(4)
		s := source{second}
		ops := s.ops(doc)
		wasDoc, wasOps := text(doc), fmt.Sprint(ops)
		got, err := Apply(doc, ops)
		if text(doc) != wasDoc || fmt.Sprint(ops) != wasOps {
			t.Fatal("an argument was changed")
		}
		if err != nil {
			if got != nil {
				t.Errorf("a document and an error: %v, %v", got, err)
			}
			return
		}
		want, err := oracle(doc, ops)
		if err != nil {
			t.Fatalf("the API server's library refuses: %v\ndoc %s\npatch %s", err, wasDoc, Marshal(ops))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s\ndoc %s\npatch %s", diff, wasDoc, Marshal(ops))
		}
	})
}

// ops is a patch that has some chance to apply.
func (s *source) ops(doc any) []Op {
	var ops []Op
	for range 1 + s.below(6) {
		known := pointers(doc)
		op := Op{
			Op:    pick(s, opAdd, opReplace, opRemove, opMove, opCopy, opTest, "none"),
			Path:  pick(s, known...) + pick(s, "", "", "/a", "/-", "/0", "/1", "/01", "/~2", "a"),
			From:  pick(s, known...),
			Value: s.value(2),
		}
		if op.Op == opTest && s.below(2) == 0 {
			op.Value, _ = (&applier{root: doc}).find(op.Path)
		}
		if op.Op == opTest && strings.Contains(text(op.Value), "null") {
			op.Op = opAdd // the library does not compare null as RFC 6902 says
		}
		if next, err := Apply(doc, append(ops[:0:0], op)); err == nil {
			doc = next
		}
		ops = append(ops, op)
	}
	return ops
}
