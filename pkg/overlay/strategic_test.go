// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestStrategic(t *testing.T) {
	for name, test := range map[string]struct{ reason, base, layer, want string }{
		"new items first": {
			reason: "what the pod never had comes before its own",
			base:   `{"spec":{"volumes":[{"name":"a"},{"name":"b"}]}}`,
			layer:  `{"spec":{"volumes":[{"name":"y"},{"name":"x"}]}}`,
			want:   `{"spec":{"volumes":[{"name":"y"},{"name":"x"},{"name":"a"},{"name":"b"}]}}`,
		},
		"around a shared item": {
			reason: "the pod's items come before the shared one that they stood before",
			base:   `{"spec":{"containers":[{"name":"a"},{"name":"s"},{"name":"b"}]}}`,
			layer:  `{"spec":{"containers":[{"name":"x"},{"name":"s","image":"i"},{"name":"y"}]}}`,
			want:   `{"spec":{"containers":[{"name":"x"},{"name":"a"},{"name":"s","image":"i"},{"name":"y"},{"name":"b"}]}}`,
		},
		"the layer's order": {
			reason: "shared items turn round if the layer has them so",
			base:   `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}}`,
			layer:  `{"spec":{"containers":[{"name":"d"},{"name":"b"}]}}`,
			want:   `{"spec":{"containers":[{"name":"a"},{"name":"c"},{"name":"d"},{"name":"b"}]}}`,
		},
		"a set": {
			reason: "it gains what it lacks, in the same order",
			base:   `{"metadata":{"finalizers":["a","s"]}}`,
			layer:  `{"metadata":{"finalizers":["n","s","n","m"]}}`,
			want:   `{"metadata":{"finalizers":["n","a","s","m"]}}`,
		},
		"one key": {
			reason: "a port is its number, a spread its key",
			base: `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":80}]}],
				"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}}`,
			layer: `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"UDP"}]}],
				"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]}}`,
			want: `{"spec":{"containers":[{"name":"c","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":80}]}],
				"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]}}`,
		},
		"replaced lists": {
			reason: "arguments, tolerations and claims are one value each",
			base:   `{"spec":{"tolerations":[{"key":"a"}],"containers":[{"name":"c","args":["x","y"],"resources":{"claims":[{"name":"a"}]}}]}}`,
			layer:  `{"spec":{"tolerations":[{"key":"b"}],"containers":[{"name":"c","args":["z"],"resources":{"claims":[{"name":"b"}]}}]}}`,
			want:   `{"spec":{"tolerations":[{"key":"b"}],"containers":[{"name":"c","args":["z"],"resources":{"claims":[{"name":"b"}]}}]}}`,
		},
		"nulls": {
			reason: "they delete, and are not taken over with what comes new",
			base:   `{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"volumes":[{"name":"w"}],"hostname":"h","priority":null}}`,
			layer: `{"metadata":{"labels":{"a":null,"c":null}},"spec":{"hostname":null,"priority":null,"volumes":[{"name":"v","emptyDir":null}],
				"containers":[{"name":"n","env":null,"resources":{"limits":{"cpu":null}}}]}}`,
			want: `{"metadata":{"labels":{"b":"2"}},"spec":{"volumes":[{"name":"v"},{"name":"w"}],"priority":null,"containers":[{"name":"n","resources":{"limits":{}}}]}}`,
		},
		"another kind": {
			reason: "the layer's value stands, and so does its list for a null",
			base:   `{"spec":{"hostname":{},"containers":null,"volumes":"v","securityContext":[]}}`,
			layer:  `{"spec":{"hostname":"h","containers":[{"name":"a"}],"volumes":[],"securityContext":{"fsGroup":1}}}`,
			want:   `{"spec":{"hostname":"h","containers":[{"name":"a"}],"volumes":[],"securityContext":{"fsGroup":1}}}`,
		},
		"unions": {
			reason: "a volume has one source, a variable one value, a probe one way",
			base: `{"spec":{"volumes":[{"name":"v","emptyDir":{},"future":1}],"containers":[{"name":"c","env":[{"name":"A","value":"1"}],
				"livenessProbe":{"periodSeconds":3,"exec":{"command":["x"]}}}]}}`,
			layer: `{"spec":{"volumes":[{"name":"v","csi":{"driver":"x"}}],"containers":[{"name":"c","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"p"}}}],
				"livenessProbe":{"httpGet":{"port":80}}}]}}`,
			want: `{"spec":{"volumes":[{"name":"v","csi":{"driver":"x"},"future":1}],"containers":[{"name":"c","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"p"}}}],
				"livenessProbe":{"periodSeconds":3,"httpGet":{"port":80}}}]}}`,
		},
		"unions without a choice": {
			reason: "what a null or a directive takes away chooses nothing",
			base:   `{"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{}}]}}`,
			layer:  `{"spec":{"volumes":[{"name":"v","csi":null},{"name":"w","csi":{"$patch":"delete"}}]}}`,
			want:   `{"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{}}]}}`,
		},
		"unknown fields": {
			reason: "maps merge by member, lists are replaced, and the rest stays in place",
			base: `{"spec":{"future":{"a":1,"b":{"c":[1]}},"containers":[{"name":"c","futureList":[{"name":"x"}],"futureBit":true}],
				"volumes":[{"name":"v","futureSource":{}}]}}`,
			layer: `{"spec":{"future":{"a":null,"b":{"c":[2],"d":{}}},"containers":[{"name":"c","futureList":[{"name":"y"}]}],"volumes":[{"name":"n"}]}}`,
			want: `{"spec":{"future":{"b":{"c":[2],"d":{}}},"containers":[{"name":"c","futureList":[{"name":"y"}],"futureBit":true}],
				"volumes":[{"name":"n"},{"name":"v","futureSource":{}}]}}`,
		},
		"items of base without a key": {
			reason: "they are the author's business and keep their place",
			base:   `{"spec":{"imagePullSecrets":[{"name":"a"},{},null,{"name":"b"}]}}`,
			layer:  `{"spec":{"imagePullSecrets":[{"name":"n"},{"name":"b"}]}}`,
			want:   `{"spec":{"imagePullSecrets":[{"name":"n"},{"name":"a"},{},null,{"name":"b"}]}}`,
		},
		"repeated keys": {
			reason: "the layer's become one, which merges into base's first, and base's come together",
			base:   `{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},{"name":"B"},{"name":"A","value":"2"}]}]}}`,
			layer:  `{"spec":{"containers":[{"name":"c","env":[{"name":"N","value":"1"},{"name":"A","value":"3"},{"name":"N","value":"2"}]}]}}`,
			want:   `{"spec":{"containers":[{"name":"c","env":[{"name":"N","value":"2"},{"name":"A","value":"3"},{"name":"A","value":"2"},{"name":"B"}]}]}}`,
		},
		"no base": {
			reason: "the whole layer comes new",
			base:   `null`,
			layer:  `{"metadata":{"labels":{"a":null}},"spec":{"containers":[{"name":"c","$retainKeys":["name"]},{"name":"d","$patch":"delete"}]}}`,
			want:   `{"metadata":{"labels":{}},"spec":{"containers":[{"name":"c"}]}}`,
		},
		"no layer": {
			reason: "null at the top says nothing",
			base:   `{"spec":{}}`, layer: `null`, want: `{"spec":{}}`,
		},
	} {
		t.Run(name, func(t *testing.T) { checkStrategic(t, test.reason, [3]string{test.base, test.layer, test.want}) })
	}
}

