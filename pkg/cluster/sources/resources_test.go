// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func setting(namespace, name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Setting",
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": "u", "creationTimestamp": "2026-01-02T03:04:05Z", "managedFields": []any{}},
		"spec":     map[string]any{"value": value}, "status": map[string]any{"x": int64(1)},
	}}
}

// brief is an answer in few letters.
func brief(t *testing.T, objects [][]byte, err error) string {
	if err != nil {
		return "refused"
	}
	out := []string{}
	for _, raw := range objects {
		var o struct {
			Metadata struct{ Namespace, Name string }
			Spec     struct{ Value string }
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Error(err)
		}
		out = append(out, o.Metadata.Namespace+"/"+o.Metadata.Name+"="+o.Spec.Value)
	}
	return fmt.Sprint(out)
}

func settings(ctx context.Context, t *testing.T, w *world, tell func(string)) {
	r := Resource{Group: "example.org", Resource: "settings", Versions: []string{"v1", "v1beta1"}}
	r.watch(ctx, serving{w}, func(objects [][]byte, err error) { tell(brief(t, objects, err)) })
}

func TestWatchResource(t *testing.T) {
	w := &world{}
	steps := []struct {
		reason string
		step   func()
		want   []string
	}{
		{"not served, which is told once: there is none", func() {}, []string{"[]"}},
		{"served now, and still empty", func() { w.serve("v1beta1") }, nil},
		{"objects are sorted", func() { w.put(setting("b", "x", "1")); w.put(setting("a-b", "x", "2")); w.put(setting("a", "y", "3")) }, []string{"[a/y=3 a-b/x=2 b/x=1]"}},
		{"what is not kept may change", func() { o := setting("a", "y", "3"); o.SetLabels(map[string]string{"l": "v"}); w.put(o) }, nil},
		{"a spec changes", func() { w.put(setting("a", "y", "4")) }, []string{"[a/y=4 a-b/x=2 b/x=1]"}},
		{"an object goes", func() { w.remove(setting("a-b", "x", "")) }, []string{"[a/y=4 b/x=1]"}},
		{"the API server is away", func() { w.cut(errAway) }, nil},
		{"it comes back, and has another object", func() { w.cut(nil); w.put(setting("c", "z", "5")) }, []string{"[a/y=4 b/x=1 c/z=5]"}},
		{"another version takes over", func() { w.serve("v1") }, nil},
		{"and is followed", func() { w.remove(setting("c", "z", "")) }, []string{"[a/y=4 b/x=1]"}},
		{"refused", func() { w.cut(errRefused) }, []string{"refused"}},
		{"allowed", func() { w.cut(nil) }, []string{"[a/y=4 b/x=1]"}},
		{"the definition goes, with its objects", func() { w.serve() }, []string{"[]"}},
		{"and comes again", func() { w.serve("v1"); w.put(setting("a", "y", "6")) }, []string{"[a/y=6]"}},
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var now []string
		done := make(chan struct{})
		go func() { defer close(done); settings(ctx, t, w, func(s string) { now = append(now, s) }) }()
		for _, s := range steps {
			s.step()
			time.Sleep(3 * lastPause)
			synctest.Wait()
			if diff := cmp.Diff(s.want, now); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.reason, diff)
			}
			now = nil
		}
		stop()
		<-done
		time.Sleep(2 * lastPause)
	})
}

// A resource that is not served costs one question per version in half a minute, and an API server
// that is away no more.
func TestLookingIsRare(t *testing.T) {
	for name, w := range map[string]*world{"not served": {}, "away": {fault: errAway}, "refused": {fault: errRefused}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var told []string
			go settings(ctx, t, w, func(s string) { told = append(told, s) })
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := w.called(); n < 100 || n > 260 {
				t.Errorf("%s: %d calls in an hour", name, n)
			}
			if len(told) > 1 {
				t.Errorf("%s: told %q", name, told)
			}
			stop()
			time.Sleep(2 * lastPause)
		})
	}
}

// What is served may not be what is listed, while several API servers differ.
func TestServedButNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{served: map[string]bool{}}
		ctx, stop := context.WithCancel(t.Context())
		go Resource{Group: "example.org", Resource: "settings", Versions: []string{"v1"}}.watch(ctx, boasting{serving{w}}, func(objects [][]byte, err error) {
			t.Errorf("told %s", brief(t, objects, err))
		})
		time.Sleep(time.Hour)
		if n := w.called(); n > 400 {
			t.Errorf("%d calls in an hour", n)
		}
		stop()
		time.Sleep(2 * lastPause)
	})
}

// boasting says that it serves what it does not.
type boasting struct{ serving }

func (boasting) resources(context.Context, schema.GroupVersion) ([]metav1.APIResource, error) {
	return []metav1.APIResource{{Name: "settings", Verbs: metav1.Verbs{"list", "watch"}}}, nil
}

func TestEssence(t *testing.T) {
	bare := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}}}
	for want, obj := range map[string]*unstructured.Unstructured{
		`{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","name":"x","namespace":"a"},"spec":{"value":"1"}}`: setting("a", "x", "1"),
		`{"metadata":{"name":"x"}}`: bare,
	} {
		got, err := essence(obj)
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// The law: whatever happens, the last answer is the state of the API server once it has had time, in
// order, and no answer is told twice running.
func FuzzWatchResource(f *testing.F) {
	f.Add([]byte{0x00, 0x31, 0x12, 0xc0, 0x83, 0xe1, 0x21})
	f.Add([]byte{0xe0, 0x01, 0xa5, 0x12, 0xcf, 0x60, 0xe8, 0x33})
	f.Fuzz(func(t *testing.T, events []byte) {
		w := &world{served: map[string]bool{"v1": true}}
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var told []string
			go settings(ctx, t, w, func(s string) { told = append(told, s) })
			state := map[string]string{}
			for _, e := range events[:min(len(events), 40)] {
				live(w, e, state)
				synctest.Wait()
			}
			w.cut(nil)
			time.Sleep(4 * lastPause)
			synctest.Wait()
			var want []string
			for _, name := range slices.Sorted(maps.Keys(state)) {
				want = append(want, name+"="+state[name])
			}
			if last := "[" + strings.Join(want, " ") + "]"; len(told) == 0 || told[len(told)-1] != last {
				t.Errorf("after %x: told %q, want %q at last", events, told, last)
			}
			if n := len(slices.Compact(slices.Clone(told))); n != len(told) {
				t.Errorf("after %x: an answer twice running in %q", events, told)
			}
			stop()
			time.Sleep(2 * lastPause)
		})
	})
}

// live is one event in the life of four objects and of the API server.
func live(w *world, e byte, state map[string]string) {
	namespace, name := []string{"a", "b"}[e>>4&1], []string{"x", "y"}[e>>3&1]
	key, served := namespace+"/"+name, w.isServed()
	switch e >> 5 {
	case 0, 1, 2:
		if served {
			state[key] = fmt.Sprint(e >> 5)
			w.put(setting(namespace, name, state[key]))
		}
	case 3:
		if served {
			delete(state, key)
			w.remove(setting(namespace, name, ""))
		}
	case 4:
		w.cut([]error{errAway, errRefused, nil}[e%3])
	case 5:
		clear(state)
		w.serve()
	case 6:
		w.serve("v1")
	default:
		w.serve("v1beta1")
	}
	time.Sleep(time.Duration(e&7) * 500 * time.Millisecond)
}

func (w *world) isServed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.served) > 0
}
