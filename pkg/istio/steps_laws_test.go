// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

type step struct {
	name string
	do   func(*run) error
}

func steps() []step {
	return []step{
		{"user ids", (*run).userIDs}, {"cluster", (*run).clusterEnv}, {"prometheus", (*run).prometheus}, {"secure port", (*run).securePort},
		{"probes", (*run).probes}, {"record", (*run).record}, {"order", (*run).order},
	}
}

// lawful runs every step on a pod and checks what holds for all of them: the pod that came in stays
// as it was; a second call changes nothing; other containers keep name, order and every field but
// the handlers; and a handler that points at the agent is one that the agent knows.
func lawful(t *testing.T, m *mesh.Config, tree, custom map[string]any) {
	before := pod.Clone(tree)
	r := runIn(m, tree)
	r.env, r.custom = map[string]string{"ISTIO_META_CLUSTER_ID": "c", networkEnv: "n"}, custom
	r.Layers, r.written = tree, tree
	for _, s := range steps() {
		was := pod.Clone(r.After)
		if s.do(r) != nil {
			return // refused: nothing of the pod is used
		}
		once := pod.Clone(r.After)
		again := runIn(m, once)
		again.env, again.custom, again.Layers, again.written, again.status = r.env, r.custom, r.Layers, r.written, &status{}
		if err := s.do(again); err != nil {
			t.Fatalf("%s: the second time: %v", s.name, err)
		}
		if diff := cmp.Diff(once, again.After); diff != "" {
			t.Fatalf("%s: the second time changes: %s", s.name, diff)
		}
		for _, list := range pod.ContainerLists {
			if diff := cmp.Diff(authors(was, list), authors(r.After, list)); diff != "" {
				t.Fatalf("%s: the author's containers changed: %s", s.name, diff)
			}
		}
		if s.name == "probes" {
			known(t, was, r)
		}
	}
	if diff := cmp.Diff(before, tree); diff != "" {
		t.Fatalf("the pod that came in changed: %s", diff)
	}
}

func defaultMesh(f *testing.F) *mesh.Config {
	m, err := mesh.Parse(nil, config.Origin{})
	if err != nil {
		f.Fatal(err)
	}
	return m
}

// authors are the containers that the steps do not know by name, without the handlers that may be
// rewritten.
func authors(tree map[string]any, list string) (out []string) {
	for _, item := range pod.Items(pod.Object(tree, "spec"), list) {
		c, ok := item.(map[string]any)
		if ok && slices.Contains([]any{proxyName, initName, validationName, coreDumpName}, c["name"]) {
			continue
		}
		if c = pod.Clone(c); ok {
			for _, a := range aims(false) {
				bare(c, a.field)
			}
			for _, a := range aims(true) {
				bare(pod.Object(c, "lifecycle"), a.field)
			}
			item = c
		}
		out = append(out, string(pod.Encode(item)))
	}
	return out
}

func bare(holder map[string]any, field string) {
	probe := pod.Object(holder, field)
	delete(probe, "httpGet")
	delete(probe, "tcpSocket")
	delete(probe, "grpc")
}

func known(t *testing.T, was map[string]any, r *run) {
	text, _ := r.variable(probersEnv)
	told := map[string]any{}
	if text != "" && json.Unmarshal([]byte(text), &told) != nil {
		told = nil
	}
	for _, list := range pod.ContainerLists {
		old := pod.Items(pod.Object(was, "spec"), list)
		for i, item := range pod.Items(pod.Object(r.After, "spec"), list) {
			c, _ := item.(map[string]any)
			for _, a := range aims(false) {
				path := pod.Text(pod.Object(pod.Object(c, a.field), "httpGet"), "path")
				old, _ := old[i].(map[string]any)
				if pod.Equal(pod.Object(old, a.field), pod.Object(c, a.field)) || strings.HasPrefix(path, "/app-health/") && path == pod.Text(pod.Object(pod.Object(old, a.field), "httpGet"), "path") {
					continue
				}
				if told[path] == nil {
					t.Fatalf("%s of %v asks for %s, of which the agent knows nothing: %s", a.field, c["name"], path, text)
				}
			}
		}
	}
}

