// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// FuzzWarnings: on trees of any shape the two parts that only warn refuse nothing and write to nothing;
// they name what they may; and a pod that comes back injected gets the same warnings.
func FuzzWarnings(f *testing.F) {
	defaults := defaultMesh(f)
	f.Add(`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":15090},{"containerPort":1,"protocol":"UDP"}]},{"name":"istio-proxy"},{"name":"b","ports":[{"hostPort":1,"protocol":"UDP"}]}]}}`,
		`{"spec":{"containers":[{"name":"istio-proxy","image":"i"},{"name":"b","image":"i"}]}}`)
	f.Add(`{"metadata":{"annotations":{"status.sidecar.istio.io/port":1}},"spec":{"initContainers":[null,{"name":"istio-proxy","ports":7},{"ports":[null,{"containerPort":15053}]}]}}`, `{"spec":[]}`)
	f.Fuzz(func(t *testing.T, text, layers string) {
		value, err := pod.Decode([]byte(text))
		if err != nil {
			return
		}
		brought, err := pod.Decode([]byte(layers))
		if err != nil {
			return
		}
		tree, _ := value.(map[string]any)
		r := runIn(defaults, tree)
		r.Layers, _ = brought.(map[string]any)
		r.Facts = inject.Facts{NamespaceLabels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}
		was := pod.Clone(r.After)
		if err := r.ports(); err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Warnings {
			name := w.Path[strings.Index(w.Path, "[")+1 : strings.LastIndex(w.Path, "]")]
			if w.Reason != reason.PortIsSidecars || r.brings(name) || name == proxyName {
				t.Fatalf("%+v", w)
			}
		}
		if err := r.security(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, r.After); diff != "" {
			t.Fatalf("a warning changes the pod: %s", diff)
		}
		again := runIn(defaults, r.After)
		again.Layers, again.Facts, again.status = r.Layers, r.Facts, &status{}
		if err := again.ports(); err != nil {
			t.Fatal(err)
		}
		if err := again.security(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Warnings, again.Warnings); diff != "" {
			t.Fatalf("the second call warns differently: %s", diff)
		}
	})
}

