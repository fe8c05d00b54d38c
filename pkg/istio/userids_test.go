// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestUserIDs(t *testing.T) {
	const (
		proxy = `containers: [{name: istio-proxy, securityContext: {runAsUser: 1337, privileged: false}}]`
		init  = `initContainers: [{name: istio-init, args: [istio-iptables, -u, "1337", -u, x], securityContext: {runAsUser: 0}}]`
		check = `initContainers: [{name: istio-validation, args: [-u, "1337"], securityContext: {runAsUser: 1337, runAsGroup: 1337}}]`
	)
	tproxy := `metadata: {annotations: {sidecar.istio.io/interceptionMode: TPROXY}}` + "\n"
	cases := map[string]struct {
		reason, mesh, custom, pod string
		want                      string // the pod after; empty: as before
	}{
		"no wish":      {"the author has no proxy of their own", "", ``, "spec: {" + proxy + "," + init + "}", ""},
		"other wish":   {"neither user nor group", "", `securityContext: {privileged: true}`, "spec: {" + proxy + "," + init + "}", ""},
		"junk":         {"a user that is no number says nothing", "", `securityContext: {runAsUser: me}`, "spec: {" + proxy + "," + init + "}", ""},
		"no container": {"nothing redirects", "", `securityContext: {runAsUser: 7}`, "spec: {" + proxy + "}", ""},
		"user": {"the redirection spares the author's user; only the first flag is one", "", `securityContext: {runAsUser: 7}`,
			"spec: {" + proxy + "," + init + "}",
			"spec: {" + proxy + `, initContainers: [{name: istio-init, args: [istio-iptables, -u, "7", -u, x], securityContext: {runAsUser: 0}}]}`},
		"superuser": {"a redirection that spares the superuser would spare nothing else", "", `securityContext: {runAsUser: 0}`, "spec: {" + proxy + "," + init + "}", ""},
		"group":     {"a group alone is no user", "", `securityContext: {runAsGroup: 9}`, "spec: {" + proxy + "," + init + "}", ""},
		"check": {"the check runs as the proxy does", "", `securityContext: {runAsUser: 7, runAsGroup: 9}`,
			"spec: {" + proxy + "," + check + "}",
			"spec: {" + proxy + `, initContainers: [{name: istio-validation, args: [-u, "7"], securityContext: {runAsUser: 7, runAsGroup: 9}}]}`},
		"check without a context": {"one is made", "", `securityContext: {runAsGroup: 9}`,
			"spec: {" + proxy + `, initContainers: [{name: istio-validation}]}`,
			"spec: {" + proxy + `, initContainers: [{name: istio-validation, securityContext: {runAsGroup: 9}}]}`},
		"transparent": {"the proxy needs the superuser; the check stays", "", `securityContext: {runAsUser: 7, runAsGroup: 9}`,
			tproxy + "spec: {" + proxy + "," + check + "}",
			tproxy + `spec: {containers: [{name: istio-proxy, securityContext: {runAsUser: 0, privileged: false}}], initContainers: [{name: istio-validation, args: [-u, "7"], securityContext: {runAsUser: 1337, runAsGroup: 1337}}]}`},
		"transparent mesh": {"as the annotation", "defaultConfig: {interceptionMode: TPROXY}", `securityContext: {runAsUser: 7}`,
			"spec: {containers: [{name: istio-proxy}], " + init + "}",
			`spec: {containers: [{name: istio-proxy, securityContext: {runAsUser: 0}}], initContainers: [{name: istio-init, args: [istio-iptables, -u, "7", -u, x], securityContext: {runAsUser: 0}}]}`},
		"last flag": {"a flag without a value gets none", "", `securityContext: {runAsUser: 7}`, `spec: {containers: [{name: istio-proxy}], initContainers: [{name: istio-init, args: [-u]}]}`, ""},
	}
	for name, c := range cases {
		r := runOn(t, c.mesh, c.pod)
		if c.custom != "" {
			r.custom = treeOf(t, c.custom)
		}
		if c.want == "" {
			c.want = c.pod
		}
		for pass := range 2 {
			if err := r.userIDs(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(pod.Object(treeOf(t, c.want), "spec"), pod.Object(r.After, "spec")); diff != "" {
				t.Errorf("%s: %s: pass %d: %s", name, c.reason, pass+1, diff)
			}
		}
		if diff := cmp.Diff(treeOf(t, c.pod), r.Raw); diff != "" {
			t.Errorf("%s: the pod that came in was written to: %s", name, diff)
		}
	}
}
