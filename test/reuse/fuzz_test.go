// SPDX-License-Identifier: Apache-2.0

package reuse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// FuzzReuse takes a pod and then its replicas, near-replicas and itself again, in a cluster that changes too,
// through engines that keep outcomes and one that does not: they must agree each time. Every byte of the
// second argument is a choice.
func FuzzReuse(f *testing.F) {
	laws := map[string]*Law{}
	for name, compile := range configurations(f) {
		l, err := New(compile)
		if err != nil {
			f.Fatal(err)
		}
		laws[name] = l
	}
	names := often(slices.Sorted(maps.Keys(laws)))
	pods := append(goldenPods(f), typical(f))
	for _, text := range controllers() {
		for range laws { // of each, several walks
			pods = append(pods, []byte(text))
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for _, raw := range pods {
		choices := make([]byte, 150)
		for i := range choices {
			choices[i] = byte(dice.Uint32())
		}
		f.Add(string(raw), choices)
	}
	f.Fuzz(func(t *testing.T, raw string, choices []byte) {
		value, err := pod.Decode([]byte(raw))
		tree := object(value)
		if err != nil || tree == nil { // most changes to the bytes make no pod: then the choices get one
			value, _ = pod.Decode(pods[len(raw)%len(pods)])
			tree = object(value)
		}
		g := &walk{choices: choices, history: []map[string]any{tree}, facts: factsOf(raw, choices), pool: hostile()}
		name := names[g.next(len(names))]
		g.step(t, name, laws[name], tree)
		for range 1 + g.next(6) {
			g.step(t, name, laws[name], g.another())
		}
	})
}

// rare tells whether a configuration is one that shows one thing only.
func rare(name string) bool {
	return strings.Contains(name, "asks") || strings.Contains(name, "brings")
}

// often gives the others more room.
func often(names []string) []string {
	return slices.Concat(names, slices.Repeat(slices.DeleteFunc(slices.Clone(names), rare), 4))
}

// factsOf has a namespace of its own for each input, so that what is kept of one says nothing about another,
// and a failure can be had again.
func factsOf(raw string, choices []byte) inject.Facts {
	h := fnv.New64a()
	h.Write([]byte(raw))
	h.Write([]byte{0})
	h.Write(choices)
	f := shop()
	f.Namespace = fmt.Sprintf("shop-%x", h.Sum64())
	return f
}

// walk is a sequence of pods.
type walk struct {
	choices []byte
	history []map[string]any
	facts   inject.Facts
	pool    []any // values to put anywhere
}

// next is a choice of n; 0 when there are none left.
func (g *walk) next(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

// step gives a pod to the engines. What a patch brings is what a pod may hold next.
func (g *walk) step(t *testing.T, name string, l *Law, tree map[string]any) {
	t.Helper()
	raw := g.dress(pod.Encode(tree))
	got, err := l.Hold(raw, g.facts)
	if err != nil {
		t.Fatalf("%s: %v\npod %d: %s\nfacts %+v", name, err, len(g.history), raw, g.facts)
	}
	ops, err := pod.Decode(got.JSON())
	if err != nil {
		return
	}
	for _, p := range leaves(ops) {
		if text := p.text(); text != "" && len(text) < 60 && len(g.pool) < 200 {
			g.pool = append(g.pool, text)
		}
	}
}

// dress writes the same pod in other bytes.
func (g *walk) dress(raw []byte) []byte {
	switch g.next(8) {
	case 1:
		var b bytes.Buffer
		if json.Indent(&b, raw, "", "\t") == nil {
			return b.Bytes()
		}
	case 2:
		return bytes.ReplaceAll(raw, []byte(`"name":"`), []byte(`"n\u0061me":"`))
	case 3:
		return bytes.ReplaceAll(raw, []byte("kube-api-access-"), []byte(`kube-api-\u0061ccess-`))
	case 4:
		return bytes.ReplaceAll(raw, []byte(`-0"`), []byte(`-\u0030"`))
	}
	return raw
}

// another is one of the pods so far, changed in some places. The cluster may have changed too.
func (g *walk) another() map[string]any {
	tree := pod.Clone(g.history[g.next(len(g.history))])
	alike := []func(map[string]any){g.replica, g.token}
	apart := []func(map[string]any){g.nasty, g.near, g.key, g.list, g.replica, g.token}
	for range g.next(3) {
		alike[g.next(len(alike))](tree)
	}
	for range max(0, g.next(5)-2) { // as a rule none: too much makes a pod that is refused
		apart[g.next(len(apart))](tree)
	}
	if g.next(4) == 0 {
		g.cluster()
	}
	g.history = append(g.history, tree)
	return tree
}

// replica changes what a controller or the API server would write otherwise for another replica.
func (g *walk) replica(tree map[string]any) {
	for _, p := range replicated(tree) {
		text := p.text()
		switch {
		case text == "" || g.next(3) == 0:
		case strings.HasSuffix(text, "Z") && len(text) == 20:
			p.set(fmt.Sprintf("2026-01-02T03:04:%02dZ", g.next(60)))
		default:
			p.set(text[:len(text)-1] + string("0123456789abcdef"[g.next(16)]))
		}
	}
}

// token renames the tokens' volumes, all or some of what mounts them too. Two may get one name.
func (g *walk) token(tree map[string]any) {
	renamed := map[string]any{}
	sound := g.next(4) > 0
	for _, p := range tokens(tree) {
		to, known := renamed[p.text()]
		if !known || !sound && g.next(2) == 0 {
			to = pod.TokenVolume + []string{"x7k2p", "aaaaa", "bbbbb", "00000", "9zzz9", "b9z8q", "AAAAA", "x7k2", "x7k2pp", "x7k\u00e9"}[g.next(10)]
		}
		renamed[p.text()] = to
		p.set(to)
	}
}

// nasty puts any value at all where replicas differ: one that the templates bring, or of another type.
func (g *walk) nasty(tree map[string]any) {
	list := append(replicated(tree), named(tree)...)
	if len(list) > 0 {
		list[g.next(len(list))].set(g.value())
	}
}

// near changes one value somewhere.
func (g *walk) near(tree map[string]any) {
	if list := leaves(tree); len(list) > 0 {
		list[(g.next(256)<<8|g.next(256))%len(list)].set(g.value())
	}
}

// value is one of the pool, or of a small set of others.
func (g *walk) value() any {
	if g.next(8) == 0 {
		return []any{nil, int64(7), true, map[string]any{}, []any{"a"}, ""}[g.next(6)]
	}
	return g.pool[g.next(len(g.pool))]
}

// key gives the pod a label or an annotation: one that templates or rules read, or that tells a replica.
func (g *walk) key(tree map[string]any) {
	meta := pod.Object(tree, "metadata")
	if meta == nil {
		meta = map[string]any{}
		tree["metadata"] = meta
	}
	at := []string{"annotations", "annotations", "labels"}[g.next(3)]
	keys := append(pod.Ordinals(), readKeys()...)
	meta[at] = pod.With(pod.Object(meta, at), keys[g.next(len(keys))], g.value())
}

// list repeats, drops or adds a volume, a mount or a container.
func (g *walk) list(tree map[string]any) {
	spec := pod.Object(tree, "spec")
	if spec == nil {
		return
	}
	key := []string{"volumes", "volumes", "containers", "initContainers"}[g.next(4)]
	m := spec
	if c := object(first(pod.Items(spec, "containers"))); c != nil && g.next(2) == 0 {
		m, key = c, "volumeMounts"
	}
	items := pod.Items(m, key)
	switch g.next(3) {
	case 0:
		m[key] = append(slices.Clone(items), pod.Clone(first(items)))
	case 1:
		m[key] = items[min(1, len(items)):]
	default:
		m[key] = append(slices.Clone(items), map[string]any{"name": g.value(), "mountPath": "/more", "persistentVolumeClaim": map[string]any{"claimName": g.value()}})
	}
}

func first(items []any) any {
	if len(items) == 0 {
		return nil
	}
	return items[0]
}

// proxyConfig is a resource of the mesh that tells of every proxy in a namespace.
func proxyConfig(namespace string, concurrency int) istio.More {
	const resource = `{"apiVersion":"networking.istio.io/v1beta1","kind":"ProxyConfig","metadata":{"name":"all","namespace":%q},"spec":{"concurrency":%d}}`
	more, _ := istio.NewMore([][]byte{fmt.Appendf(nil, resource, namespace, concurrency)}) // it is sound
	return more
}

// cluster changes what is known beside the pod.
func (g *walk) cluster() {
	f := &g.facts
	switch g.next(8) {
	case 0:
		f.NamespaceLabels = map[string]string{"team": []string{"a", "b", "ab"}[g.next(3)]}
	case 1:
		f.NamespaceAnnotations = map[string]string{"logs.pillion.dev/path": []string{"/a", "/b"}[g.next(2)]}
	case 2:
		f.NamespaceLabels, f.NamespaceAnnotations = nil, map[string]string{"team": "a"}
	case 3:
		f.OldNodes = []inject.Node{{Name: "node-1", Labels: map[string]string{"old": "yes"}}}[:g.next(2)]
	case 4:
		f.NodeKnown = !f.NodeKnown
	case 5:
		f.Owner = []*inject.Owner{nil, {Kind: "Job", Name: "sum"}, {Kind: "CronJob", Name: "sum"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}[g.next(4)]
	case 6:
		f.More = proxyConfig(f.Namespace, g.next(3))
	default:
		f.Path, f.Trusted = []string{"", "/cluster/east/net/blue"}[g.next(2)], g.next(2) == 1
	}
}
