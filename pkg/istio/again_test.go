// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// The templates of these tests: of a mesh's proxy as a native sidecar and as an ordinary container, and of
// what adds to it.
const (
	nativeProxy   = "spec:\n  initContainers:\n  - {name: istio-init, image: i}\n  - name: istio-proxy\n    image: p\n    restartPolicy: Always\n    args: [serve]\n    env: [{name: ZONE, value: north}]\n"
	ordinaryProxy = "spec:\n  containers:\n  - name: istio-proxy\n    image: o\n    args: [route]\n    tty: true\n"
)

// engineOf is an engine with the templates a, b and so on, which a pod gets in this order.
func engineOf(t *testing.T, templates ...string) *inject.Engine {
	t.Helper()
	e, err := tried(t, templates...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func tried(t *testing.T, templates ...string) (*inject.Engine, error) {
	t.Helper()
	config := map[string]any{"policy": "enabled", "templates": map[string]any{}, "defaultTemplates": []any{}}
	for i, text := range templates {
		name := string(rune('a' + i))
		config["templates"].(map[string]any)[name] = text
		config["defaultTemplates"] = append(config["defaultTemplates"].([]any), name)
	}
	c, err := Parse(map[string][]byte{"config": pod.Encode(config), "values": []byte("{}"), "mesh": []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	c.NativeSidecars = "on"
	return New(c, inject.Options{})
}

// injectedOnce is the pod after an injection, whose second one must change nothing.
func injectedOnce(t *testing.T, e *inject.Engine, text string) (map[string]any, error) {
	t.Helper()
	raw := pod.Encode(treeOf(t, text))
	doc, err := pod.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil {
		return nil, err
	}
	before, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(before, result.Patch)
	if err != nil {
		t.Fatal(err)
	}
	tree := after.(map[string]any)
	again, err := pod.Parse(pod.Encode(tree))
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Inject(again, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil || len(second.Patch) > 0 {
		t.Errorf("a second injection: %v, %s", err, patch.Marshal(second.Patch))
	}
	return tree, nil
}

func TestWhatTheAuthorLeavesOutTakesNothingAway(t *testing.T) {
	got, err := injectedOnce(t, engineOf(t, nativeProxy), `spec: {containers: [{name: app}, {name: istio-proxy, image: auto, args: [], env: null, tty: false, command: [x]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	proxy := initContainer(got, proxyName)
	if diff := cmp.Diff([]any{"serve"}, proxy["args"]); diff != "" || len(pod.Items(proxy, "env")) == 0 || proxy["command"] == nil {
		t.Errorf("the template's own stays beside what the author sets: %s\n%v", diff, proxy)
	}
}

func TestOverridesCountForTheirList(t *testing.T) {
	const annotation = `metadata: {annotations: {proxy.istio.io/overrides: '{"LIST":[{"name":"istio-proxy","image":"mine"}]}'}}` + "\nspec: {containers: [{name: app}]}"
	for list, want := range map[string]string{"containers": "p", "initContainers": "mine"} {
		got, err := injectedOnce(t, engineOf(t, nativeProxy), strings.ReplaceAll(annotation, "LIST", list))
		if err != nil {
			t.Fatal(err)
		}
		if image := initContainer(got, proxyName)["image"]; image != want {
			t.Errorf("%s: got the image %v, want %s", list, image, want)
		}
	}
}

// The record tells of what each template wrote, also where the pod has the proxy in one list only.
func TestRecordOfTemplatesThatDisagree(t *testing.T) {
	got, err := injectedOnce(t, engineOf(t, ordinaryProxy, nativeProxy), `spec: {containers: [{name: app}]}`)
	if err != nil {
		t.Fatal(err)
	}
	record := pod.Object(pod.Object(got, "metadata"), "annotations")[statusKey]
	const want = `{"initContainers":["istio-init","istio-proxy"],"containers":["istio-proxy"],"volumes":null,"imagePullSecrets":null,"revision":"default"}`
	if record != want {
		t.Errorf("got %v, want %s", record, want)
	}
	proxy := initContainer(got, proxyName)
	if container(got, proxyName) != nil || proxy["tty"] != true || proxy["image"] != "p" {
		t.Errorf("one proxy has what both bring, the later one's last: %v", got["spec"])
	}
}

func TestOrderOfWhatNobodyHasBrought(t *testing.T) {
	const ordered = "spec:\n  $setElementOrder/containers: [{name: app}, {name: side}]\n  containers: [{name: side, image: s}]\n"
	if _, err := tried(t, ordered); err == nil || !strings.Contains(err.Error(), "$setElementOrder") {
		t.Errorf("no template has brought a container, so there is no list to order: %v", err)
	}
	got, err := injectedOnce(t, engineOf(t, "spec:\n  containers: [{name: side, image: s}]\n", ordered), `spec: {containers: [{name: app}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app", "side"}, orderOf(got, "containers")); diff != "" {
		t.Errorf("one has: %s", diff)
	}
}

// What a layer brings goes before what the pod has, but not once the proxy has found its place.
func TestContainersKeepTheirOrder(t *testing.T) {
	const several = "spec:\n  containers:\n  - {name: istio-proxy, image: p}\n  - {name: helper, image: h}\n  initContainers:\n  - {name: istio-init, image: i}\n  - {name: wait, image: w}\n"
	got, err := injectedOnce(t, engineOf(t, several), `spec: {containers: [{name: app}], initContainers: [{name: schema}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"containers": {"helper", "app", "istio-proxy"}, "initContainers": {"wait", "schema", "istio-init"}}
	for list, order := range want {
		if diff := cmp.Diff(order, orderOf(got, list)); diff != "" {
			t.Errorf("%s: %s", list, diff)
		}
	}
}

// The overrides do not tell where the author's own proxy stood, on which a list of ports depends.
func TestPortsKeepTheirOrder(t *testing.T) {
	const ports = "spec:\n  initContainers:\n  - name: istio-proxy\n    image: p\n    restartPolicy: Always\n    env:\n    - name: PORTS\n" +
		"      value: '[{{ range $i, $c := .Spec.Containers }}{{ if $i }},{{ end }}{{ (index $c.Ports 0).ContainerPort }}{{ end }}]'\n"
	got, err := injectedOnce(t, engineOf(t, ports), `spec: {containers: [{name: istio-proxy, image: auto, ports: [{containerPort: 1}]}, {name: app, ports: [{containerPort: 2}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if value := pod.Named(pod.Items(initContainer(got, proxyName), "env"), "PORTS")["value"]; value != "[1,2]" {
		t.Errorf("got %v", value)
	}
}

func TestSameItems(t *testing.T) {
	for text, want := range map[string]bool{`[2,1]`: true, `[1,2]`: true, `[1,2,2]`: false, `[]`: false, `{"a":1}`: false, `[1,`: false, ``: false} {
		if got := sameItems(`[1,2]`, text); got != want {
			t.Errorf("%s: got %t", text, got)
		}
	}
	if sameItems(`[]`, `[ ]`) {
		t.Error("lists of nothing have no order")
	}
}

// The sample is a pod of a workload, as templates meet them.
func TestSampleHasAnOwner(t *testing.T) {
	engineOf(t, `metadata: {labels: {owner: {{ (index .ObjectMeta.OwnerReferences 0).Kind | quote }}, of: {{ .DeploymentMeta.Name | quote }}}}`)
}
