// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSplitGivesEachStageItsOwn(t *testing.T) {
	var k keep
	var s Split
	s.Mark("before") // nobody measures yet: it is lost
	got := s.For(time.Millisecond, func() {
		s.Mark("nothing")
		k.b = make([]byte, 64)
		s.Mark("one")
		for range 3 {
			k.b = make([]byte, 1024)
		}
		s.Mark("three")
		k.b = make([]byte, 64)
		s.Mark("one") // a stage may come twice
	})
	s.Mark("after")
	if diff := cmp.Diff([]string{"nothing", "one", "three"}, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("stages (-want +got):\n%s", diff)
	}
	for stage, want := range map[string]Cost{"nothing": {}, "one": {Allocs: 2, Bytes: 128}, "three": {Allocs: 3, Bytes: 3072}} {
		c := got[stage]
		if c.Allocs < want.Allocs || c.Allocs > want.Allocs+0.5 || c.Bytes < want.Bytes || c.Bytes > want.Bytes+256 {
			t.Errorf("%s: %v allocations of %v bytes, want %v of %v", stage, c.Allocs, c.Bytes, want.Allocs, want.Bytes)
		}
	}
}

// A longer time means more runs; none is too short for one batch.
func TestForSpendsTheTime(t *testing.T) {
	runs := func(total time.Duration) (n int) {
		x := uint64(1)
		For(total, func() {
			n++
			for range 200_000 {
				x = x*6364136223846793005 + 1
			}
		})
		return n
	}
	if none, much := runs(0), runs(10*batch); none < 2 || much <= none {
		t.Errorf("%d runs in no time, %d in %v", none, much, 10*batch)
	}
}

// A review is JSON, whatever the namespace is called: an offline caller takes it from a file.
func TestReviewQuotesTheNamespace(t *testing.T) {
	for _, namespace := range []string{"shop", "", `a"b\`, "a\x01b", "ä\u2028", "\xff"} {
		var in struct {
			Request struct {
				Namespace string
				Object    struct{ Kind string }
			}
		}
		review := Review(namespace, []byte(`{"kind":"Pod"}`))
		if err := json.Unmarshal(review, &in); err != nil || in.Request.Object.Kind != "Pod" {
			t.Errorf("%q: %v: %s", namespace, err, review)
		}
		if got := in.Request.Namespace; got != namespace && namespace != "\xff" {
			t.Errorf("%q became %q", namespace, got)
		}
		Floor(review, nil)() // it panics where the review is none
	}
}
