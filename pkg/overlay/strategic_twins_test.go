// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// checkTwinsLikeOracle compares with strategic merge patch where it is right for a pod that comes again.
func checkTwinsLikeOracle(t *testing.T, schema *pod.Type, base, layer any) {
	t.Helper()
	if !rivals(schema, base, layer) && !quarrel(schema, layer) {
		checkLikeOracle(t, schema, base.(map[string]any), layer.(map[string]any))
	}
}

// FuzzStrategicTwice: a layer that has been laid changes nothing when it is laid again, whatever it is
// laid over and however often it has a key. A pod may be sent through a webhook again.
func FuzzStrategicTwice(f *testing.F) {
	seeds(f)
	schema := pod.Schema()
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		base, layer := a.spread(a.pod()), b.spread(b.pod())
		many := b.twins(schema, layer)
		for _, over := range []any{base, a.twins(schema, base), a.messy(a.twins(schema, base)), layer, many, b.messy(many), nil} {
			checkTwice(t, over, many)
			checkTwice(t, over, solid(schema, b.messy(many)))
			checkTwice(t, a.twins(schema, over), layer)
		}
		checkTwice(t, a.crew(), b.crew())
	})
}

func checkTwice(t *testing.T, base, layer any) {
	t.Helper()
	schema := pod.Schema()
	got, err := Strategic(schema, base, layer)
	if err != nil {
		t.Fatalf("%v\nbase  %s\nlayer %s", err, pod.Encode(base), pod.Encode(layer))
	}
	again, err := Strategic(schema, got, layer)
	if err != nil || !settled(got, again) {
		t.Errorf("a second time does not give back its base: %v\n%s\nbase  %s\nlayer %s", err, cmp.Diff(got, again), pod.Encode(base), pod.Encode(layer))
	}
	if pod.Equal(base, got) && !settled(base, got) {
		t.Errorf("nothing changes, but the result is not base\nbase  %s\nlayer %s", pod.Encode(base), pod.Encode(layer))
	}
}

// FuzzStrategicTwins: where base has several of a key and the layer too, the n-th goes with the n-th, and
// where base has no more of it than the layer, the order is as if each had a key of its own.
func FuzzStrategicTwins(f *testing.F) {
	seeds(f)
	r := rulesOf(pod.Schema().At("spec", "containers", "*", "env"), "env")
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := source{first}, source{second}
		var base, layer []any // such that keys are mapped
		for range 8 {
			some, more := a.variables(), b.variables()
			checkMerged(t, r, some, more)
			base, layer = append(base, some...), append(layer, more...)
		}
		checkMerged(t, r, base, layer)
		checkMerged(t, r, slices.Concat(base, base), slices.Concat(layer, layer, layer))
	})
}

func checkMerged(t *testing.T, r rules, base, layer []any) {
	t.Helper()
	got, err := r.merge(base, layer)
	if err != nil {
		t.Fatal(err)
	}
	checkTwins(t, r, [3][]any{base, layer, got})
	if again, err := r.merge(got, layer); err != nil || !sameList(got, again) {
		t.Errorf("a second time changes the list: %v\n%s\nbase  %s\nlayer %s", err, cmp.Diff(got, again), pod.Encode(base), pod.Encode(layer))
	}
}

func checkTwins(t *testing.T, r rules, lists [3][]any) {
	t.Helper()
	base, layer, got := lists[0], lists[1], lists[2]
	was, now, is := r.places(base), r.places(layer), r.places(got)
	distinct := len(layer) > 0
	for key, theirs := range now {
		distinct = distinct && (len(theirs) == 1 || len(was[key]) > 1)
	}
	for key, ours := range was {
		distinct = distinct && (len(ours) == 1 || len(ours) <= len(now[key]))
		if len(ours) == 1 && len(now[key]) > 1 {
			continue // they become one
		}
		for n := range max(len(ours), len(now[key])) {
			var want any
			if n < len(ours) {
				want = base[ours[n]]
			}
			if n < len(now[key]) {
				want, _ = patchMember(r.elem, "", want, layer[now[key][n]])
			}
			if n >= len(is[key]) || !pod.Equal(want, got[is[key][n]]) {
				t.Errorf("number %d of %v is not %s\nbase  %s\nlayer %s\ngot   %s", n, key, pod.Encode(want), pod.Encode(base), pod.Encode(layer), pod.Encode(got))
			}
		}
	}
	if want := walk(r.marked(base), r.marked(layer)); distinct && !slices.Equal(want, r.marked(got)) {
		t.Errorf("the order is %v, want %v\nbase  %s\nlayer %s", r.marked(got), want, pod.Encode(base), pod.Encode(layer))
	}
}

// marked are the keys of a list's items, each with how often it came before.
func (r rules) marked(list []any) []string {
	out, count := []string{}, map[any]int{}
	for _, item := range list {
		key := r.keyOf(item)
		out = append(out, fmt.Sprint(key, count[key]))
		count[key]++
	}
	return out
}

