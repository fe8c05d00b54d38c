// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const servedConfig = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
proof: always
defaultTemplates: [t]
templates:
- name: t
  sidecars: [proxy]
  overridable: [ports]
  text: |
    spec:
      containers:
      - name: proxy
        image: registry.example/proxy:1
`

// served is a pod as the API server sends it at the second call: read into its own types, defaulted,
// and with the mount of the service account's token.
func served(t *testing.T, tree map[string]any) map[string]any {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal(pod.Encode(tree), &p); err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			serveContainer(&list[i])
		}
	}
	filesystem := corev1.PersistentVolumeFilesystem
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		if v.Ephemeral != nil {
			v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode = &filesystem
		}
		if v.Image != nil {
			v.Image.PullPolicy = corev1.PullIfNotPresent
		}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pod.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out.(map[string]any)
}

func serveContainer(c *corev1.Container) {
	c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", "File"
	c.ImagePullPolicy = corev1.PullPolicy(pullPolicy(c.Image))
	handler := func(g *corev1.HTTPGetAction) {
		if g != nil {
			g.Path, g.Scheme = "/", "HTTP"
		}
	}
	if q := c.LivenessProbe; q != nil {
		q.TimeoutSeconds, q.PeriodSeconds, q.SuccessThreshold, q.FailureThreshold = 1, 10, 1, 3
		handler(q.HTTPGet)
		if q.GRPC != nil {
			q.GRPC.Service = new(string)
		}
	}
	if c.Lifecycle != nil {
		handler(c.Lifecycle.PreStop.HTTPGet)
	}
	for name, q := range c.Resources.Limits {
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		if _, ok := c.Resources.Requests[name]; !ok {
			c.Resources.Requests[name] = q
		}
	}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "kube-api-access-x", ReadOnly: true, MountPath: serviceAccountPath})
}

// The API server writes a pod in its own way, and calls again because it has: that is no difference.
func TestServedPodIsInjected(t *testing.T) {
	for name, more := range map[string]string{
		"quantities":       `        resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: "0.5"}}`,
		"zero values":      `        env: [{name: A, value: ""}]` + "\n        args: []\n        stdin: false",
		"zero in a mount":  `        volumeMounts: [{name: v, mountPath: /v, readOnly: false, subPath: ""}]` + "\n      volumes: [{name: v}]",
		"zero in a port":   `        ports: [{containerPort: 80, name: "", hostPort: 0}]`,
		"zero in the spec": `      hostNetwork: false` + "\n      hostPID: false",
		"probe":            `        livenessProbe: {httpGet: {port: 80}}`,
		"grpc probe":       `        livenessProbe: {grpc: {port: 80}}`,
		"lifecycle":        `        lifecycle: {preStop: {httpGet: {port: 80}}}`,
		"divisor":          `        env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1000m}}}]`,
		"size limit":       `      volumes: [{name: v, emptyDir: {sizeLimit: 1024Mi}}, {name: w, image: {reference: "registry.example/w:1"}}]`,
		"claim":            `      volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}}}]`,
	} {
		for _, facts := range []Facts{{Namespace: "shop", Selected: true}, {Namespace: "shop", Selected: true, OldNodes: []Node{{Name: "old"}}}} {
			t.Run(fmt.Sprint(name, len(facts.OldNodes)), func(t *testing.T) {
				e := engineFor(t, servedConfig+more+"\n")
				first := injected(t, e, facts, served(t, tree(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`)))
				again := second(t, e, facts, served(t, first.Tree))
				if again.Decision.Reason != reason.AlreadyInjected {
					t.Errorf("the second patch: %s", patch.Marshal(again.Patch))
				}
			})
		}
	}
}

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	out, err := parsed(t, text).Tree()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func injected(t *testing.T, e *Engine, facts Facts, in map[string]any) Result {
	t.Helper()
	r := second(t, e, facts, in)
	if r.Tree == nil {
		t.Fatalf("not injected: %v", r.Decision)
	}
	return r
}

