// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func expect[T any](t *testing.T, reason string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func TestStaticWritesTheBundleAlone(t *testing.T) {
	run(t, Static, func(w *world) {
		w.put(w.live("main"))
		synctest.Wait()
		expect(t, "the patch names the object, our hooks and the bundle; nothing else", []write{{
			Name: "main", Manager: BundleManager,
			Patch: `{"kind":"MutatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1",` +
				`"metadata":{"name":"main","uid":"uid-main"},` +
				`"webhooks":[{"name":"namespace.x","clientConfig":{"caBundle":"b25l"}},{"name":"object.x","clientConfig":{"caBundle":"b25l"}}]}`,
		}}, w.written())
		expect(t, "a configuration that does not exist is not waited for", []string{"one"}, w.published())
	})
}

func TestStaticNeverCreates(t *testing.T) {
	run(t, Static, func(w *world) {
		w.pass(time.Hour)
		expect(t, "nothing to write to", nil, w.names())
		expect(t, "nothing published", nil, w.published())
		expect(t, "each pass says what is missing", "main failure "+NotFound, w.reported()[0])

		foreign := w.live("main")
		foreign.Webhooks = foreign.Webhooks[2:]
		w.put(foreign)
		synctest.Wait()
		expect(t, "none of its hooks is ours", 1, count(w.reported(), "main failure "+EntryNotFound))

		tag := w.live("tag")
		tag.Webhooks = tag.Webhooks[1:]
		w.put(tag)
		w.put(w.live("main"))
		synctest.Wait()
		expect(t, "what has no hook of ours is not waited for", []string{"one"}, w.published())
		w.remove("main")
		w.pass(time.Hour)
		expect(t, "a deleted one is not made again", []string{"main"}, w.names())
	})
}

func TestAfterReadyCreatesOnceReadyAndAgainWhenDeleted(t *testing.T) {
	run(t, AfterReady, func(w *world) {
		locked(w, func() bool { w.ready = false; return true })
		w.pass(time.Minute)
		expect(t, "the server cannot answer yet", nil, w.names())

		locked(w, func() bool { w.ready = true; return true })
		w.pass(time.Minute)
		expect(t, "all is made", []string{"main", "tag"}, w.names())
		expect(t, "by one manager", Manager, w.written()[0].Manager)
		expect(t, "and the bundle is out", []string{"one"}, w.published())

		w.remove("tag")
		synctest.Wait()
		expect(t, "a deleted one is made again", []string{"main", "tag", "tag"}, w.names())
		w.pass(24 * time.Hour)
		expect(t, "then nothing is left to do", 3, len(w.names()))
	})
}

func TestFailedWriteIsTriedAgain(t *testing.T) {
	for _, mode := range []Mode{Static, AfterReady} {
		for name, c := range map[string]struct {
			reason string
			faults int
			within time.Duration
		}{
			"first": {"one failure costs a moment", 2, time.Second}, // one for each object
			"many":  {"a long outage is sat out", 200, 3 * time.Hour},
		} {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				run(t, mode, func(w *world) {
					locked(w, func() bool { w.faults = c.faults; return true })
					w.put(w.live("main"))
					w.put(w.live("tag"))
					w.pass(c.within)
					expect(t, c.reason, c.faults+2, len(w.written()))
					expect(t, "published once, after all", []string{"one"}, w.published())
					expect(t, "every failure is told", c.faults, count(w.reported(), "main failure "+UpdateFailed)+count(w.reported(), "tag failure "+UpdateFailed))
					expect(t, "and the end of it", 2, count(w.reported(), "main success ")+count(w.reported(), "tag success "))
					writes := w.written()
					if gap := last(writes).At - writes[len(writes)-3].At; gap > lastRetry+time.Second {
						t.Errorf("tries are %s apart", gap)
					}
				})
			})
		}
	}
}

func last[T any](list []T) T { return list[len(list)-1] }

func count(list []string, s string) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x != s }))
}

