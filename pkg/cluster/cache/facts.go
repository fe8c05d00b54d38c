// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pillion-dev/pillion/pkg/inject"
)

// Facts is what a request asks about the cluster, kept in memory by the informers' events. Reading
// takes no lock, calls no API server and copies nothing, so nobody may write to what it returns.
// The zero value knows nothing.
type Facts struct {
	namespaces sync.Map                      // name to *namespace
	nodes      sync.Map                      // name to nothing
	old        atomic.Pointer[[]inject.Node] // sorted by name; replaced, never changed
	synced     atomic.Pointer[func() bool]

	oldKubelet func(version string) bool // nil: old
}

type namespace struct {
	labels, annotations map[string]string
}

// Namespace gives a namespace's labels and annotations. It is known once the watch has brought it;
// a pod can be quicker than that in a namespace that is a moment old.
func (f *Facts) Namespace(name string) (labels, annotations map[string]string, known bool) {
	v, ok := f.namespaces.Load(name)
	if !ok {
		return nil, nil, false
	}
	ns := v.(*namespace)
	return ns.labels, ns.annotations, true
}

// OldNodes lists the nodes whose kubelet does not run native sidecars, by name.
func (f *Facts) OldNodes() []inject.Node {
	if p := f.old.Load(); p != nil {
		return *p
	}
	return nil
}

// NodeKnown tells whether the cluster has a node of this name.
func (f *Facts) NodeKnown(name string) bool {
	_, known := f.nodes.Load(name)
	return known
}

// Synced tells whether every namespace and node that stood at the start has been seen. It stays true
// when the API server is lost later: the last state seen is then served.
func (f *Facts) Synced() bool {
	p := f.synced.Load()
	return p != nil && (*p)()
}

func (f *Facts) setNamespace(name string, labels, annotations map[string]string) {
	f.namespaces.Store(name, &namespace{labels: labels, annotations: annotations})
}

func (f *Facts) dropNamespace(name string) { f.namespaces.Delete(name) }

// setNode keeps or drops a node. A heartbeat changes none of what is kept and costs a comparison.
// Only one goroutine may call it at a time, as an informer's handler is.
func (f *Facts) setNode(name, kubelet string, labels map[string]string) {
	if !f.NodeKnown(name) {
		f.nodes.Store(name, nil)
	}
	isOld := f.oldKubelet
	if isOld == nil {
		isOld = old
	}
	if !isOld(kubelet) {
		f.dropOld(name)
		return
	}
	nodes := f.OldNodes()
	node := inject.Node{Name: name, Labels: labels}
	i, found := findNode(nodes, name)
	if !found {
		next := slices.Insert(slices.Clone(nodes), i, node)
		f.old.Store(&next)
		return
	}
	if maps.Equal(nodes[i].Labels, labels) {
		return
	}
	next := slices.Clone(nodes)
	next[i] = node
	f.old.Store(&next)
}

// dropNode forgets a node; the rule of setNode holds.
func (f *Facts) dropNode(name string) {
	f.nodes.Delete(name)
	f.dropOld(name)
}

func (f *Facts) dropOld(name string) {
	nodes := f.OldNodes()
	i, found := findNode(nodes, name)
	if !found {
		return
	}
	next := slices.Delete(slices.Clone(nodes), i, i+1)
	f.old.Store(&next)
}

func findNode(nodes []inject.Node, name string) (int, bool) {
	return slices.BinarySearchFunc(nodes, name, func(n inject.Node, name string) int {
		return strings.Compare(n.Name, name)
	})
}

// old tells whether a kubelet leaves out the restart policy of an init container. Native sidecars are
// on by default since 1.29. A node without a version has no kubelet yet that could run a pod; a
// version that cannot be read counts as old, for there an ordinary container runs, and a native one
// could hang the pod.
func old(kubelet string) bool {
	if kubelet == "" {
		return false
	}
	v, err := version.ParseGeneric(kubelet)
	return err != nil || v.LessThan(version.MajorMinor(1, 29))
}
