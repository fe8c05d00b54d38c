// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestProbes(t *testing.T) {
	cases := map[string]struct {
		reason, app string
		want        string // the container after; empty: as before
		told        string // what the agent is told; empty: nothing
	}{
		"nothing": {"no probe, no change", `{name: app}`, "", ""},
		"http": {"the timing and fields that are unknown here stay",
			`{name: app, livenessProbe: {httpGet: {path: "/l?a=1&b", port: 80, host: h, fresh: 1, httpHeaders: [{name: H, value: v}]}, periodSeconds: 3, timeoutSeconds: 2, fresh: {a: b}}}`,
			`{name: app, livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020, host: h, fresh: 1, httpHeaders: [{name: H, value: v}]}, periodSeconds: 3, timeoutSeconds: 2, fresh: {a: b}}}`,
			`{"/app-health/app/livez":{"httpGet":{"path":"/l?a=1\u0026b","port":80,"host":"h","httpHeaders":[{"name":"H","value":"v"}]},"timeoutSeconds":2}}`},
		"https": {"the agent speaks TLS to the application", `{name: app, startupProbe: {httpGet: {path: /, port: 80, scheme: HTTPS}}}`,
			`{name: app, startupProbe: {httpGet: {path: /app-health/app/startupz, port: 15020, scheme: HTTP}}}`, `{"/app-health/app/startupz":{"httpGet":{"path":"/","port":80,"scheme":"HTTPS"}}}`},
		"tcp": {"it becomes a request to the agent", `{name: app, readinessProbe: {tcpSocket: {port: 80, host: h}, timeoutSeconds: 0}}`,
			`{name: app, readinessProbe: {httpGet: {path: /app-health/app/readyz, port: 15020}, timeoutSeconds: 0}}`, `{"/app-health/app/readyz":{"tcpSocket":{"port":80,"host":"h"}}}`},
		"grpc": {"a service that is not named is null", `{name: app, livenessProbe: {grpc: {port: 80}}, readinessProbe: {grpc: {port: 15020, service: s}}, startupProbe: {grpc: {port: 1, service: ""}}}`,
			`{name: app, livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020}}, readinessProbe: {httpGet: {path: /app-health/app/readyz, port: 15020}}, startupProbe: {httpGet: {path: /app-health/app/startupz, port: 15020}}}`,
			`{"/app-health/app/livez":{"grpc":{"port":80,"service":null}},"/app-health/app/readyz":{"grpc":{"port":15020,"service":"s"}},"/app-health/app/startupz":{"grpc":{"port":1,"service":""}}}`},
		"command": {"it runs in its own container", `{name: app, livenessProbe: {exec: {command: [a]}}, lifecycle: {preStop: {exec: {command: [a]}}}}`, "", ""},
		"named port": {"of the same container", `{name: app, ports: [{name: web, containerPort: 81}], livenessProbe: {httpGet: {port: web}}}`,
			`{name: app, ports: [{name: web, containerPort: 81}], livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020}}}`, `{"/app-health/app/livez":{"httpGet":{"port":81}}}`},
		"number as text": {"as the kubelet reads it, a name first", `{name: app, ports: [{name: "82", containerPort: 83}], livenessProbe: {httpGet: {port: "81"}}, readinessProbe: {tcpSocket: {port: "82"}}}`,
			`{name: app, ports: [{name: "82", containerPort: 83}], livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020}}, readinessProbe: {httpGet: {path: /app-health/app/readyz, port: 15020}}}`,
			`{"/app-health/app/livez":{"httpGet":{"port":81}},"/app-health/app/readyz":{"tcpSocket":{"port":83}}}`},
		"hooks": {"as probes, without a timeout; other hooks stay", `{name: app, lifecycle: {preStop: {httpGet: {path: /d, port: 80}, timeoutSeconds: 4}, postStart: {tcpSocket: {port: 80}}, stopSignal: SIGUSR1}}`,
			`{name: app, lifecycle: {preStop: {httpGet: {path: /app-lifecycle/app/prestopz, port: 15020}, timeoutSeconds: 4}, postStart: {httpGet: {path: /app-lifecycle/app/poststartz, port: 15020}}, stopSignal: SIGUSR1}}`,
			`{"/app-lifecycle/app/poststartz":{"tcpSocket":{"port":80}},"/app-lifecycle/app/prestopz":{"httpGet":{"path":"/d","port":80}}}`},
		"sleep":       {"", `{name: app, lifecycle: {preStop: {sleep: {seconds: 5}}, postStart: {grpc: {port: 80}}}}`, "", ""},
		"two at once": {"one counts", `{name: app, livenessProbe: {grpc: {port: 1}, tcpSocket: {port: 2}, httpGet: null}}`, `{name: app, livenessProbe: {grpc: {port: 1}, httpGet: {path: /app-health/app/livez, port: 15020}}}`, `{"/app-health/app/livez":{"tcpSocket":{"port":2}}}`},
		"agent":       {"a probe of the agent itself needs nobody", `{name: app, livenessProbe: {httpGet: {path: /healthz/ready, port: 15020}}, readinessProbe: {tcpSocket: {port: 15020}}}`, "", ""},
		"again":       {"the agent knows it already", `{name: app, livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020}}, lifecycle: {preStop: {httpGet: {path: /app-lifecycle/app/prestopz, port: 15020}}}}`, "", ""},
	}
	for name, c := range cases {
		for _, list := range pod.ContainerLists {
			other := map[string]string{"containers": "initContainers", "initContainers": "containers"}[list]
			r := runOn(t, "", "spec: {"+list+": ["+c.app+"], "+other+": [{name: istio-proxy, livenessProbe: {httpGet: {path: /, port: 80}}}]}")
			if c.want == "" {
				c.want = c.app
			}
			for pass := range 2 {
				if err := r.probes(); err != nil {
					t.Fatal(err)
				}
				r.status = &status{}
				if diff := cmp.Diff(treeOf(t, c.want), r.container("app")); diff != "" {
					t.Errorf("%s: %s: pass %d: %s", name, c.reason, pass+1, diff)
				}
				if told, _ := r.variable(probersEnv); told != c.told {
					t.Errorf("%s: %s: pass %d: the agent is told\n%s, want\n%s", name, c.reason, pass+1, told, c.told)
				}
			}
			if diff := cmp.Diff(treeOf(t, c.app), pod.Named(pod.Items(pod.Object(r.Raw, "spec"), list), "app")); diff != "" {
				t.Errorf("%s: the pod that came in was written to: %s", name, diff)
			}
			if pod.Object(pod.Object(r.container(proxyName), "livenessProbe"), "httpGet")["port"] != int64(80) {
				t.Errorf("%s: the proxy's own probe was rewritten", name)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("%s: %v", name, r.Warnings)
			}
		}
	}
}