func TestRotation(t *testing.T) {
	for _, mode := range []Mode{Static, AfterReady} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, mode, func(w *world) {
				w.put(w.live("main"))
				w.put(w.live("tag"))
				w.pass(time.Second)
				locked(w, func() bool { w.faults = 1; return true })
				w.rotate("two")
				synctest.Wait()
				expect(t, "not before every object carries it", []string{"one"}, w.published())
				w.pass(time.Minute)
				expect(t, "published", []string{"one", "two"}, w.published())
				expect(t, "carried", "two", string(w.object("main").Webhooks[1].ClientConfig.CABundle))

				locked(w, func() bool { w.bundle = ""; return true })
				w.changed <- struct{}{}
				w.pass(time.Minute)
				expect(t, "no bundle is no reason to write one", "two", string(w.object("main").Webhooks[1].ClientConfig.CABundle))
				expect(t, "and is told", " failure "+NoBundle, last(w.reported()))
			})
		})
	}
}

func TestContentionEnds(t *testing.T) {
	for _, mode := range []Mode{Static, AfterReady} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, mode, func(w *world) {
				locked(w, func() bool {
					w.edit = func(c *Configuration) {
						if c.Name == "main" {
							c.Webhooks[0].ClientConfig.CABundle = []byte("theirs")
						}
					}
					return true
				})
				w.put(w.live("main"))
				w.pass(time.Hour)
				expect(t, "the first write and three repairs, not one more", 4, count(w.names(), "main"))
				expect(t, "told once", 1, count(w.reported(), "main failure "+Contended))

				w.rotate("two")
				w.pass(time.Hour)
				expect(t, "a new bundle is worth another try", 8, count(w.names(), "main"))
			})
		})
	}
}

func TestRareEditsAreRepaired(t *testing.T) {
	run(t, AfterReady, func(w *world) {
		w.pass(time.Second)
		for range 100 {
			c := w.live("main") // its bundle is gone
			w.put(c)
			w.pass(21 * time.Second)
		}
		expect(t, "every edit, since there are never more than three a minute", 101, count(w.names(), "main"))
		expect(t, "no contention", 0, count(w.reported(), "main failure "+Contended))
	})
}

func TestWhatOthersAddIsTheirs(t *testing.T) {
	run(t, AfterReady, func(w *world) {
		w.pass(time.Second)
		before := len(w.names())
		c := w.object("main")
		c.Labels["team"], c.Annotations = "a", map[string]string{"note": "b"}
		c.Webhooks = append(c.Webhooks, w.live("main").Webhooks[2])
		s := c.Webhooks[0].NamespaceSelector
		s.MatchExpressions = append([]metav1.LabelSelectorRequirement{
			{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist}}, s.MatchExpressions...)
		w.put(c)
		w.pass(time.Hour)
		expect(t, "labels, annotations, hooks and expressions added by others are no reason to write", before, len(w.names()))

		c = w.object("main")
		delete(c.Labels, "app")
		w.put(c)
		w.pass(time.Hour)
		expect(t, "a label of ours taken away is", before+1, len(w.names()))
	})
}

// The cache may show, after a write, what stood before it. That is nobody's edit.
func TestStaleCacheIsNoEdit(t *testing.T) {
	run(t, Static, func(w *world) {
		w.put(w.live("main"))
		locked(w, func() bool { w.stale["main"] = w.objects["main"].DeepCopy(); return true })
		w.pass(time.Second)
		for range 10 {
			w.r.Touch("main")
			w.pass(time.Second)
		}
		expect(t, "one write", []string{"main"}, w.names())
		locked(w, func() bool { delete(w.stale, "main"); return true })
		w.r.Touch("main")
		synctest.Wait()
		expect(t, "still one", []string{"main"}, w.names())
	})
}

func TestNewRefusesNonsense(t *testing.T) {
	bundle := func() []byte { return nil }
	for name, o := range map[string]Options{
		"mode":   {Mode: "sometimes", Wanted: wanted, CABundle: bundle},
		"wanted": {Mode: Static, CABundle: bundle},
		"bundle": {Mode: Static, Wanted: wanted},
	} {
		if _, err := New(o, InCluster{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A registrar whose first pass cannot be planned goes on trying.
func TestWantedThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := make(chan string, 100)
		r, err := New(Options{Mode: AfterReady,
			CABundle: func() []byte { return []byte("one") },
			Wanted:   func([]byte) ([]*Configuration, error) { return nil, context.DeadlineExceeded },
			Report:   func(name, result, reason string) { reports <- name + result + reason },
		}, InCluster{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Start(ctx); err != nil {
			t.Error(err)
		}
		if len(reports) < 3 || <-reports != Failure+NotWanted {
			t.Errorf("%d reports", len(reports))
		}
	})
}
