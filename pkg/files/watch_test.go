// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watch runs the steps, each followed by the time of two readings, and gives what was told after each.
func watch(t *testing.T, path string, known map[string][]byte, steps ...func()) [][]string {
	var told [][]string
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var now []string
		go Watch(ctx, Watched{Path: path, Known: known}, func(files map[string][]byte, err error) {
			if err != nil {
				now = append(now, "error")
				return
			}
			now = append(now, string(files["a"]))
		})
		for _, step := range steps {
			step()
			time.Sleep(2*usualInterval + time.Millisecond)
			synctest.Wait()
			told = append(told, now)
			now = nil
		}
		stop()
		synctest.Wait()
		must(t, os.RemoveAll(path))
		time.Sleep(2 * usualInterval)
		if now != nil {
			t.Errorf("told %v after the end", now)
		}
	})
	return told
}

func TestWatchTellsChangesAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "1")
	known, err := Read(dir)
	must(t, err)
	got := watch(t, dir, known,
		func() {},
		func() { write(t, dir, "a", "1") },
		func() { write(t, dir, "a", "2") },
		func() { write(t, dir, "b", "") },
		func() { must(t, os.Rename(dir, dir+"x")) },
		func() {},
		func() { must(t, os.Rename(dir+"x", dir)) },
	)
	want := [][]string{nil, nil, {"2"}, {"2"}, {"error"}, nil, {"2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nothing, a rewrite, a change, a new file, an error, the same error, its end (-want +got):\n%s", diff)
	}
}

func TestWatchSeesWhatHappenedSinceTheCallerRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "1")
	known, err := Read(dir)
	must(t, err)
	write(t, dir, "a", "2")
	if diff := cmp.Diff([][]string{{"2"}}, watch(t, dir, known, func() {})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWatchSeesASwap(t *testing.T) {
	dir := t.TempDir()
	mount(t, dir, "1", "a", "1")
	got := watch(t, dir, nil,
		func() {},
		func() { mount(t, dir, "2", "a", "2") },
		func() { must(t, os.RemoveAll(filepath.Join(dir, "..v1"))) },
	)
	if diff := cmp.Diff([][]string{{"1"}, {"2"}, nil}, got); diff != "" {
		t.Errorf("the first reading, a swap, the old version removed (-want +got):\n%s", diff)
	}
}

func FuzzSum(f *testing.F) {
	f.Add("a", "b", "ab", "")
	f.Add("", "", "a", "")
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string) {
		one := map[string][]byte{name1: []byte(text1)}
		other := map[string][]byte{name2: []byte(text2)}
		if same := name1 == name2 && text1 == text2; same != (sum(one, nil) == sum(other, nil)) {
			t.Errorf("%q and %q", one, other)
		}
		if sum(one, nil) == sum(nil, os.ErrNotExist) {
			t.Errorf("%q is taken for an error", one)
		}
	})
}
