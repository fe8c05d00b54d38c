// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// exampleMeshes are engines of the documented example: with native sidecars and without, and with another
// template that touches every container.
func exampleMeshes(tb testing.TB) []*inject.Engine {
	tb.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"istio-sidecar-injector.yaml", "istio.yaml"} {
		body, err := os.ReadFile("../../docs/examples/istio/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		files[name] = body
	}
	var out []*inject.Engine
	for _, native := range []string{"on", "off"} {
		for _, defaults := range [][]string{{"sidecar"}, {"traced"}, {"sidecar", "every"}} {
			c, err := Parse(files)
			if err != nil {
				tb.Fatal(err)
			}
			c.NativeSidecars, c.DefaultTemplates = native, defaults
			c.Templates = append(c.Templates, Template{Name: "every", Text: "spec:\n  containers:\n  {{- range .Spec.Containers }}\n" +
				"  - name: {{ .Name | quote }}\n    env: [{name: MESHED, value: \"yes\"}]\n    volumeMounts: [{name: istio-podinfo, mountPath: /meshed}]\n  {{- end }}\n"})
			e, err := New(c, inject.Options{Revision: "default"})
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, e)
		}
	}
	return out
}

// meshed is what becomes of a pod, by the laws that hold for every one: nothing but a refusal, the same
// answer each time, a patch that holds, and none where nothing is injected. It is nil for a pod that is
// refused, or is none.
func meshed(t *testing.T, e *inject.Engine, raw []byte) map[string]any {
	t.Helper()
	doc, err := pod.Parse(slices.Clone(raw))
	if err != nil {
		return nil
	}
	facts := inject.Facts{Namespace: "shop", Selected: true, Path: "/cluster/east/net/blue/zone/a--slash--b"}
	result, err := e.Inject(doc, facts)
	second, again := e.Inject(doc, facts)
	if diff := cmp.Diff([]any{result, errorText(err)}, []any{second, errorText(again)}); diff != "" {
		t.Fatalf("two calls differ: %s", diff)
	}
	if a, b := patch.Marshal(result.Patch), patch.Marshal(second.Patch); string(a) != string(b) {
		t.Fatalf("two patches differ: %s\n%s", a, b)
	}
	if string(raw) != string(doc.Raw()) {
		t.Fatal("the pod's bytes were written to")
	}
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		return nil
	case err != nil:
		t.Fatalf("broken, not refused: %v", err)
	case result.Decision.Inject != (len(result.Patch) > 0):
		t.Fatalf("%v with %d operations", result.Decision, len(result.Patch))
	case !result.Decision.Inject:
		tree, _ := doc.Tree()
		return tree
	}
	// A patch leaves a null where the result has nothing, which is the same to the API.
	before, _ := doc.Tree()
	applied, err := patch.Apply(before, result.Patch)
	if after, _ := applied.(map[string]any); err != nil || len(patch.Between(after, result.Tree)) > 0 {
		t.Fatalf("the patch does not hold: %v\n%s", err, patch.Marshal(result.Patch))
	}
	if err := result.Prove(doc); err != nil && !strings.Contains(string(raw), "null") {
		t.Fatalf("%v\n%s", err, patch.Marshal(result.Patch))
	}
	return result.Tree
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzIstioBytes: the laws hold for whatever somebody may send.
func FuzzIstioBytes(f *testing.F) {
	engines := exampleMeshes(f)
	f.Add(`{"metadata":{"annotations":{"sidecar.istio.io/status":"{\"containers\":[\"app\"]}"}},"spec":{"containers":[{"name":"app"}]}}`)
	f.Add(`{"metadata":{"annotations":{"proxy.istio.io/overrides":"{\"initContainers\":[{\"name\":\"istio-proxy\",\"$patch\":\"replace\",\"x\":1}]}"}},"spec":{"containers":[{"name":"app","env":null}]}}`)
	f.Add(`{"metadata":{"annotations":{"proxy.istio.io/config":"{a: &a [*a]}","sidecar.istio.io/userVolumeMount":"{\"\\n\":{\"mountPath\":\"/a\"}}"}},"spec":{"containers":[{"name":"app"}]}}`)
	f.Add(`{"metadata":null,"spec":{"containers":[{"name":"istio-proxy"},{"name":"istio-proxy","x":1},{}],"initContainers":[{"name":"istio-proxy","x":1}],"volumes":[{},{"name":"istio-envoy","y":{}}]}}`)
	f.Add(`{"metadata":{"labels":{"topology.istio.io/network":""}},"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":1e400}},"lifecycle":{"preStop":{"tcpSocket":{"port":"x"}}}}],"hostNetwork":false}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range engines {
			meshed(t, e, []byte(text))
		}
	})
}

// FuzzIstio: on pods as an API server would send them, what is the author's stays as it was, in place, but
// for the handlers; and a second call, also of the other kind of sidecar, changes nothing.
func FuzzIstio(f *testing.F) {
	engines := exampleMeshes(f)
	f.Add([]byte("a pod of which every byte is a choice, until there are none left"))
	f.Add([]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 0, 2, 8, 8, 4, 1, 9, 7, 1, 6})
	f.Fuzz(func(t *testing.T, raw []byte) {
		g := &choices{raw: raw}
		at := g.next(len(engines))
		tree := g.pod()
		once := meshed(t, engines[at], pod.Encode(tree))
		if once == nil {
			return
		}
		kept(t, tree, once)
		if twice := meshed(t, engines[at], pod.Encode(once)); !pod.Equal(once, twice) {
			t.Fatalf("a second call changes: %s\nof %s", cmp.Diff(once, twice), pod.Encode(tree))
		}
		other := engines[(at+len(engines)/2)%len(engines)]
		moved := meshed(t, other, pod.Encode(once))
		kept(t, tree, moved)
		if again := meshed(t, other, pod.Encode(moved)); !pod.Equal(moved, again) {
			t.Fatalf("a second call after a change of mind changes: %s\nof %s", cmp.Diff(moved, again), pod.Encode(tree))
		}
	})
}

// pod is a pod that an API server could send, with fields that nobody knows.
func (g *choices) pod() map[string]any {
	given := [][2]string{
		{metricsPortKey, "9090"}, {metricsPortKey, "15020"}, {"prometheus/io/scrape", "false"}, {scrapeTargetsKey, "9090:/m,1"}, {statusPortKey, "15033"}, {statusPortKey, "0"},
		{rewriteProbesKey, "false"}, {mergeMetricsKey, "false"}, {interceptionKey, "TPROXY"}, {interceptionKey, "NONE"}, {nativeKey, "true"}, {nativeKey, "false"}, {cpuKey, "1500m"},
		{proxyConfigKey, "holdApplicationUntilProxyStarts: true"}, {proxyConfigKey, "{statusPort: 15099, proxyMetadata: {ISTIO_META_NETWORK: red}}"},
		{userMountKey, `{"data":{"mountPath":"/data"}}`}, {templatesKey, "tracing,sidecar"}, {statusKey, `{"containers":["web"]}`}, {"istio.io/rev", "old"},
	}
	annotations, labels, spec := map[string]any{}, map[string]any{"app": "shop"}, map[string]any{"strange": map[string]any{"deep": int64(1)}}
	for g.next(3) > 0 {
		one := given[g.next(len(given))]
		annotations[one[0]] = one[1]
	}
	if g.next(4) == 0 {
		labels[networkKey] = "green"
	}
	var containers, first []any
	for _, name := range []string{"app", "web", "cache"}[:1+g.next(3)] {
		c := g.sound(name)
		c["strange"] = name
		containers = append(containers, c)
	}
	for _, name := range []string{"schema", "istio-init"} {
		if g.next(3) == 0 {
			first = append(first, g.sound(name))
		}
	}
	if proxy := g.sound("istio-proxy"); g.next(3) == 0 {
		proxy["image"] = []string{"auto", "registry.example/own:1"}[g.next(2)]
		containers = slices.Insert(containers, g.next(len(containers)+1), any(proxy))
	}
	spec["containers"], spec["volumes"] = containers, []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}}
	if len(first) > 0 {
		spec["initContainers"] = first
	}
	return map[string]any{"metadata": map[string]any{"name": "shop", "labels": labels, "annotations": annotations, "strange": true}, "spec": spec}
}

// sound is a container that an API server takes.
func (g *choices) sound(name string) map[string]any {
	c := map[string]any{"name": name, "image": "registry.example/a:1"}
	handlers := []string{
		`{"httpGet":{"path":"/","port":80,"scheme":"HTTPS"}}`, `{"tcpSocket":{"port":"web"}}`, `{"grpc":{"port":81},"timeoutSeconds":3}`, `{"exec":{"command":["x"]}}`,
		`{"httpGet":{"path":"/app-health/` + name + `/livez","port":15020}}`, `{"httpGet":{"path":"/","port":"nope"}}`, `{"tcpSocket":{"port":15020},"strange":1}`,
	}
	for _, field := range []string{"readinessProbe", "livenessProbe", "startupProbe"} {
		if g.next(3) == 0 {
			c[field] = must(handlers[g.next(len(handlers))])
		}
	}
	if g.next(3) == 0 {
		c["lifecycle"] = map[string]any{[]string{"preStop", "postStart"}[g.next(2)]: must(handlers[[]int{0, 1, 3}[g.next(3)]])}
	}
	if g.next(2) == 0 {
		c["ports"] = must(`[{"name":"web","containerPort":8080,"protocol":"TCP"}]`)
	}
	if g.next(3) == 0 {
		c["args"] = []any{"a", "-u", "1337"}
		c["securityContext"] = map[string]any{"runAsUser": int64(g.next(2000)), "runAsGroup": int64(7)}
	}
	if g.next(3) == 0 {
		c["env"] = must([]string{`[{"name":"A"},{"name":"` + probersEnv + `","value":"junk"},{"name":"A","value":"2"}]`, `[{"name":"` + networkEnv + `","value":"own"},{"name":"MESHED","value":"no"}]`}[g.next(2)])
		c["resources"] = must(`{"limits":{"cpu":"1000m"}}`)
		c["volumeMounts"] = must(`[{"name":"data","mountPath":"/etc/istio/proxy","readOnly":true}]`)
	}
	return c
}

// kept checks that the author's own is where it was.
func kept(t *testing.T, was, is map[string]any) {
	t.Helper()
	for _, list := range pod.ContainerLists {
		if diff := cmp.Diff(applications(was, list), applications(is, list)); diff != "" {
			t.Fatalf("%s of the author changed: %s", list, diff)
		}
	}
	for _, at := range []string{"metadata", "spec"} {
		if diff := cmp.Diff(pod.Object(was, at)["strange"], pod.Object(is, at)["strange"]); diff != "" {
			t.Fatalf("a field of %s that nobody knows: %s", at, diff)
		}
	}
}

// applications are the author's containers in their order, without the handlers, and without what the
// template for every container adds.
func applications(tree map[string]any, list string) (out []any) {
	for _, item := range pod.Items(pod.Object(pod.Clone(tree), "spec"), list) {
		c := item.(map[string]any)
		if !slices.Contains([]any{"app", "web", "cache", "schema"}, c["name"]) {
			continue
		}
		for _, a := range aims(false) {
			bare(c, a.field)
		}
		for _, a := range aims(true) {
			bare(pod.Object(c, "lifecycle"), a.field)
		}
		ours := func(item any) bool {
			m := item.(map[string]any)
			return m["name"] == "MESHED" || m["mountPath"] == "/meshed"
		}
		for _, field := range []string{"env", "volumeMounts"} {
			if items := slices.DeleteFunc(pod.Items(c, field), ours); len(items) == 0 {
				delete(c, field)
			} else {
				c[field] = items
			}
		}
		out = append(out, c)
	}
	return out
}

// Many pods at once get what each gets alone, while another configuration takes over.
func TestManyAtOnce(t *testing.T) {
	engines := exampleMeshes(t)
	want := make([][]map[string]any, 8)
	pods := make([][]byte, len(want))
	for i := range pods {
		g := &choices{raw: []byte{byte(i), 2, 0, 1, 1, 2, 3, byte(i), 0, 1, byte(3 * i), 1, 1, 0, 2, 1, byte(i)}}
		pods[i] = pod.Encode(g.pod())
		for _, e := range engines {
			want[i] = append(want[i], meshed(t, e, pods[i]))
		}
	}
	fresh := exampleMeshes(t) // which has nothing in memory yet
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range pods {
				for j, e := range fresh {
					if got := meshed(t, e, pods[i]); !pod.Equal(want[i][j], got) {
						t.Errorf("pod %d in mesh %d: %s", i, j, cmp.Diff(want[i][j], got))
					}
				}
			}
		})
	}
	wg.Wait()
}