func TestPortsOfTheProxyAreNamed(t *testing.T) {
	const usual = `{containers: [{name: istio-proxy, image: i}, {name: meter, image: i}]}`
	const app = "INJ212 spec.containers[app].ports: "
	cases := map[string]struct {
		why, mesh, annotations string
		init, app, proxy       string // lists of ports
		want                   []string
	}{
		"metrics":        {"", "", "{}", "[]", "[{containerPort: 15090, protocol: TCP}]", "[]", []string{app + "15090/TCP is the proxy's port for its own metrics"}},
		"no protocol":    {"it is TCP", "", "{}", "[]", "[{containerPort: 15001}]", "[]", []string{app + "15001/TCP is the proxy's port for outbound traffic"}},
		"UDP":            {"TCP and UDP are told apart", "", "{}", "[]", "[{containerPort: 15001, protocol: UDP}, {containerPort: 15090, protocol: SCTP}]", "[{containerPort: 15090}]", nil},
		"both UDP":       {"", "", "{}", "[]", "[{containerPort: 8125, protocol: UDP}, {containerPort: 8125}]", "[{containerPort: 8125, protocol: UDP}]", []string{app + "8125/UDP is a port of the injected container istio-proxy"}},
		"declared":       {"", "", "{}", "[]", "[{containerPort: 9999}]", "[{containerPort: 9999}]", []string{app + "9999/TCP is a port of the injected container istio-proxy"}},
		"other injected": {"templates bring more than the proxy", "", "{}", "[]", "[{containerPort: 7070}]", "[]", []string{app + "7070/TCP is a port of the injected container meter"}},
		"host port":      {"it is the node's, not the pod's", "", "{}", "[]", "[{containerPort: 80, hostPort: 15090}]", "[{containerPort: 90, hostPort: 91}]", nil},
		"same host port": {"", "", "{}", "[]", "[{containerPort: 80, hostPort: 91}]", "[{containerPort: 90, hostPort: 91}]", []string{app + "host port 91/TCP is a port of the injected container istio-proxy"}},
		"twice":          {"one warning is enough", "", "{}", "[]", "[{containerPort: 15021, name: a}, {containerPort: 15021, name: b}]", "[]", []string{app + "15021/TCP is the proxy's port for health checks"}},
		"status port":    {"of the mesh", "defaultConfig: {statusPort: 16020}", "{}", "[]", "[{containerPort: 16020}]", "[]", []string{app + "16020/TCP is the proxy's status port"}},
		"pod's status":   {"the pod's own beats the mesh's", "defaultConfig: {statusPort: 16020}", `{status.sidecar.istio.io/port: "17020"}`, "[]", "[{containerPort: 17020}, {containerPort: 16020}]", "[]", []string{app + "17020/TCP is the proxy's status port"}},
		"proxy's config": {"so does its proxy's configuration", "", `{proxy.istio.io/config: "statusPort: 18020"}`, "[]", "[{containerPort: 18020}]", "[]", []string{app + "18020/TCP is the proxy's status port"}},
		"init container": {"it has ended when the proxy starts", "", "{}", "[{containerPort: 15006}]", "[]", "[]", nil},
		"free":           {"", "", "{}", "[]", "[{containerPort: 8080}, {containerPort: 443}]", "[{containerPort: 15090}]", nil},
	}
	for name, c := range cases {
		r := runOn(t, c.mesh, `
metadata: {annotations: `+c.annotations+`}
spec:
  initContainers: [{name: before, ports: `+c.init+`}]
  containers: [{name: app, ports: `+c.app+`}, {name: istio-proxy, ports: `+c.proxy+`}, {name: meter, ports: [{containerPort: 7070}]}]
`)
		r.Layers = treeOf(t, "spec: "+usual)
		if err := r.ports(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, told(r)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
}

func told(r *run) (out []string) {
	for _, w := range r.Warnings {
		out = append(out, w.Text())
	}
	return out
}

func TestPortsWithAndWithoutTheProxyBeside(t *testing.T) {
	cases := map[string]struct {
		why, spec string
		want      int
	}{
		"no proxy":         {"nobody takes the port", `{containers: [{name: app, ports: [{containerPort: 15090}]}]}`, 0},
		"native proxy":     {"it runs while init containers do", `{containers: [{name: app}], initContainers: [{name: istio-proxy, restartPolicy: Always}, {name: load, ports: [{containerPort: 15090}]}]}`, 1},
		"author's sidecar": {"it runs on", `{containers: [{name: app}, {name: istio-proxy}], initContainers: [{name: own, restartPolicy: Always, ports: [{containerPort: 15090}]}]}`, 1},
		"the proxy itself": {"its ports are its own, whoever declares them", `{containers: [{name: app}, {name: istio-proxy, ports: [{containerPort: 15090}]}]}`, 0},
		"augmented":        {"a template that adds to a container does not bring it", `{containers: [{name: added, ports: [{containerPort: 15090}]}, {name: istio-proxy}]}`, 1},
	}
	for name, c := range cases {
		r := runOn(t, "", "spec: "+c.spec)
		r.Layers = treeOf(t, `spec: {containers: [{name: istio-proxy, image: i}, {name: added, env: []}]}`)
		if err := r.ports(); err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) != c.want {
			t.Errorf("%s: %s: %v", name, c.why, told(r))
		}
	}
}

// What redirects traffic needs more than a restricted namespace gives; with a network plugin nothing does.
func TestSecurityForetellsTheRefusal(t *testing.T) {
	restricted := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	const kept = `securityContext: {allowPrivilegeEscalation: false, runAsUser: 1337, runAsNonRoot: true, capabilities: {drop: [ALL]}}`
	const app = `{name: app, image: a, securityContext: {privileged: true}}`
	cases := map[string]struct {
		why    string
		labels map[string]string
		init   string
		want   []string
	}{
		"redirecting": {
			"the author's own breach is the author's affair", restricted,
			`{name: istio-init, image: i, securityContext: {allowPrivilegeEscalation: false, runAsUser: 0, runAsNonRoot: false, capabilities: {add: [NET_ADMIN, NET_RAW], drop: [ALL]}}}`,
			[]string{
				"INJ211 spec.initContainers[istio-init].securityContext.runAsNonRoot: PodSecurity restricted wants true",
				"INJ211 spec.initContainers[istio-init].securityContext.runAsUser: PodSecurity restricted bans 0",
				"INJ211 spec.initContainers[istio-init].securityContext.capabilities.add: PodSecurity restricted bans NET_ADMIN, NET_RAW",
			},
		},
		"checking":  {"", restricted, `{name: istio-validation, image: i, ` + kept + `}`, nil},
		"no labels": {"nothing is enforced", nil, `{name: istio-init, image: i, securityContext: {privileged: true}}`, nil},
	}
	for name, c := range cases {
		r := runOn(t, "", `{spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}, containers: [`+app+`, {name: istio-proxy, image: i, `+kept+`}], initContainers: [`+c.init+`]}}`)
		r.Layers = treeOf(t, `{spec: {containers: [{name: istio-proxy, image: i}], initContainers: [`+c.init+`]}}`)
		r.Facts.NamespaceLabels = c.labels
		if err := r.security(); err != nil {
			t.Fatal(err)
		}
		got := told(r)
		if diff := cmp.Diff(c.want, got); diff != "" || slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "…") }) {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
}
