// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestChanges(t *testing.T) {
	for name, test := range map[string]struct {
		reason        string
		before, after string
		want          []Change
	}{
		"items by their keys": {
			reason: "a whole item is one change, whatever its list is keyed by",
			before: `{"metadata":{"finalizers":["a"]},"spec":{"containers":[{"name":"app","env":[{"name":"A"}],"ports":[{"containerPort":80}],"volumeMounts":[{"mountPath":"/x"}]}]}}`,
			after: `{"metadata":{"finalizers":["a","b/c"]},"spec":{"containers":[{"name":"app","env":[{"name":"FOO","value":"1"},{"name":"A"}],
				"ports":[{"containerPort":80},{"containerPort":8080}],"volumeMounts":[{"mountPath":"/x"},{"mountPath":"/var/log","name":"v"}]},{"name":"side","env":[]}]}}`,
			want: []Change{
				{Path: "/metadata/finalizers/b~1c"},
				{Path: "/spec/containers/app/env/FOO"},
				{Path: "/spec/containers/app/ports/8080~1TCP"},
				{Path: "/spec/containers/app/volumeMounts/~1var~1log"},
				{Path: "/spec/containers/side"},
			},
		},
		"parents": {
			reason: "a parent that came is undone only if nothing is left in it",
			before: `{"metadata":{"labels":null},"spec":{"containers":[{"name":"app"}]}}`,
			after: `{"metadata":{"labels":{"a/b":"1"}},"spec":{"volumes":[{"name":"v"}],"containers":[{"name":"app","resources":{"limits":{"cpu":"1"}}}],
				"securityContext":{},"tolerations":[{"key":"k"}],"futureMap":{"x":[1]}}}`,
			want: []Change{
				{Path: "/metadata/labels", Kind: Created},
				{Path: "/metadata/labels/a~1b"},
				{Path: "/spec/containers/app/resources", Kind: Created},
				{Path: "/spec/containers/app/resources/limits", Kind: Created},
				{Path: "/spec/containers/app/resources/limits/cpu"},
				{Path: "/spec/futureMap", Kind: Created},
				{Path: "/spec/futureMap/x"},
				{Path: "/spec/securityContext", Kind: Created},
				{Path: "/spec/tolerations"},
				{Path: "/spec/volumes", Kind: Created},
				{Path: "/spec/volumes/v"},
			},
		},
		"unions": {
			reason: "a member of a union is one thing, and the one that it drove out comes back",
			before: `{"spec":{"volumes":[{"name":"v","csi":{"driver":"x"}}],"containers":[{"name":"app"}]}}`,
			after:  `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"app","livenessProbe":{"httpGet":{"port":80}}}]}}`,
			want: []Change{
				{Path: "/spec/containers/app/livenessProbe"},
				{Path: "/spec/volumes/v/csi", Kind: Replaced, Old: map[string]any{"driver": "x"}},
				{Path: "/spec/volumes/v/emptyDir"},
			},
		},
		"values and removals": {
			reason: "an old value is kept, and the place of an item that is gone",
			before: `{"spec":{"hostname":"h","priority":0,"containers":[{"name":"a"},{"name":"b","args":["x"]},{"name":"c"}],"volumes":[{"name":"v"}]}}`,
			after:  `{"spec":{"hostname":"i","containers":[{"name":"b","args":["x","y"]}]}}`,
			want: []Change{
				{Path: "/spec/containers/a", Kind: Removed, Old: map[string]any{"name": "a"}},
				{Path: "/spec/containers/c", Kind: Removed, Old: map[string]any{"name": "c"}, Index: 2},
				{Path: "/spec/containers/b/args", Kind: Replaced, Old: []any{"x"}},
				{Path: "/spec/hostname", Kind: Replaced, Old: "h"},
				{Path: "/spec/priority", Kind: Replaced, Old: int64(0)},
				{Path: "/spec/volumes", Kind: Replaced, Old: []any{map[string]any{"name": "v"}}},
			},
		},
		"another order": {
			reason: "order has no path, so the list is kept whole",
			before: `{"spec":{"volumes":[{"name":"a"},{"name":"b"}]}}`,
			after:  `{"spec":{"volumes":[{"name":"b"},{"name":"n"},{"name":"a"}]}}`,
			want: []Change{
				{Path: "/spec/volumes/n"},
				{Path: "/spec/volumes", Kind: Replaced, Old: []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}},
			},
		},
		"repeated keys": {
			reason: "the first is meant, the others are as they were",
			before: `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},null,{"name":"A","value":"2"}]}]}}`,
			after:  `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"3"},null,{"name":"A","value":"2"},{"name":"B"}]}]}}`,
			want: []Change{
				{Path: "/spec/containers/c/env/A/value", Kind: Replaced, Old: "1"},
				{Path: "/spec/containers/c/env/B"},
			},
		},
		"nothing": {
			reason: "null, an empty map and an empty list mean nothing",
			before: `{"metadata":{"labels":null,"annotations":{}},"spec":{"volumes":[],"containers":[{"name":"c","args":null,"env":[{"name":"A"}]}]}}`,
			after:  `{"metadata":{"labels":{},"annotations":null,"name":null},"spec":{"containers":[{"name":"c","args":[],"env":[{"name":"A","value":null}]}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := tree(t, test.before), tree(t, test.after)
			got := Changes(pod.Schema(), before, after)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			checkChanges(t, before, after)
			checkChanges(t, after, before)
		})
	}
}

func TestRevertAroundStrangers(t *testing.T) {
	for name, test := range map[string]struct {
		reason               string
		before, after, since string // since: what others have made of after
		want                 string
	}{
		"in what we made": {
			reason: "a parent of ours stays for what others put there",
			before: `{"spec":{}}`,
			after:  `{"metadata":{"labels":{"ours":"1"}},"spec":{"volumes":[{"name":"ours"}],"securityContext":{}}}`,
			since:  `{"metadata":{"labels":{"ours":"2","theirs":"1"}},"spec":{"volumes":[{"name":"theirs"},{"name":"ours","emptyDir":{}}],"securityContext":{"fsGroup":1}}}`,
			want:   `{"metadata":{"labels":{"theirs":"1"}},"spec":{"volumes":[{"name":"theirs"}],"securityContext":{"fsGroup":1}}}`,
		},
		"among what was there": {
			reason: "a place is found by key, not by index",
			before: `{"spec":{"containers":[{"name":"app","image":"a"},{"name":"db"}]}}`,
			after:  `{"spec":{"containers":[{"name":"app","image":"b"},{"name":"side"}]}}`,
			since:  `{"spec":{"containers":[{"name":"theirs"},{"name":"side"},{"name":"app","image":"b","tty":true}]}}`,
			want:   `{"spec":{"containers":[{"name":"theirs"},{"name":"db"},{"name":"app","image":"a","tty":true}]}}`,
		},
		"defaults": {
			reason: "what the API server fills in goes with what it was filled into",
			before: `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"app"}]}}`,
			after:  `{"spec":{"volumes":[{"name":"v","secret":{"secretName":"s"}}],"containers":[{"name":"app","readinessProbe":{"tcpSocket":{"port":1}}}]}}`,
			since:  `{"spec":{"volumes":[{"name":"v","secret":{"secretName":"s","defaultMode":420}}],"containers":[{"name":"app","readinessProbe":{"tcpSocket":{"port":1},"periodSeconds":10}}]}}`,
			want:   `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"app"}]}}`,
		},
		"gone already": {
			reason: "what is gone needs no undoing",
			before: `{"spec":{"hostname":"h","containers":[{"name":"app","image":"a"}]}}`,
			after:  `{"spec":{"hostname":"i","containers":[{"name":"app","image":"b","env":[{"name":"X"}]},{"name":"side"}],"volumes":[{"name":"v"}]}}`,
			since:  `{"spec":{"containers":[{"name":"other"}]}}`,
			want:   `{"spec":{"hostname":"h","containers":[{"name":"other"}]}}`,
		},
		"restored lists": {
			reason: "what comes back leaves what others added",
			before: `{"metadata":{"annotations":{"a":"1"}},"spec":{"volumes":[{"name":"x"},{"name":"y"}],"hostAliases":[{"ip":"1.1.1.1"}]}}`,
			after:  `{"spec":{"volumes":[{"name":"y"},{"name":"x"},{"name":"ours"}]}}`,
			since:  `{"metadata":{"annotations":{"b":"2"}},"spec":{"volumes":[{"name":"theirs"},{"name":"y"},{"name":"x"},{"name":"ours"}],"hostAliases":[{"ip":"2.2.2.2"}]}}`,
			want:   `{"metadata":{"annotations":{"a":"1","b":"2"}},"spec":{"volumes":[{"name":"x"},{"name":"y"},{"name":"theirs"}],"hostAliases":[{"ip":"1.1.1.1"},{"ip":"2.2.2.2"}]}}`,
		},
		"another source since": {
			reason: "what comes back is the one source again",
			before: `{"spec":{"containers":[{"name":"app","livenessProbe":{"exec":{"command":["x"]}}}]}}`,
			after:  `{"spec":{"containers":[{"name":"app"}]}}`,
			since:  `{"spec":{"containers":[{"name":"app","livenessProbe":{"periodSeconds":5,"httpGet":{"port":80}}}]}}`,
			want:   `{"spec":{"containers":[{"name":"app","livenessProbe":{"periodSeconds":5,"exec":{"command":["x"]}}}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes := Changes(pod.Schema(), tree(t, test.before), tree(t, test.after))
			decoded, err := Decode(Encode(changes))
			if err != nil {
				t.Fatal(err)
			}
			for _, changes := range [][]Change{changes, decoded} {
				got, err := Revert(pod.Schema(), tree(t, test.since), changes)
				if diff := cmp.Diff(tree(t, test.want), got); err != nil || diff != "" {
					t.Errorf("%s: %v (-want +got):\n%s", test.reason, err, diff)
				}
			}
		})
	}
}

