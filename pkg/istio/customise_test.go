// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// again injects a pod and proves the patch.
func again(t *testing.T, e *inject.Engine, tree map[string]any) (inject.Result, map[string]any) {
	t.Helper()
	doc, err := pod.FromTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Prove(doc); err != nil && len(result.Patch) > 0 {
		t.Error(err)
	}
	if result.Tree == nil {
		return result, tree
	}
	return result, result.Tree
}

// overriding is a pod with an application, whose author has set the annotation of the overrides.
func overriding(overrides, containers string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{overridesKey: overrides}},
		"spec":     map[string]any{"containers": must(containers)},
	}
}

func must(text string) any {
	value, err := pod.Decode([]byte(text))
	if err != nil {
		panic(err)
	}
	return value
}

// The annotation is anybody's to write. It may set what a container of the author's own could set, and
// nothing else.
func TestOverridesTakeNothingAway(t *testing.T) {
	e := engineOf(t, nativeProxy)
	_, want := again(t, e, overriding(`{}`, `[{"name":"app"}]`))
	for name, overrides := range map[string]string{
		"delete a container":     `{"initContainers":[{"name":"istio-proxy","$patch":"delete"},{"name":"istio-init","$patch":"delete"}]}`,
		"replace all containers": `{"initContainers":[{"name":"istio-proxy","$patch":"replace"}],"containers":[{"name":"app","$patch":"replace"}]}`,
		"keep the name alone":    `{"initContainers":[{"name":"istio-proxy","$retainKeys":["name"]}]}`,
		"order a list":           `{"initContainers":[{"name":"istio-proxy","$setElementOrder/env":[{"name":"X"}]}]}`,
		"empty a map":            `{"initContainers":[{"name":"istio-proxy","resources":{"limits":{"$patch":"replace"}}}]}`,
		"null":                   `{"initContainers":[{"name":"istio-proxy","image":null,"args":null,"env":null}]}`,
		"unknown fields":         `{"initContainers":[{"name":"istio-proxy","strange":{"a":1},"env":[{"name":"ZONE","strange":1}]}]}`,
		"no template's":          `{"containers":[{"name":"evil","image":"evil"},{"name":"app","securityContext":{"privileged":true}}]}`,
	} {
		_, got := again(t, e, overriding(overrides, `[{"name":"app"}]`))
		delete(pod.Object(pod.Object(got, "metadata"), "annotations"), overridesKey)
		delete(pod.Object(pod.Object(want, "metadata"), "annotations"), overridesKey)
		if name == "empty a map" {
			delete(initContainer(got, proxyName), "resources")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
}

func TestOverridesOfAWrongTypeAreRefused(t *testing.T) {
	e := engineOf(t, nativeProxy)
	for fields, want := range map[string]string{
		`"env":"x"`:                              `initContainers[istio-proxy].env: want a list, got "x"`,
		`"env":["x"]`:                            `initContainers[istio-proxy].env[0]: want an object, got "x"`,
		`"securityContext":{"runAsUser":1e99}`:   `initContainers[istio-proxy].securityContext.runAsUser: want an integer, got 1e99`,
		`"resources":{"limits":{"cpu":"1e999"}}`: `initContainers[istio-proxy].resources.limits.cpu: "1e999": the exponent of a quantity has at most 2 digits`,
	} {
		for _, containers := range []string{`[{"name":"app"}]`, `[{"name":"app"},{"name":"istio-proxy","image":"auto"}]`} {
			doc, err := pod.FromTree(overriding(`{"initContainers":[{"name":"istio-proxy",`+fields+`}]}`, containers))
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
			var refusal *reason.Refusal
			if !errors.As(err, &refusal) || refusal.Path != "metadata.annotations["+overridesKey+"]" || refusal.Detail != want {
				t.Errorf("%s: got %v, want %s", fields, err, want)
			}
		}
	}
}

// A record of other containers does not make the author's own proxy one that was injected.
func TestWishesThatCameLaterAreKept(t *testing.T) {
	tree := overriding(`{"containers":[{"name":"gone","tty":true}]}`, `[{"name":"app"},{"name":"istio-proxy","image":"mine"}]`)
	pod.Object(pod.Object(tree, "metadata"), "annotations")[statusKey] = `{"containers":["app","gone"]}`
	e := engineOf(t, nativeProxy)
	for range 3 {
		_, tree = again(t, e, tree)
		if image := initContainer(tree, proxyName)["image"]; image != "mine" {
			t.Errorf("got the image %v", image)
		}
	}
	const want = `{"containers":[{"name":"gone","resources":{},"tty":true}],"initContainers":[{"name":"istio-proxy","image":"mine","resources":{}}]}`
	if got := pod.Object(pod.Object(tree, "metadata"), "annotations")[overridesKey]; got != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// The mesh may change its mind on native sidecars between two calls, and change it back.
func TestWishesMoveWithTheProxy(t *testing.T) {
	_, tree := again(t, engineOf(t, nativeProxy), overriding(`{}`, `[{"name":"app"},{"name":"istio-proxy","image":"mine","env":[{"name":"ZONE","value":"south"}]}]`))
	for _, template := range []string{ordinaryProxy, ordinaryProxy, nativeProxy, nativeProxy} {
		before := tree
		_, tree = again(t, engineOf(t, template), tree)
		proxy := ofPod(tree, proxyName)
		if env := pod.Named(pod.Items(proxy, "env"), "ZONE"); proxy["image"] != "mine" || env["value"] != "south" {
			t.Errorf("the author's wishes are gone: %s", pod.Encode(proxy))
		}
		if listOf(before) == listOf(tree) && !pod.Equal(before, tree) {
			t.Errorf("a second call changes: %s", cmp.Diff(before, tree))
		}
	}
}

// An ordinary container has no restart policy, also where its author wrote a native one.
func TestNativeWishesForAnOrdinaryProxy(t *testing.T) {
	tree := overriding(`{}`, `[{"name":"app"}]`)
	pod.Object(tree, "spec")["initContainers"] = must(`[{"name":"istio-proxy","image":"mine","restartPolicy":"Always"}]`)
	const every = "spec:\n  containers:\n{{- range .Spec.Containers }}\n  - {name: {{ .Name | quote }}, stdin: true}\n{{- end }}\n"
	e := engineOf(t, ordinaryProxy, every)
	_, tree = again(t, e, tree)
	if proxy := container(tree, proxyName); proxy["restartPolicy"] != nil || proxy["image"] != "mine" {
		t.Errorf("got %v", proxy)
	}
	if result, _ := again(t, e, tree); len(result.Patch) > 0 {
		t.Errorf("a second call changes %v", result.Patch)
	}
}

// What says where an author's proxy stood is gone after the first call.
func TestRecordKeepsItsText(t *testing.T) {
	const every = "spec:\n  containers:\n{{- range .Spec.Containers }}\n  - {name: {{ .Name | quote }}, stdin: true}\n{{- end }}\n"
	got, err := injectedOnce(t, engineOf(t, every, ordinaryProxy), `spec: {containers: [{name: istio-proxy, image: auto}, {name: app}, {name: web}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app", "web", "istio-proxy"}, orderOf(got, "containers")); diff != "" {
		t.Error(diff)
	}
}

// What the agent was told of the application must not be lost, even where the author tells it something.
func TestTheAgentIsToldOnce(t *testing.T) {
	got, err := injectedOnce(t, engineOf(t, nativeProxy), `
metadata: {annotations: {prometheus.io/port: "9090", sidecar.istio.io/rewriteAppHTTPProbers: "true"}}
spec: {containers: [
  {name: istio-proxy, image: auto, env: [{name: ISTIO_KUBE_APP_PROBERS, value: "{}"}, {name: ISTIO_PROMETHEUS_ANNOTATIONS, value: "{}"}, {name: OWN, value: a}]},
  {name: app, livenessProbe: {httpGet: {path: /, port: 80}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	env := pod.Items(initContainer(got, proxyName), "env")
	for name, want := range map[string]string{probersEnv: "/app-health/app/livez", scrapeEnv: "9090", "OWN": "a"} {
		if value := pod.Text(pod.Named(env, name), "value"); !strings.Contains(value, want) {
			t.Errorf("%s: got %q, want %s in it", name, value, want)
		}
	}
}

// A pod of nothing but the proxy cannot have it as a native sidecar.
func TestNoContainerIsLeft(t *testing.T) {
	e := engineOf(t, nativeProxy)
	for annotation, want := range map[string]string{
		"{}": "spec.containers",
		"{sidecar.istio.io/nativeSidecar: yes please}": "metadata.annotations[sidecar.istio.io/nativeSidecar]",
	} {
		_, err := injectedOnce(t, e, "metadata: {annotations: "+annotation+"}\nspec: {containers: [{name: istio-proxy, image: auto}]}")
		var refusal *reason.Refusal
		if !errors.As(err, &refusal) || refusal.Path != want || !strings.Contains(refusal.Detail, "without a container") {
			t.Errorf("%s: got %v", annotation, err)
		}
	}
}