func checkStrategic(t *testing.T, reason string, texts [3]string) {
	t.Helper()
	got, err := Strategic(pod.Schema(), tree(t, texts[0]), tree(t, texts[1]))
	if err != nil {
		t.Fatalf("%s: %v", reason, err)
	}
	if diff := cmp.Diff(tree(t, texts[2]), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// Every list of the API has the rules of its struct tags.
func TestStrategicRulesAreTheAPIs(t *testing.T) {
	seen := map[reflect.Type]bool{}
	lists := 0
	var walk func(path string, typ reflect.Type, schema *pod.Type)
	walk = func(path string, typ reflect.Type, schema *pod.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map {
			if typ.Kind() == reflect.Map {
				schema = schema.Elem
			}
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || schema == nil || schema.Kind != pod.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		api := strategicpatch.PatchMetaFromStruct{T: typ}
		for name, field := range schema.Fields {
			sub, meta, err := api.LookupPatchMetadataForStruct(name)
			if err != nil {
				t.Fatalf("%s.%s: %v", path, name, err)
			}
			inner := sub.(strategicpatch.PatchMetaFromStruct).T
			if field.Kind != pod.List {
				walk(path+"."+name, inner, field)
				continue
			}
			lists++
			got, merged := rulesOf(field, name), strings.Contains(strings.Join(meta.GetPatchStrategies(), ","), "merge")
			if want := (rules{field.Elem, meta.GetPatchMergeKey(), merged && meta.GetPatchMergeKey() == ""}); got != want {
				t.Errorf("%s.%s: got %+v, want %+v", path, name, got, want)
			}
			walk(path+"."+name, inner.Elem(), field.Elem)
		}
	}
	walk("pod", reflect.TypeFor[corev1.Pod](), pod.Schema())
	if lists < 60 {
		t.Errorf("only %d lists were found", lists)
	}
}

func TestStrategicSharesWhatStays(t *testing.T) {
	base := tree(t, podText).(map[string]any)
	got, err := Strategic(pod.Schema(), base, tree(t, `{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"app","tty":true}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	was, is := base["spec"].(map[string]any), got.(map[string]any)["spec"].(map[string]any)
	for _, k := range []string{"volumes", "initContainers", "tolerations", "securityContext"} {
		if !settled(was[k], is[k]) {
			t.Errorf("%s is a copy", k)
		}
	}
	if a, b := was["containers"].([]any), is["containers"].([]any); !settled(a[1], b[1]) || settled(a[0], b[0]) {
		t.Error("the container that does not change is a copy, or the one that does is none")
	}
	same, err := Strategic(pod.Schema(), got, tree(t, `{"metadata":{"name":null,"labels":{"a":"1"}},"spec":{"containers":[{"name":"app","tty":true,"env":[]}]}}`))
	if err != nil || !settled(got, same) {
		t.Errorf("nothing changes, but the result is not base: %v", err)
	}
}

// A pod with 2,000 variables costs what the list costs, once.
func TestStrategicLongLists(t *testing.T) {
	env := func(prefix string) any {
		list := []any{}
		for i := range 2000 {
			list = append(list, map[string]any{"name": prefix + strings.Repeat("x", i%7) + string(pod.Encode(int64(i)))})
		}
		c := map[string]any{"name": "c", "env": list}
		return map[string]any{"spec": map[string]any{"containers": []any{c}}}
	}
	got, err := Strategic(pod.Schema(), env("A"), env("B"))
	if err != nil {
		t.Fatal(err)
	}
	list := got.(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"].([]any)
	if len(list) != 4000 || list[0].(map[string]any)["name"] != "B0" || list[2000].(map[string]any)["name"] != "A0" {
		t.Errorf("got %d variables from %v on", len(list), list[0])
	}
	again, err := Strategic(pod.Schema(), got, env("A"))
	if err != nil || !settled(got, again) {
		t.Errorf("laying what is there changes the pod: %v", err)
	}
}