func TestRevertRefuses(t *testing.T) {
	for _, c := range []Change{{Path: "spec"}, {Path: "/a~2"}, {Path: "/spec", Kind: Removed + 1}} {
		if got, err := Revert(pod.Schema(), map[string]any{}, []Change{c}); err == nil || !strings.Contains(err.Error(), c.Path) {
			t.Errorf("%+v: got %v and error %v", c, got, err)
		}
	}
}

// Many changes in one list walk it once.
func TestRevertLongLists(t *testing.T) {
	list := []any{}
	for i := range 2000 {
		list = append(list, map[string]any{"ip": fmt.Sprint(i)})
	}
	before := tree(t, `{"spec":{"hostAliases":[{"ip":"x"}]}}`)
	after := Merge(pod.Schema(), before, map[string]any{"spec": map[string]any{"hostAliases": list}})
	changes := Changes(pod.Schema(), before, after)
	if len(changes) != len(list) {
		t.Fatalf("%d changes for %d items", len(changes), len(list))
	}
	got, err := Revert(pod.Schema(), after, changes)
	if diff := cmp.Diff(before, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if n := testing.AllocsPerRun(3, func() { Revert(pod.Schema(), after, changes) }); n > 4*float64(len(list)) {
		t.Errorf("%v allocations for %d changes", n, len(changes))
	}
}
