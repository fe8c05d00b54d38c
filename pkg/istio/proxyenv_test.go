// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestClusterEnv(t *testing.T) {
	cases := map[string]struct {
		reason, env string
		set         map[string]string
		want        string
	}{
		"nothing": {"no environment, no change", `[{name: A, value: "1"}]`, nil, `[{name: A, value: "1"}]`},
		"added":   {"last, by name", `[{name: Z, value: "1"}]`, map[string]string{"C": "c", "B": "b"}, `[{name: Z, value: "1"}, {name: B, value: b}, {name: C, value: c}]`},
		"in place of the template's": {"every one of the name goes, whatever it holds", `[{name: B, valueFrom: {}}, {name: A}, {name: B}]`,
			map[string]string{"B": "b"}, `[{name: A}, {name: B, value: b}]`},
		"empty":     {"an empty value is left out, as the API does", `null`, map[string]string{"B": ""}, `[{name: B}]`},
		"odd items": {"what is no variable stays, a nameless one has the name that it has", `[1, {}]`, map[string]string{"": "b"}, `[1, {name: "", value: b}]`},
	}
	for name, c := range cases {
		for _, list := range pod.ContainerLists {
			r := runOn(t, "", `spec: {`+list+`: [{name: istio-proxy, env: `+c.env+`}]}`)
			r.env = c.set
			for range 2 {
				if err := r.clusterEnv(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(treeOf(t, "env: "+c.want)["env"], r.container(proxyName)["env"]); diff != "" {
					t.Errorf("%s: %s: %s", name, c.reason, diff)
				}
			}
		}
	}
}

func TestClusterEnvWithoutProxy(t *testing.T) {
	r := runOn(t, "", `spec: {containers: [{name: app}]}`)
	r.env = map[string]string{"A": "1"}
	if err := r.clusterEnv(); err != nil || !pod.Equal(pod.Object(r.After, "spec"), pod.Object(r.Raw, "spec")) {
		t.Errorf("got %v, %v", r.After, err)
	}
}