// TestProbesWithoutPort: a handler whose port cannot be told stays as it is, and a warning names
// container and port.
func TestProbesWithoutPort(t *testing.T) {
	for _, port := range []string{"nope", `""`, "0", "65536", "-1", "1.5", "null", "{}", "true", "bad", `"70000"`} {
		text := `spec: {containers: [{name: istio-proxy}, {name: other, ports: [{name: nope, containerPort: 90}]},
{name: ghost, ports: [1, {name: bad, containerPort: x}], livenessProbe: {httpGet: {path: /g, port: ` + port + `}}, lifecycle: {preStop: {tcpSocket: {port: ` + port + `}}}}]}`
		r := runOn(t, "", text)
		if err := r.probes(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(treeOf(t, text), map[string]any{"spec": r.After["spec"]}); diff != "" {
			t.Errorf("%s: %s", port, diff)
		}
		if len(r.Warnings) != 2 || r.Warnings[0].Path != "spec.containers[ghost].livenessProbe" || r.Warnings[1].Path != "spec.containers[ghost].lifecycle.preStop" ||
			!strings.Contains(r.Warnings[0].Detail, `"ghost"`) || !strings.Contains(r.Warnings[0].Detail, strings.Trim(pod.Describe(treeOf(t, "p: "+port)["p"]), `"`)) {
			t.Errorf("%s: got the warnings %v", port, r.Warnings)
		}
	}
}

func TestProbesAreWanted(t *testing.T) {
	const (
		rewrite = "sidecar.istio.io/rewriteAppHTTPProbers"
		port    = "status.sidecar.istio.io/port"
	)
	cases := map[string]struct {
		reason, mesh, annotations string
		values                    bool
		probe                     string
		want                      int64 // the port of the probe
		told                      bool
	}{
		"values":           {"", "", `{}`, true, "port: 80", 15020, true},
		"not by values":    {"", "", `{}`, false, "port: 80", 80, false},
		"pod":              {"the pod beats the values", "", `{` + rewrite + `: "1"}`, false, "port: 80", 15020, true},
		"not by pod":       {"the pod beats the values", "", `{` + rewrite + `: "false"}`, true, "port: 80", 80, false},
		"junk":             {"what says neither leaves it to the values", "", `{` + rewrite + `: "yes"}`, true, "port: 80", 15020, true},
		"mesh's port":      {"", "defaultConfig: {statusPort: 15099}", `{}`, true, "port: 80", 15099, true},
		"pod's port":       {"", "", `{` + port + `: " 15033 "}`, true, "port: 80", 15033, true},
		"no agent":         {"nobody answers, so the application itself does", "", `{` + port + `: "0"}`, true, "port: 80", 80, false},
		"junk port":        {"", "", `{` + port + `: "x"}`, true, "port: 80", 15020, true},
		"pod's, again":     {"the agent must not ask itself", "", `{` + port + `: "15033"}`, true, "path: /app-health/app/livez, port: 15033", 15033, false},
		"moved since":      {"the agent knows it already, at another port now", "", `{` + port + `: "15033"}`, true, "path: /app-health/app/livez, port: 15020", 15033, false},
		"free mesh's port": {"the agent is elsewhere, so the application may be there", "", `{` + port + `: "15033"}`, true, "path: /x, port: 15020", 15033, true},
	}
	for name, c := range cases {
		r := runOn(t, c.mesh, "metadata: {annotations: "+c.annotations+"}\nspec: {containers: [{name: app, livenessProbe: {httpGet: {"+c.probe+"}}}, {name: istio-proxy}]}")
		r.d.settings.rewriteProbes = c.values
		for range 2 {
			if err := r.probes(); err != nil {
				t.Fatal(err)
			}
			if got := pod.Object(pod.Object(r.container("app"), "livenessProbe"), "httpGet")["port"]; got != c.want {
				t.Errorf("%s: %s: the port is %v, want %d", name, c.reason, got, c.want)
			}
			if _, told := r.variable(probersEnv); told != c.told {
				t.Errorf("%s: %s: the agent is told: %v", name, c.reason, told)
			}
			r.status = &status{}
		}
	}
	r := runOn(t, "", `spec: {containers: [{name: app, livenessProbe: {httpGet: {port: 80}}}]}`)
	if err := r.probes(); err != nil || !pod.Equal(r.After["spec"], r.Raw["spec"]) {
		t.Errorf("without a proxy: got %v, %v", r.After, err)
	}
}

func TestProbersAreMerged(t *testing.T) {
	const (
		app = `"/app-health/app/livez":{"httpGet":{"port":80}}`
		old = `"/app-health/app/livez":{"httpGet":{"path":"/old","port":1}}`
		zoo = `"/app-health/zoo/readyz":{"tcpSocket":{"port":"named"},"timeoutSeconds":1}`
	)
	cases := map[string]struct {
		reason, env string
		before      bool
		want        string
	}{
		"first":             {"last in the environment", `[{name: A}]`, false, `[{name: A}, {name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `}'}]`},
		"lost":              {"the same", `[{name: A}]`, true, `[{name: A}, {name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `}'}]`},
		"another container": {"beside what the agent knows, in place", `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + zoo + `}'}, {name: A}]`, true, `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `,` + zoo + `}'}, {name: A}]`},
		"the same":          {"what the agent knows wins on a pod that was injected before", `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + old + `}'}]`, true, `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + old + `}'}]`},
		"the same, fresh":   {"else the pod does", `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + old + `}'}]`, false, `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `}'}]`},
		"junk":              {"an agent would not start with it", `[{name: ISTIO_KUBE_APP_PROBERS, value: '{"a": [1]}'}]`, true, `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `}'}]`},
		"null":              {"as nothing", `[{name: ISTIO_KUBE_APP_PROBERS, value: 'null'}]`, true, `[{name: ISTIO_KUBE_APP_PROBERS, value: '{` + app + `}'}]`},
	}
	for name, c := range cases {
		r := runOn(t, "", `spec: {containers: [{name: app, livenessProbe: {httpGet: {port: 80}}}, {name: istio-proxy, env: `+c.env+`}]}`)
		if c.before {
			r.status = &status{}
		}
		if err := r.probes(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(treeOf(t, "env: "+c.want)["env"], r.container(proxyName)["env"]); diff != "" {
			t.Errorf("%s: %s: %s", name, c.reason, diff)
		}
	}
}
