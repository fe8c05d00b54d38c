// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	const (
		front = "istio-proxy a b"
		back  = "a b istio-proxy"
	)
	waits, ahead := `proxy.istio.io/config: "holdApplicationUntilProxyStarts: true"`, `proxy.istio.io/config: "holdApplicationUntilProxyStarts: false"`
	cases := map[string]struct {
		reason, mesh, annotation string
		values                   bool
		containers, init         string
		wantContainers, wantInit string
	}{
		"usual":           {"the application comes first", "", "", false, "a istio-proxy b", "", back, ""},
		"values":          {"the application waits", "", "", true, "a istio-proxy b", "", front, ""},
		"mesh":            {"the application waits", "defaultConfig: {holdApplicationUntilProxyStarts: true}", "", false, "a b istio-proxy", "", front, ""},
		"pod":             {"the pod wants to wait", "", waits, false, "a b istio-proxy", "", front, ""},
		"pod over mesh":   {"the pod beats the mesh", "defaultConfig: {holdApplicationUntilProxyStarts: true}", ahead, false, "a istio-proxy b", "", back, ""},
		"pod over values": {"the pod beats the values", "", ahead, true, "istio-proxy a b", "", back, ""},
		"other config":    {"a pod that does not say leaves it to the values", "", `proxy.istio.io/config: "concurrency: 1"`, true, "a istio-proxy b", "", front, ""},
		"no proxy":        {"nothing to move", "", "", true, "a b", "x z", "a b", "x z"},
		"classic": {"the author's init containers run while the network is as it was", "", "", false, "a b", "istio-init enable-core-dump x z", "a b",
			"x z istio-init enable-core-dump"},
		"classic check": {"nothing runs before the redirection is known to work", "", "", false, "a b", "x istio-validation z", "a b", "istio-validation x z"},
		"native": {"the author's init containers have the network", "", "", true, "a b", "x enable-core-dump istio-proxy z istio-validation istio-init", "a b",
			"istio-init istio-validation istio-proxy enable-core-dump x z"},
		"no init containers": {"none are made up", "", "", false, "istio-proxy a", "", "a istio-proxy", ""},
	}
	for name, c := range cases {
		text := "metadata: {annotations: {" + c.annotation + "}}\nspec: {containers: [" + named(c.containers) + "]"
		if c.init != "" {
			text += ", initContainers: [" + named(c.init) + "]"
		}
		r := runOn(t, c.mesh, text+"}")
		r.d.settings.hold = c.values
		for range 2 {
			if err := r.order(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(orderOf(r.After, "containers"), " "); got != c.wantContainers {
				t.Errorf("%s: %s: containers: got %q, want %q", name, c.reason, got, c.wantContainers)
			}
			if got := strings.Join(orderOf(r.After, "initContainers"), " "); got != c.wantInit {
				t.Errorf("%s: %s: init containers: got %q, want %q", name, c.reason, got, c.wantInit)
			}
		}
		if got := strings.Join(orderOf(r.Raw, "containers"), " "); got != c.containers {
			t.Errorf("%s: the pod that came in was written to: %q", name, got)
		}
	}
}

func named(names string) string {
	var out []string
	for _, name := range strings.Fields(names) {
		out = append(out, "{name: "+name+"}")
	}
	return strings.Join(out, ", ")
}
