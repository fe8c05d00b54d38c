// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"testing"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestOldKubelet(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.33.0": false, "v1.34.2": false, "v1.100.0": false, "v1.32.9": true, "v1.9.0": true, "v1.0.40": true,
		"v1.33.1-eks-1a2b3c": false, "v1.33.4-gke.1000": false, "v1.32.0+k3s1": true, "v1.33": false,
		"v1.33+": true, "v1.-33.0": true, "v1.+33.0": true, "v1. 33.0": true, "v1.33-rc": true,
		"v2.0.0": true, "v2.40.0": false, "1.33.0": false,
		"": true, "v1": true, "v1.": true, "v1..33": true, "unknown": true, "v1.99999999999999999999.0": true,
	} {
		if got := OldKubelet(version); got != want {
			t.Errorf("%q: old is %t, want %t", version, got, want)
		}
	}
}

func FuzzOldKubelet(f *testing.F) {
	f.Add("v1", 33, "0")
	f.Add("", 0, "0-x.y")
	f.Fuzz(func(t *testing.T, before string, minor int, after string) {
		old := OldKubelet(fmt.Sprintf("v%d.%d.%s", len(before), minor, after))
		if want := minor < nativeSince || minor > 1<<32-1; old != want {
			t.Errorf("minor version %d: old is %t", minor, old)
		}
		OldKubelet(before)
	})
}

func TestNativeWanted(t *testing.T) {
	old := []inject.Node{{Name: "old-1"}, {Name: "old-2"}}
	for name, c := range map[string]struct {
		mode, bound string
		known       bool
		old         []inject.Node
		want        bool
	}{
		"on, whatever the nodes":              {mode: "on", old: old, bound: "old-1", known: true, want: true},
		"off, whatever the nodes":             {mode: "off"},
		"auto, no old node, or none at all":   {mode: "auto", want: true},
		"no mode is auto":                     {want: true},
		"auto, an old node":                   {mode: "auto", old: old},
		"auto, bound to an old node":          {mode: "auto", old: old, bound: "old-2", known: true},
		"auto, bound to another node":         {mode: "auto", old: old, bound: "new", known: true, want: true},
		"auto, bound to what is no node here": {mode: "auto", old: old, bound: "gone"},
		"auto, bound, and no old node":        {mode: "auto", bound: "gone", want: true},
	} {
		head := &pod.Head{}
		head.Spec.NodeName = c.bound
		r := &run{
			Work: &inject.Work{Facts: inject.Facts{OldNodes: c.old, NodeKnown: c.known}},
			d:    &dialect{cluster: defaultCluster, config: Config{NativeSidecars: c.mode}}, head: head,
		}
		if got := r.nativeWanted(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