// FuzzSteps runs the steps on trees of any shape.
func FuzzSteps(f *testing.F) {
	defaults := defaultMesh(f)
	f.Add(`{"spec":{"containers":[{"name":"istio-proxy","args":["-u"]},{"name":"a","livenessProbe":{"httpGet":{"port":"w"}},"ports":[{"name":"w","containerPort":1}]}]}}`, `{"securityContext":{"runAsUser":7}}`)
	f.Add(`{"metadata":{"annotations":{"prometheus.io/port":"9090","status.sidecar.istio.io/port":"0"}},"spec":{"initContainers":[{"name":"istio-validation","args":["-u","1"]},{"name":"istio-proxy"}]}}`, `null`)
	f.Add(`{"metadata":[],"spec":{"containers":[null,1,{"name":2,"lifecycle":[]}],"initContainers":"x"}}`, `{"securityContext":1}`)
	f.Add(`{"spec":{"containers":[{"name":"istio-proxy","env":[{"name":"ISTIO_KUBE_APP_PROBERS","value":"{\"a\":null}"}]},{"name":"a","lifecycle":{"preStop":{"tcpSocket":{"port":1e2}}},"readinessProbe":{"grpc":{"port":8}}}]}}`, `{}`)
	f.Fuzz(func(t *testing.T, text, custom string) {
		value, err := pod.Decode([]byte(text))
		if err != nil {
			return
		}
		wish, err := pod.Decode([]byte(custom))
		if err != nil {
			return
		}
		tree, _ := value.(map[string]any)
		w, _ := wish.(map[string]any)
		lawful(t, defaults, tree, w)
	})
}

// FuzzStepsOnPods runs the steps on pods that are near to real ones.
func FuzzStepsOnPods(f *testing.F) {
	defaults := defaultMesh(f)
	f.Add([]byte("a pod of which every byte is a choice, until there are none left"))
	f.Add([]byte{0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 255, 254, 253, 252, 251, 250, 17, 33, 65, 129})
	f.Fuzz(func(t *testing.T, raw []byte) {
		g := &choices{raw: raw}
		names := []string{"istio-proxy", "istio-init", "istio-validation", "enable-core-dump", "app", "web", ""}
		spec := map[string]any{}
		for _, list := range pod.ContainerLists {
			items := []any{}
			for len(names) > 0 && g.next(5) > 0 {
				at := g.next(len(names))
				items = append(items, g.container(names[at]))
				names = slices.Delete(names, at, at+1)
			}
			spec[list] = items
		}
		annotations := map[string]any{}
		for g.next(3) > 0 {
			key := []string{"prometheus.io/port", "prometheus/io/scrape", "prometheus.istio.io/scrape-targets", statusPortKey, rewriteProbesKey, interceptionKey}[g.next(6)]
			annotations[key] = []string{"", "0", "true", "false", "9090", "15020", "15033", "9090:/m,1", "TPROXY"}[g.next(9)]
		}
		custom := map[string]any{"securityContext": map[string]any{"runAsUser": int64(g.next(3)), "runAsGroup": int64(g.next(3))}}
		lawful(t, defaults, map[string]any{"metadata": map[string]any{"annotations": annotations}, "spec": spec}, custom)
	})
}

// choices turns bytes into choices; without bytes the first one is taken.
type choices struct{ raw []byte }

func (g *choices) next(n int) int {
	if len(g.raw) == 0 {
		return 0
	}
	b := g.raw[0]
	g.raw = g.raw[1:]
	return int(b) % n
}

func (g *choices) container(name string) map[string]any {
	c := map[string]any{"name": name, "image": "registry.example/a:1", "ports": []any{map[string]any{"name": "web", "containerPort": int64(8080)}}}
	for _, field := range []string{"readinessProbe", "livenessProbe", "startupProbe"} {
		if g.next(2) > 0 {
			c[field] = g.handler(name)
		}
	}
	if g.next(3) > 0 {
		c["lifecycle"] = map[string]any{"preStop": g.handler(name), "stopSignal": "SIGTERM"}
	}
	if g.next(2) > 0 {
		c["args"] = []any{"a", "-u", "1337"}
		c["env"] = []any{map[string]any{"name": []string{"A", probersEnv, networkEnv}[g.next(3)], "value": []string{"", "{}", "junk", `{"/app-health/app/livez":{"httpGet":{"port":1}}}`}[g.next(4)]}}
	}
	return c
}

func (g *choices) handler(name string) map[string]any {
	port := []any{int64(80), "web", "81", "nope", int64(15020), int64(15033), json.Number("8e1"), json.Number("1e99"), nil}[g.next(9)]
	path := []string{"/", "/app-health/" + name + "/livez", fmt.Sprintf("/app-lifecycle/%s/prestopz", name)}[g.next(3)]
	action := map[string]any{"port": port, "path": path, "scheme": "HTTPS"}
	return map[string]any{[]string{"httpGet", "tcpSocket", "grpc", "exec"}[g.next(4)]: action, "timeoutSeconds": int64(g.next(3)), "fresh": true}
}
