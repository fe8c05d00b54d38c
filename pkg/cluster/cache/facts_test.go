// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// The law: after any run of events, and whichever versions are said to be old, the list is what a fresh
// count of the nodes gives, in order of their names; exactly the nodes that are there are known, and no
// list that was handed out earlier has changed.
func FuzzOldNodes(f *testing.F) {
	f.Add([]byte{0x00, 0x11, 0x22, 0x83, 0x01, 0x92}, byte(0))
	f.Add([]byte{0x05, 0x15, 0x25, 0x35, 0x85, 0x45, 0x8d}, byte(0))
	f.Add([]byte{0x00, 0x01, 0x02, 0x88, 0x03}, byte(0x09))
	versions := []string{"v1.28.9", "v1.29.0", "", "v1.30.1-eks-1", "odd", "v1.18.0+k3s1", "v2.0.0", "v1.29.0-rc.1"}
	f.Fuzz(func(t *testing.T, events []byte, others byte) {
		var facts Facts
		rule := byte(1<<0 | 1<<4 | 1<<5) // the versions that are old by default, as bits
		if others != 0 {
			rule = others
			facts.oldKubelet = func(v string) bool { return rule>>slices.Index(versions, v)&1 == 1 }
		}
		nodes := map[string]string{}
		handed, copies := [][]inject.Node{}, [][]inject.Node{}
		for _, e := range events {
			name, version := fmt.Sprintf("node-%d", e>>4&7), versions[e&7]
			if e&0x88 == 0x88 {
				facts.dropNode(name)
				delete(nodes, name)
			} else {
				facts.setNode(name, version, map[string]string{"version": version})
				nodes[name] = version
			}
			handed = append(handed, facts.OldNodes())
			copies = append(copies, slices.Clone(facts.OldNodes()))
		}
		var want []inject.Node
		for _, name := range slices.Sorted(maps.Keys(nodes)) {
			if v := nodes[name]; rule>>slices.Index(versions, v)&1 == 1 {
				want = append(want, inject.Node{Name: name, Labels: map[string]string{"version": v}})
			}
		}
		if diff := cmp.Diff(want, facts.OldNodes(), emptyIsNil); diff != "" {
			t.Errorf("after %x (-want +got):\n%s", events, diff)
		}
		for i := range 8 {
			name := fmt.Sprintf("node-%d", i)
			if _, there := nodes[name]; facts.NodeKnown(name) != there {
				t.Errorf("after %x: %s is known: %t", events, name, !there)
			}
		}
		if diff := cmp.Diff(copies, handed, emptyIsNil); diff != "" {
			t.Errorf("a list changed after it was handed out (-then +now):\n%s", diff)
		}
	})
}

var emptyIsNil = cmp.Transformer("nil", func(n []inject.Node) []inject.Node {
	if len(n) == 0 {
		return nil
	}
	return append(make([]inject.Node, 0, len(n)), n...)
})

func TestOldKubelet(t *testing.T) {
	for kubelet, c := range map[string]struct {
		reason string
		old    bool
	}{
		"":                 {"no kubelet has reported yet, so no pod can run there", false},
		"v1.28.15":         {"the last line before native sidecars were on by default", true},
		"v1.29.0":          {"the first that has them", false},
		"v1.29.0-alpha.1":  {"the gate was on in the line's alphas too", false},
		"v1.28.5+k3s1":     {"a distribution's suffix does not matter", true},
		"v1.27.3-gke.100":  {"nor does a cloud's", true},
		"v1.31.1-eks-1b3c": {"nor does a cloud's", false},
		"1.30.0":           {"the v may be missing", false},
		"v1.28":            {"the patch may be missing", true},
		"v2.0.0":           {"a later major is later", false},
		"unknown":          {"unreadable: an ordinary container runs everywhere", true},
	} {
		if got := old(kubelet); got != c.old {
			t.Errorf("old(%q) = %t, want %t: %s", kubelet, got, c.old, c.reason)
		}
	}
}

func TestNamespaceFacts(t *testing.T) {
	var facts Facts
	if _, _, known := facts.Namespace("shop"); known || facts.Synced() || facts.OldNodes() != nil || facts.NodeKnown("node-0") {
		t.Error("the zero value knows something")
	}
	labels, annotations := map[string]string{"a": "1"}, map[string]string{"b": "2"}
	facts.setNamespace("shop", labels, annotations)
	facts.setNamespace("bank", nil, nil)
	facts.dropNamespace("bank")
	gotLabels, gotAnnotations, known := facts.Namespace("shop")
	if !known || !maps.Equal(gotLabels, labels) || !maps.Equal(gotAnnotations, annotations) {
		t.Errorf("shop: got %v, %v, %t", gotLabels, gotAnnotations, known)
	}
	if _, _, known := facts.Namespace("bank"); known {
		t.Error("a namespace that is gone is still known")
	}
}

// A request reads facts and must not allocate for it: no copy, no lock.
func TestReadingFactsAllocatesNothing(t *testing.T) {
	var facts Facts
	facts.setNamespace("shop", map[string]string{"a": "1"}, nil)
	facts.setNode("node-0", "v1.28.0", map[string]string{"a": "1"})
	if n := testing.AllocsPerRun(100, func() {
		facts.Namespace("shop")
		facts.OldNodes()
		facts.NodeKnown("node-0")
	}); n > 2 { // the names as keys of the maps
		t.Errorf("%v allocations", n)
	}
}

func TestHeartbeatChangesNothing(t *testing.T) {
	var facts Facts
	facts.setNode("node-0", "v1.28.0", map[string]string{"a": "1"})
	before := facts.old.Load()
	facts.setNode("node-0", "v1.28.0", map[string]string{"a": "1"})
	if facts.old.Load() != before {
		t.Error("an unchanged node made a new list")
	}
}