// walk is the order as the rule tells it: an item that only base has goes first if the layer's next one
// stands behind it in base.
func walk(base, layer []string) []string {
	out := []string{}
	rest := slices.DeleteFunc(slices.Clone(base), func(k string) bool { return slices.Contains(layer, k) })
	for _, next := range layer {
		for len(rest) > 0 && slices.Index(base, rest[0]) < slices.Index(base, next) {
			out, rest = append(out, rest[0]), rest[1:]
		}
		out = append(out, next)
	}
	return append(out, rest...)
}

func TestStrategicTwins(t *testing.T) {
	env := func(items string) string { return `{"spec":{"containers":[{"name":"c","env":[` + items + `]}]}}` }
	crew := func(items string) string { return `{"spec":{"containers":[` + items + `]}}` }
	for name, test := range map[string]struct{ reason, base, layer, want string }{
		"number by number": {
			reason: "what the pod has several times is not one thing",
			base:   env(`{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"}`),
			layer:  env(`{"name":"X","value":"3"},{"name":"X","value":"4"}`),
			want:   env(`{"name":"X","value":"3"},{"name":"Y"},{"name":"X","value":"4"}`),
		},
		"more than the pod has": {
			reason: "they are new",
			base:   env(`{"name":"X"},{"name":"X","value":"2"},{"name":"Y"}`),
			layer:  env(`{"name":"X"},{"name":"X"},{"name":"N"},{"name":"X","value":"3"}`),
			want:   env(`{"name":"X"},{"name":"X","value":"2"},{"name":"N"},{"name":"X","value":"3"},{"name":"Y"}`),
		},
		"fewer than the pod has": {
			reason: "the others stay behind the layer's last, or they would not be the others the next time",
			base:   env(`{"name":"X"},{"name":"X"},{"name":"Y"},{"name":"X","value":"3"}`),
			layer:  env(`{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"}`),
			want:   env(`{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"},{"name":"X","value":"3"}`),
		},
		"one in the layer": {
			reason: "it is the first",
			base:   env(`{"name":"X","value":"1"},{"name":"X","value":"2"}`),
			layer:  env(`{"name":"X","value":"3"}`),
			want:   env(`{"name":"X","value":"3"},{"name":"X","value":"2"}`),
		},
		"one in the pod": {
			reason: "all become that one",
			base:   env(`{"name":"Y"},{"name":"X","value":"1"}`),
			layer:  env(`{"name":"X","value":"2"},{"name":"X","valueFrom":{"fieldRef":{"fieldPath":"p"}}}`),
			want:   env(`{"name":"Y"},{"name":"X","valueFrom":{"fieldRef":{"fieldPath":"p"}}}`),
		},
		"a list that comes new": {
			reason: "it is taken as it is",
			base:   crew(`{"name":"c"}`),
			layer:  env(`{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"}`),
			want:   env(`{"name":"X","value":"1"},{"name":"Y"},{"name":"X","value":"2"}`),
		},
		"a set": {
			reason: "it may have something twice, but nothing comes twice",
			base:   `{"metadata":{"finalizers":["a","b","a"]}}`,
			layer:  `{"metadata":{"finalizers":["a","a","n","a"]}}`,
			want:   `{"metadata":{"finalizers":["a","b","a","n"]}}`,
		},
		"an order that settles": {
			reason: "two items of one container are laid over it until nothing moves",
			base:   env(`{"name":"C"}`),
			layer:  crew(`{"name":"c","env":[{"name":"B"},{"name":"A"}]},{"name":"c","env":[{"name":"C"},{"name":"B"}]}`),
			want:   env(`{"name":"C"},{"name":"B"},{"name":"A"}`),
		},
		"an order that never settles": {
			reason: "the items stay apart",
			base:   crew(``),
			layer:  crew(turning),
			want:   crew(turning),
		},
		"an order that never settles over one": {
			reason: "the first goes with the pod's, the others are new",
			base:   crew(`{"name":"a"},{"name":"c","image":"i"}`),
			layer:  crew(turning),
			want:   crew(`{"name":"a"},` + strings.Replace(turning, `"name":"c"`, `"name":"c","image":"i"`, 1)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkStrategic(t, test.reason, [3]string{test.base, test.layer, test.want})
			checkTwice(t, tree(t, test.base), tree(t, test.layer))
		})
	}
}

// turning are items of one container that never agree on the order of its variables.
const turning = `{"name":"c","env":[{"name":"E"},{"name":"B"}]},` +
	`{"name":"c","env":[{"name":"A"},{"name":"C"},{"name":"D"},{"name":"E"}]},` +
	`{"name":"c","env":[{"name":"C"},{"name":"B"},{"name":"D"}]}`
