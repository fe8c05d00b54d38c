// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	refA = Ref{Namespace: "mesh", Name: "a"}
	refB = Ref{Namespace: "mesh", Name: "b"}
)

func configMap(ref Ref, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name},
		Data:       map[string]string{"config": text}, BinaryData: map[string][]byte{"raw": {0xff}},
	}
}

// short is an answer in few letters: a's content, then b's; a dash for one that is not there; or who
// is refused.
func short(all map[Ref]ConfigMap, err error) string {
	if err != nil {
		var refused []string
		for line := range strings.Lines(err.Error()) {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "watch the ConfigMap mesh/"), ":")
			refused = append(refused, name)
		}
		return fmt.Sprint("refused ", refused)
	}
	var out []string
	for _, ref := range []Ref{refA, refB} {
		c, ok := all[ref]
		switch text := string(c.Data["config"]); {
		case !ok:
			out = append(out, "untold")
		case !c.Found:
			out = append(out, "-")
		case string(c.Data["raw"]) != "\xff":
			out = append(out, "no binary data")
		default:
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

func known(a, b string) map[Ref]ConfigMap {
	all := map[Ref]ConfigMap{refA: {}, refB: {}}
	for ref, text := range map[Ref]string{refA: a, refB: b} {
		if text != "" {
			all[ref] = ConfigMap{Found: true, Data: map[string][]byte{"config": []byte(text), "raw": {0xff}}}
		}
	}
	return all
}

// followConfigMaps runs the steps, each followed by the time for it to be told, and gives what was told after each.
func followConfigMaps(t *testing.T, w *world, known map[Ref]ConfigMap, steps ...func()) [][]string {
	var told [][]string
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var now []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			ConfigMaps{Refs: []Ref{refA, refB, refA}, Known: known}.watch(ctx, w.configMap, func(all map[Ref]ConfigMap, err error) {
				now = append(now, short(all, err))
			})
		}()
		for _, step := range steps {
			step()
			time.Sleep(2 * lastPause)
			synctest.Wait()
			told = append(told, now)
			now = nil
		}
		w.put(configMap(refA, "too late"))
		stop()
		<-done
		time.Sleep(2 * lastPause) // a reflector hears of the end late
		if now != nil {
			t.Errorf("told %v after the end", now)
		}
	})
	return told
}

