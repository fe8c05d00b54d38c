// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// listener is an engine of a dialect that injects nothing and hands on the facts that it was given.
func listener(heard *inject.Facts) *inject.Engine {
	return inject.Speaking(&inject.Dialect{
		Owner: func(*pod.Head) inject.Owner { return inject.Owner{} },
		Decide: func(w *inject.Work) policy.Decision {
			*heard = w.Facts
			return policy.Decision{Reason: reason.PolicyDisabled}
		},
	}, inject.Options{})
}

// asked counts the questions about nodes.
type asked struct {
	knownFacts
	nodes int
}

func (a *asked) NodeKnown(name string) bool {
	a.nodes++
	return a.knownFacts.NodeKnown(name)
}

// What the request, the cluster and a dialect's own sources tell reaches the engine; a node is asked
// about only where the pod names one.
func TestReviewGathersFacts(t *testing.T) {
	cluster := knownFacts{
		labels: map[string]map[string]string{"shop": {"zone": "north"}}, nodes: map[string]bool{"known": true},
		oldNodes: []inject.Node{{Name: "aged"}},
	}
	on := func(node string) string {
		return strings.Replace(plainPod, `"spec":{`, `"spec":{"nodeName":"`+node+`",`, 1)
	}
	inCluster := inject.Facts{Namespace: "shop", Selected: true, NamespaceLabels: cluster.labels["shop"], OldNodes: cluster.oldNodes}
	with := func(f inject.Facts, change func(*inject.Facts)) inject.Facts {
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		reason string
		object string
		path   string
		more   func() any
		alone  bool // without a cluster
		want   inject.Facts
		asked  int
	}{
		"plain":   {reason: "no node, no question", object: plainPod, want: inCluster},
		"bound":   {reason: "its node is known", object: on("known"), want: with(inCluster, func(f *inject.Facts) { f.NodeKnown = true }), asked: 1},
		"strange": {reason: "its node is not", object: on("strange"), want: inCluster, asked: 1},
		"path":    {reason: "as it was sent", object: plainPod, path: "/zone/a%2Fb", want: with(inCluster, func(f *inject.Facts) { f.Path = "/zone/a%2Fb" })},
		"more":    {reason: "of this moment", object: plainPod, more: func() any { return "more" }, want: with(inCluster, func(f *inject.Facts) { f.More = "more" })},
		"offline": {
			reason: "what needs no cluster is there without one", object: on("known"), path: "/x", more: func() any { return 7 }, alone: true,
			want: inject.Facts{Namespace: "shop", Selected: true, Path: "/x", More: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var heard inject.Facts
			facts := &asked{knownFacts: cluster}
			m := testMutator(listener(&heard), facts)
			m.More = c.more
			if c.alone {
				m.Facts = nil
			}
			req := create("shop", c.object)
			req.Path = c.path
			if _, err := m.Review(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, heard); diff != "" || facts.nodes != c.asked {
				t.Errorf("%s: asked %d times, want %d (-want +got):\n%s", c.reason, facts.nodes, c.asked, diff)
			}
		})
	}
}
