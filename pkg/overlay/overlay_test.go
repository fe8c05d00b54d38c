// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func tree(t testing.TB, text string) any {
	t.Helper()
	v, err := pod.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestMerge(t *testing.T) {
	for name, test := range map[string]struct {
		reason            string
		base, layer, want string
	}{
		"volume source": {
			reason: "a volume has one source: the layer's",
			base:   `{"spec":{"volumes":[{"name":"mesh-data","emptyDir":{"medium":"Memory"},"future":1}]}}`,
			layer:  `{"spec":{"volumes":[{"name":"mesh-data","csi":{"driver":"x"}}]}}`,
			want:   `{"spec":{"volumes":[{"name":"mesh-data","csi":{"driver":"x"},"future":1}]}}`,
		},
		"empty source": {
			reason: "an empty struct is there, and chooses",
			base:   `{"spec":{"volumes":[{"name":"mesh-data","csi":{"driver":"x"}}]}}`,
			layer:  `{"spec":{"volumes":[{"name":"mesh-data","emptyDir":{"medium":null}}]}}`,
			want:   `{"spec":{"volumes":[{"name":"mesh-data","emptyDir":{}}]}}`,
		},
		"same source": {
			reason: "one source merges with itself",
			base:   `{"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]}}`,
			layer:  `{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Mi"}}]}}`,
			want:   `{"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}}]}}`,
		},
		"other unions": {
			reason: "env, its sources, probes and lifecycle handlers hold one of each",
			base: `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],
				"livenessProbe":{"periodSeconds":3,"exec":{"command":["x"]}},"lifecycle":{"preStop":{"sleep":{"seconds":5}}}}]}}`,
			layer: `{"spec":{"containers":[{"name":"c","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
				{"name":"B","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}],
				"livenessProbe":{"httpGet":{"port":80}},"lifecycle":{"preStop":{"exec":{"command":["y"]}}}}]}}`,
			want: `{"spec":{"containers":[{"name":"c","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
				{"name":"B","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}],
				"livenessProbe":{"periodSeconds":3,"httpGet":{"port":80}},"lifecycle":{"preStop":{"exec":{"command":["y"]}}}}]}}`,
		},
		"pull secrets": {
			reason: "the author's first, none twice, none without a name",
			base:   `{"spec":{"imagePullSecrets":[{"name":"app-pull"},{"name":"shared-pull"}]}}`,
			layer:  `{"spec":{"imagePullSecrets":[{"name":"mesh-pull"},null,{},{"name":""},{"name":null},{"name":"shared-pull"}]}}`,
			want:   `{"spec":{"imagePullSecrets":[{"name":"app-pull"},{"name":"shared-pull"},{"name":"mesh-pull"}]}}`,
		},
		"null and absent": {
			reason: "both are empty",
			base:   `{"metadata":{"labels":null},"spec":{"volumes":null,"containers":[{"name":"app","env":null}]}}`,
			layer: `{"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"}},
				"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"app","env":[{"name":"X"}]}]}}`,
			want: `{"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"}},
				"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"app","env":[{"name":"X"}]}]}}`,
		},
		"nulls in the layer": {
			reason: "a null limit is no limit, not 0, and deletes nothing",
			base:   `{"spec":{"containers":[{"name":"app","image":"a"}],"hostname":"h"}}`,
			layer: `{"spec":{"hostname":null,"containers":[{"name":"app","image":null},
				{"name":"proxy","args":[null,"x"],"env":null,"resources":{"requests":{"cpu":"0","memory":null},"limits":{"cpu":null}}}]}}`,
			want: `{"spec":{"hostname":"h","containers":[{"name":"app","image":"a"},
				{"name":"proxy","args":["x"],"resources":{"requests":{"cpu":"0"}}}]}}`,
		},
		"nothing to add": {
			reason: "an empty map or list of the layer makes none",
			base:   `{"spec":{}}`,
			layer:  `{"metadata":{"labels":{},"annotations":{"a":null}},"spec":{"volumes":[],"tolerations":[],"nodeSelector":{},"imagePullSecrets":[null]}}`,
			want:   `{"metadata":{},"spec":{}}`,
		},
		"unknown fields": {
			reason: "what this binary does not know stays, in place, and merges as it looks",
			base: `{"spec":{"futureTopLevel":{"alpha":true,"n":7},"containers":[{"name":"app","futureField":"keep-me","futureList":[1]}],
				"volumes":[{"name":"art","image":{"reference":"r"},"futureSub":1}]}}`,
			layer: `{"spec":{"futureTopLevel":{"n":8,"m":{"a":null}},"containers":[{"name":"app","futureList":[2,null]}],"volumes":[{"name":"v"}]}}`,
			want: `{"spec":{"futureTopLevel":{"alpha":true,"n":8,"m":{}},"containers":[{"name":"app","futureField":"keep-me","futureList":[2]}],
				"volumes":[{"name":"art","image":{"reference":"r"},"futureSub":1},{"name":"v"}]}}`,
		},
		"false and 0": {
			reason: "they are values",
			base:   `{"spec":{"terminationGracePeriodSeconds":0,"enableServiceLinks":false,"securityContext":{"fsGroup":2000}}}`,
			layer:  `{"spec":{"hostIPC":false,"priority":0,"securityContext":{"runAsUser":0}}}`,
			want: `{"spec":{"terminationGracePeriodSeconds":0,"enableServiceLinks":false,"hostIPC":false,"priority":0,
				"securityContext":{"fsGroup":2000,"runAsUser":0}}}`,
		},
		"ports": {
			reason: "a port is its number and protocol, TCP by default",
			base:   `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"name":"dns"},{"containerPort":53,"protocol":"UDP"}]}]}}`,
			layer:  `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"TCP","hostPort":1},{"containerPort":53,"protocol":"SCTP"}]}]}}`,
			want: `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"name":"dns","protocol":"TCP","hostPort":1},
				{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"SCTP"}]}]}}`,
		},
		"atomic and set": {
			reason: "arguments are replaced, finalizers gained",
			base:   `{"metadata":{"finalizers":["a/b"]},"spec":{"containers":[{"name":"c","args":["x","y"]}]}}`,
			layer:  `{"metadata":{"finalizers":["c/d","a/b","","c/d"]},"spec":{"containers":[{"name":"c","args":["z"]}]}}`,
			want:   `{"metadata":{"finalizers":["a/b","c/d"]},"spec":{"containers":[{"name":"c","args":["z"]}]}}`,
		},
		"repeated and keyless": {
			reason: "the first of a key takes the layer's, and nothing of either is lost",
			base:   `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},null,{"name":"A","value":"2"},{"value":"?"}]}]}}`,
			layer:  `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"3"},{"value":"!"},{"value":"?"},{"name":"N"},{"name":"N","value":"n"}]}]}}`,
			want: `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"3"},null,{"name":"A","value":"2"},{"value":"?"},
				{"value":"!"},{"name":"N","value":"n"}]}]}}`,
		},
		"another type": {
			reason: "what does not fit gives way",
			base:   `{"metadata":"x","spec":{"containers":{"name":"c"},"volumes":"v","hostname":{}}}`,
			layer:  `{"metadata":{"name":"n"},"spec":{"containers":[{"name":"d"}],"volumes":[],"hostname":"h"}}`,
			want:   `{"metadata":{"name":"n"},"spec":{"containers":[{"name":"d"}],"volumes":[],"hostname":"h"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Merge(pod.Schema(), tree(t, test.base), tree(t, test.layer))
			if diff := cmp.Diff(tree(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestMergeWithoutSchema(t *testing.T) {
	base := tree(t, `{"a":{"b":1,"c":[1]},"d":1}`)
	layer := tree(t, `{"a":{"c":[2,{"e":null}],"f":{}},"d":null,"g":[]}`)
	want := tree(t, `{"a":{"b":1,"c":[2,{}],"f":{}},"d":1,"g":[]}`)
	if diff := cmp.Diff(want, Merge(nil, base, layer)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A layer on a container with 2,000 variables costs what the list costs, once.
func TestMergeLongLists(t *testing.T) {
	env := func(prefix string) any {
		list := []any{}
		for i := range 2000 {
			list = append(list, map[string]any{"name": fmt.Sprint(prefix, i), "value": "x"})
		}
		c := map[string]any{"name": "c", "env": list}
		return map[string]any{"spec": map[string]any{"containers": []any{c}}}
	}
	base, layer := env("A"), env("B")
	got := Merge(pod.Schema(), base, layer).(map[string]any)
	c := got["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	if n := len(c["env"].([]any)); n != 4000 {
		t.Errorf("got %d variables, want 4000", n)
	}
	if n := testing.AllocsPerRun(3, func() { Merge(pod.Schema(), got, base) }); n > 100 {
		t.Errorf("%v allocations to merge what is there already", n)
	}
}