func TestWatchConfigMaps(t *testing.T) {
	w := &world{}
	w.put(configMap(refA, "1"))
	got := followConfigMaps(t, w, known("1", ""),
		func() {},
		func() { w.put(configMap(refA, "1")) },
		func() { w.put(configMap(refA, "2")); w.put(configMap(refB, "2")) },
		func() { w.put(configMap(Ref{Namespace: "mesh", Name: "c"}, "x")) },
		func() { w.remove(configMap(refB, "")) },
		func() { w.cut(errAway) },
		func() { w.cut(nil) },
		func() { w.cut(errRefused) },
		func() { w.put(configMap(refB, "3")) },
		func() { w.cut(nil) },
		func() { w.cut(errRefused) },
		func() { w.cut(nil) },
	)
	want := [][]string{nil, nil, {"2 2"}, nil, {"2 -"}, nil, nil, {"refused [a b]"}, nil, {"2 3"}, {"refused [a b]"}, {"2 3"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("known, a rewrite, two at once, another's, a deletion, away, back, refused, a change unseen, allowed, refused, allowed (-want +got):\n%s", diff)
	}
}

func TestWatchConfigMapsFromTheStart(t *testing.T) {
	changed := &world{}
	changed.put(configMap(refA, "2"))
	away := &world{fault: errAway}
	away.put(configMap(refA, "1"))
	for name, c := range map[string]struct {
		reason string
		world  *world
		known  map[Ref]ConfigMap
		steps  []func()
		want   [][]string
	}{
		"changed since": {"no change between reading and watching is lost", changed, known("1", ""), []func(){func() {}}, [][]string{{"2 -"}}},
		"none known":    {"the first answer is told", &world{}, nil, []func(){func() {}}, [][]string{{"- -"}}},
		"away": {"nothing is known before every one has been looked for", away, nil,
			[]func(){func() {}, func() { away.cut(nil) }}, [][]string{nil, {"1 -"}}},
	} {
		if diff := cmp.Diff(c.want, followConfigMaps(t, c.world, c.known, c.steps...)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// Two that are applied together, a moment apart, are told together; and nobody waits longer for
// that than the settling time.
func TestConfigMapsSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begin := &world{}, time.Now()
		var told []string
		go ConfigMaps{Refs: []Ref{refA, refB}, Known: known("", "")}.watch(t.Context(), w.configMap, func(all map[Ref]ConfigMap, err error) {
			told = append(told, fmt.Sprint(time.Since(begin).Milliseconds(), " ", short(all, err)))
		})
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		pass(time.Second)
		w.put(configMap(refA, "1"))
		pass(60 * time.Millisecond)
		w.put(configMap(refB, "1"))
		pass(60 * time.Millisecond)
		w.put(configMap(refB, "2"))
		pass(time.Second)
		if diff := cmp.Diff([]string{"1100 1 1", "1220 1 2"}, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// The law: whatever happens, the last answer is the state of the API server once it has had time, no
// answer is told twice running, and an API server that is away is not told at all.
func FuzzWatchConfigMaps(f *testing.F) {
	f.Add([]byte{0x00, 0x11, 0x42, 0x80, 0x01, 0xc3})
	f.Add([]byte{0x80, 0x02, 0xc0, 0x23, 0x50, 0xa1, 0x05})
	f.Fuzz(func(t *testing.T, events []byte) {
		w := &world{}
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var told []string
			go ConfigMaps{Refs: []Ref{refA, refB}}.watch(ctx, w.configMap, func(all map[Ref]ConfigMap, err error) { told = append(told, short(all, err)) })
			state := map[Ref]string{refA: "-", refB: "-"}
			for _, e := range events[:min(len(events), 40)] {
				play(w, e, state)
				synctest.Wait()
			}
			w.cut(nil)
			time.Sleep(3 * lastPause)
			synctest.Wait()
			if want := state[refA] + " " + state[refB]; len(told) == 0 || told[len(told)-1] != want {
				t.Errorf("after %x: told %q, want %q at last", events, told, want)
			}
			if n := len(slices.Compact(slices.Clone(told))); n != len(told) {
				t.Errorf("after %x: an answer twice running in %q", events, told)
			}
			stop()
			time.Sleep(2 * lastPause)
		})
	})
}

// play is one event: of a or b, a put, a removal, a loss or an end of it, with some time behind it.
func play(w *world, e byte, state map[Ref]string) {
	ref := []Ref{refA, refB}[e>>4&1]
	switch e >> 5 {
	case 0, 1, 2:
		state[ref] = fmt.Sprint(e >> 5)
		w.put(configMap(ref, state[ref]))
	case 3:
		state[ref] = "-"
		w.remove(configMap(ref, ""))
	case 4:
		w.cut(errAway)
	case 5:
		w.cut(errRefused)
	default:
		w.cut(nil)
	}
	time.Sleep(time.Duration(e&0xf) * 40 * time.Millisecond)
}

func TestParseRef(t *testing.T) {
	for text, want := range map[string]string{
		"mesh/settings": "", "mesh/a.b-c": "", "settings": "want namespace/name", "/settings": "must consist of", "mesh/": "must consist of",
		"mesh/a/b": "must consist of", "Mesh/a": "must consist of", "a.b/c": "must not contain dots", "": "want namespace/name",
	} {
		ref, err := ParseRef(text)
		switch {
		case want == "" && (err != nil || ref.String() != text):
			t.Errorf("%q: got %v, %v", text, ref, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got %v, %v, want %q", text, ref, err, want)
		}
	}
}

func TestConfigMapsAreComparedByContent(t *testing.T) {
	answers := []answer{
		{err: errAway}, {err: errRefused}, {}, {all: known("", "")}, {all: known("1", "")}, {all: known("1", "1")},
		{all: map[Ref]ConfigMap{refA: {Found: true}, refB: {}}},
	}
	for i, a := range answers {
		for j, b := range answers {
			copied := answer{maps.Clone(b.all), b.err}
			if a.same(copied) != (i == j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}