func second(t *testing.T, e *Engine, facts Facts, in map[string]any) Result {
	t.Helper()
	doc, err := pod.FromTree(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Inject(doc, facts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// When another webhook has changed the sidecar it is put right, but for what the API server filled in
// and will not fill in again.
func TestSecondPassKeepsWhatTheServerFilledIn(t *testing.T) {
	e, facts := engineFor(t, servedConfig), Facts{Namespace: "shop", Selected: true}
	first := injected(t, e, facts, tree(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`))
	in := served(t, first.Tree)
	pod.Object(pod.Object(in, "metadata"), "annotations")[limitRanger] = "LimitRanger plugin set: memory limit for init container proxy"
	sidecar := pod.Named(pod.Items(pod.Object(in, "spec"), "initContainers"), "proxy")
	sidecar["resources"] = map[string]any{"limits": map[string]any{"memory": "512Mi"}}
	if r := second(t, e, facts, in); len(r.Patch) > 0 {
		t.Errorf("LimitRanger's limits are a difference: %s", patch.Marshal(r.Patch))
	}
	sidecar["image"] = "registry.example/other:1"
	r := injected(t, e, facts, in)
	c := pod.Named(pod.Items(pod.Object(r.Tree, "spec"), "initContainers"), "proxy")
	if pod.Text(c, "image") != "registry.example/proxy:1" || len(pod.Items(c, "volumeMounts")) != 1 || len(pod.Object(pod.Object(c, "resources"), "limits")) != 1 {
		t.Errorf("got %s", pod.Encode(c))
	}
}

// A true record does not hide a volume that says more than the template's.
func TestTrueRecordHidesNoVolume(t *testing.T) {
	e, facts := engineFor(t, servedConfig+"      volumes: [{name: settings, configMap: {name: proxy}}]\n"), Facts{Namespace: "shop", Selected: true}
	first := injected(t, e, facts, tree(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`))
	volume := pod.Named(pod.Items(pod.Object(first.Tree, "spec"), "volumes"), "settings")
	pod.Object(volume, "configMap")["items"] = []any{map[string]any{"key": "other", "path": "proxy.yaml"}}
	r := second(t, e, facts, first.Tree)
	if len(r.Patch) == 0 {
		t.Error("the volume of the author's was taken for the template's")
	}
}

// What the API server would leave out of a pod takes nothing off a sidecar.
func TestEmptyWishTakesNothing(t *testing.T) {
	e, facts := engineFor(t, servedConfig+"        args: [run]\n        securityContext: {capabilities: {drop: [ALL]}}\n"), Facts{Namespace: "shop", Selected: true}
	for name, fields := range map[string]string{
		"empty list":           `"args": []`,
		"empty list in fields": `"securityContext": {"capabilities": {"drop": []}}`,
		"empty struct":         `"securityContext": {}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := injected(t, e, facts, tree(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"},{"name":"proxy","image":"auto",`+fields+`}]}}`))
			c := pod.Named(pod.Items(pod.Object(r.Tree, "spec"), "initContainers"), "proxy")
			if len(pod.Items(c, "args")) != 1 || len(pod.Items(pod.Object(pod.Object(c, "securityContext"), "capabilities"), "drop")) != 1 {
				t.Errorf("got %s", pod.Encode(c))
			}
		})
	}
	doc := parsed(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"},{"name":"proxy","image":"auto","securityContext":[]}]}}`)
	if r, err := e.Inject(doc, facts); err == nil {
		t.Errorf("a list in place of a security context was taken: %s", pod.Encode(r.Tree))
	}
}

// A refusal's text is cut between characters.
func TestVolumeConflictIsText(t *testing.T) {
	e := engineFor(t, servedConfig+"      volumes: [{name: v, emptyDir: {}}]\n")
	for i := range 4 {
		name := strings.Repeat("x", i) + strings.Repeat("€", 60)
		doc := parsed(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}],"volumes":[{"name":"v","configMap":{"name":"`+name+`"}}]}}`)
		_, err := e.Inject(doc, Facts{Namespace: "shop", Selected: true})
		if err == nil || !utf8.ValidString(err.Error()) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

// Nor does a true record hide a container that stands where a template's order forbids it.
func TestTrueRecordHidesNoOrder(t *testing.T) {
	e := engineFor(t, strings.Replace(servedConfig, "  overridable:", "  order: [{container: proxy, before: ['*']}]\n  overridable:", 1))
	facts := Facts{Namespace: "shop", Selected: true}
	first := injected(t, e, facts, tree(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}],"initContainers":[{"name":"own","image":"x"}]}}`))
	inits := pod.Items(pod.Object(first.Tree, "spec"), "initContainers")
	slices.Reverse(inits)
	again := injected(t, e, facts, first.Tree)
	if !named(pod.Items(pod.Object(again.Tree, "spec"), "initContainers")[0], "proxy") {
		t.Errorf("got %s", pod.Encode(again.Tree))
	}
	if third := second(t, e, facts, again.Tree); len(third.Patch) > 0 {
		t.Errorf("the third patch: %s", patch.Marshal(third.Patch))
	}
}
