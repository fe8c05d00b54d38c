// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestStrategicDirectives(t *testing.T) {
	for name, test := range map[string]struct{ reason, base, layer, want string }{
		"$patch: delete in a map": {
			reason: "it empties the map",
			base:   `{"spec":{"securityContext":{"fsGroup":1,"future":1},"nodeSelector":{}}}`,
			layer:  `{"spec":{"securityContext":{"$patch":"delete","fsGroup":2},"nodeSelector":{"$patch":"delete"}}}`,
			want:   `{"spec":{"securityContext":{},"nodeSelector":{}}}`,
		},
		"$patch: replace in a map": {
			reason: "only what stands beside it is left",
			base:   `{"spec":{"securityContext":{"fsGroup":1,"future":1},"nodeSelector":{"a":"1"}}}`,
			layer:  `{"spec":{"securityContext":{"$patch":"replace","runAsUser":2,"fsGroup":null},"nodeSelector":{"$patch":"replace","a":"1"}}}`,
			want:   `{"spec":{"securityContext":{"runAsUser":2},"nodeSelector":{"a":"1"}}}`,
		},
		"$patch in a map that is new": {
			reason: "the map drops out, at any depth",
			base:   `{"spec":{"hostname":"h"}}`,
			layer:  `{"spec":{"hostname":{"$patch":"replace"},"securityContext":{"$patch":"replace","fsGroup":1},"dnsConfig":{"options":[{"$patch":"delete"},{"name":"n"}]}}}`,
			want:   `{"spec":{"dnsConfig":{"options":[{"name":"n"}]}}}`,
		},
		"$patch: delete in a list": {
			reason: "every item of the key goes, one that is not there is no fault",
			base:   `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"a"}],"volumes":[{"name":"v"}]}}`,
			layer:  `{"spec":{"containers":[{"name":"a","$patch":"delete"}],"volumes":[{"name":"w","$patch":"delete"}]}}`,
			want:   `{"spec":{"containers":[{"name":"b"}],"volumes":[{"name":"v"}]}}`,
		},
		"$patch: delete and the same again": {
			reason: "deletions come first, so the item is new, and first",
			base:   `{"spec":{"containers":[{"name":"b"},{"name":"a","image":"i"}]}}`,
			layer:  `{"spec":{"containers":[{"name":"a","args":["x"]},{"name":"a","$patch":"delete"}]}}`,
			want:   `{"spec":{"containers":[{"name":"a","args":["x"]},{"name":"b"}]}}`,
		},
		"$patch: replace in a list": {
			reason: "the list is what stands beside it",
			base:   `{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}],"volumes":[{"name":"v"}]}}`,
			layer:  `{"spec":{"containers":[{"$patch":"replace"},{"name":"a","tty":null},{"name":"z","$patch":"delete"}],"volumes":[{"name":"v"},{"$patch":"replace"}]}}`,
			want:   `{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v"}]}}`,
		},
		"$retainKeys": {
			reason: "all else goes, in a volume and in any other map",
			base:   `{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"volumes":[{"name":"v","emptyDir":{},"future":1}]}}`,
			layer:  `{"metadata":{"labels":{"$retainKeys":["b"],"c":null}},"spec":{"volumes":[{"name":"v","$retainKeys":["name","csi"],"csi":{"driver":"x"}}]}}`,
			want:   `{"metadata":{"labels":{"b":"2"}},"spec":{"volumes":[{"name":"v","csi":{"driver":"x"}}]}}`,
		},
		"$setElementOrder": {
			reason: "it orders what it names, the rest stays before what it stood before",
			base:   `{"metadata":{"finalizers":["p","q","r"]},"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`,
			layer: `{"metadata":{"$setElementOrder/finalizers":["r","p"]},"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"n"},{"name":"a"}],
				"containers":[{"name":"n"},{"name":"a","image":"i"}]}}`,
			want: `{"metadata":{"finalizers":["q","r","p"]},"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"n"},{"name":"a","image":"i"}]}}`,
		},
		"$setElementOrder of a new list": {
			reason: "it may name what is not there, and says nothing of a list that nobody has",
			base:   `{"spec":{"initContainers":[]}}`,
			layer: `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"},{"name":"c"}],"containers":[{"name":"a"},{"name":"c","tty":null}],
				"$setElementOrder/volumes":[{"name":"v"}],"$setElementOrder/initContainers":[{"name":"i"}]}}`,
			want: `{"spec":{"initContainers":[],"containers":[{"name":"a"},{"name":"c"}]}}`,
		},
		"$setElementOrder with a deletion": {
			reason: "the item goes, the others are ordered",
			base:   `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`,
			layer:  `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"b","$patch":"delete"}]}}`,
			want:   `{"spec":{"containers":[{"name":"c"},{"name":"a"}]}}`,
		},
		"$setElementOrder of a replaced list": {
			reason: "a list without a key is replaced first",
			base:   `{"spec":{"containers":[{"name":"a","args":["x","y"],"command":["p","q"]}]}}`,
			layer:  `{"spec":{"containers":[{"name":"a","$setElementOrder/args":["z","x"],"args":["z","x"],"$setElementOrder/command":["q","p"]}]}}`,
			want:   `{"spec":{"containers":[{"name":"a","args":["z","x"],"command":["q","p"]}]}}`,
		},
		"$setElementOrder of nothing": {
			reason: "an empty order orders nothing",
			base:   `{"metadata":{"finalizers":["p","q"]}}`,
			layer:  `{"metadata":{"$setElementOrder/finalizers":[],"finalizers":["r"]}}`,
			want:   `{"metadata":{"finalizers":["r","p","q"]}}`,
		},
		"$deleteFromPrimitiveList": {
			reason: "from any list, and after what is added",
			base:   `{"metadata":{"finalizers":["a","b"]},"spec":{"containers":[{"name":"c","args":["x",{},"y","x"]}]}}`,
			layer: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","n"],"finalizers":["n","m"],"$deleteFromPrimitiveList/ownerReferences":["x"]},
				"spec":{"containers":[{"name":"c","$deleteFromPrimitiveList/args":["x"],"$deleteFromPrimitiveList/name":["c"]}]}}`,
			want: `{"metadata":{"finalizers":["m","b"]},"spec":{"containers":[{"name":"c","args":[{},"y"]}]}}`,
		},
		"the whole pod": {
			reason: "the pod is a map too",
			base:   `{"metadata":{},"spec":{}}`,
			layer:  `{"$patch":"replace","spec":{"hostname":"h"}}`,
			want:   `{"spec":{"hostname":"h"}}`,
		},
		"in what comes new": {
			reason: "no directive reaches the pod",
			base:   `{"spec":{"containers":[{"name":"a"}]}}`,
			layer: `{"spec":{"containers":[{"name":"n","$setElementOrder/env":[{"name":"A"}],"env":[{"name":"A"},{"name":"B","$patch":"delete"},{"$patch":"replace"}],
				"resources":{"$retainKeys":["limits"],"limits":{}},"$deleteFromPrimitiveList/args":["x"]}]}}`,
			want: `{"spec":{"containers":[{"name":"n","env":[{"name":"A"}],"resources":{"limits":{}}},{"name":"a"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) { checkStrategic(t, test.reason, [3]string{test.base, test.layer, test.want}) })
	}
}

func TestStrategicRefuses(t *testing.T) {
	base := tree(t, `{"metadata":{"finalizers":["a"]},"spec":{"hostname":"h","volumes":null,"nodeSelector":{},"tolerations":[{}],
		"containers":[{"name":"a","env":[{"name":"A"}]},{"name":"b"}]}}`)
	for name, test := range map[string]struct{ reason, layer, want string }{
		"no key":             {"nothing tells the item apart", `{"spec":{"containers":[{"name":"a"},{"image":"i"}]}}`, "spec.containers[1]: does not contain its merge key: name"},
		"null for a key":     {"null is no name", `{"spec":{"containers":[{"name":null}]}}`, "spec.containers[0]: does not contain its merge key: name"},
		"an object as a key": {"nor is an object", `{"spec":{"containers":[{"name":{}}]}}`, "spec.containers[0]: does not contain its merge key: name"},
		"deeper":             {"the place is told", `{"spec":{"containers":[{"name":"b"},{"name":"a","env":[{}]}]}}`, "spec.containers[1].env[0]: does not contain its merge key: name"},
		"no object":          {"the list is of objects", `{"spec":{"containers":["a"]}}`, `spec.containers[0]: want an object, got "a"`},
		"no scalar":          {"the set is of texts", `{"metadata":{"finalizers":[null]}}`, "metadata.finalizers[0]: want a text, a number, true or false, got null"},
		"$patch: merge":      {"it is what happens without", `{"spec":{"nodeSelector":{"$patch":"merge"}}}`, `spec.nodeSelector.$patch: want replace or delete, got "merge"`},
		"$patch: null":       {"null is neither", `{"spec":{"nodeSelector":{"$patch":null}}}`, "spec.nodeSelector.$patch: want replace or delete, got null"},
		"$patch of an item":  {"no other is known", `{"spec":{"containers":[{"name":"a","$patch":"merge"}]}}`, `spec.containers[0].$patch: want replace or delete, got "merge"`},
		"what to delete":     {"a key is needed", `{"spec":{"containers":[{"$patch":"delete"}]}}`, "spec.containers[0]: does not contain its merge key: name"},
		"$retainKeys":        {"what is set is retained", `{"spec":{"$retainKeys":["hostname"],"z":1,"y":2,"hostname":"i","x":null}}`, "spec.$retainKeys: y is set beside it but not in it"},
		"$retainKeys text":   {"it is a list", `{"spec":{"$retainKeys":"hostname"}}`, `spec.$retainKeys: want a list, got "hostname"`},
		"no name":            {"which list?", `{"spec":{"$setElementOrder":[],"$deleteFromPrimitiveList":[]}}`, "spec.$deleteFromPrimitiveList: want a slash and the name of a list"},
		"null order":         {"it is a list", `{"spec":{"$setElementOrder/containers":null}}`, "want a list, got null"},
		"order without keys": {"it names items", `{"spec":{"$setElementOrder/containers":["a"]}}`, `want an object, got "a"`},
		"another order":      {"the two contradict", `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a"},{"name":"b"}]}}`, "spec.containers[1]: stands in another order"},
		"not in the order":   {"it names all that the layer sets", `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"n"}]}}`, "spec.containers[0]: stands in another order"},
		"order of null":      {"the pod says null, not nothing", `{"spec":{"$setElementOrder/volumes":[{"name":"v"}],"volumes":[{"name":"v"}]}}`, "wants to order a list, the pod has null"},
		"order of a text":    {"the layer has no list", `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":"a"}}`, `wants to order a list, got "a"`},
		"order of objects":   {"they have no key", `{"spec":{"$setElementOrder/tolerations":["a"]}}`, "spec.tolerations[0]: $setElementOrder cannot order what has no merge key"},
		"deleting objects":   {"they are told apart by keys", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a",{}]}}`, "want a text, a number, true or false, got an object"},
		"the first of many":  {"the order of a map does not show", `{"spec":{"volumes":[],"nodeSelector":{"$patch":"x"},"containers":[{}],"tolerations":[]},"metadata":{"finalizers":[{}]}}`, "metadata.finalizers[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Strategic(pod.Schema(), base, tree(t, test.layer))
			if err == nil || !strings.Contains(err.Error(), test.want) || got != nil {
				t.Errorf("%s: got %v and error %v, want %q", test.reason, got, err, test.want)
			}
		})
	}
}
