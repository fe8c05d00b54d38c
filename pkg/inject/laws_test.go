// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const lawConfig = `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
defaultTemplates: [proxy, extra]
proof: always
templates:
- name: proxy
  sidecars: [proxy]
  order: [{container: proxy, after: [first]}]
  parameters: [{name: level, type: string, default: info, annotation: proxy.pillion.dev/level}]
  text: |
    metadata:
      labels:
        example.com/workload: {{ .DeploymentMeta.Name | labelValue | quote }}
    spec:
      initContainers:
      - {name: setup, image: "registry.example/setup:1"}
      containers:
      - name: proxy
        image: registry.example/proxy:1
        args: ["--level", {{ .Params.level | quote }}]
        ports: [{containerPort: 15090}]
        env: [{name: MODE, value: sidecar}]
        resources: {requests: {cpu: 10m}, limits: {cpu: "1"}}
        volumeMounts: [{name: proxy-data, mountPath: /data}]
      volumes: [{name: proxy-data, emptyDir: {}}]
      imagePullSecrets: [{name: pull}]
- name: extra
  text: |
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: app
        env: [{name: REGION, value: north}]
      {{- range .Spec.Containers }}
      {{- if eq .Name "proxy" }}
      - name: proxy
        env: [{name: SEEN, value: "1"}]
      {{- end }}
      {{- end }}
`

func engineFor(t testing.TB, text string) *Engine {
	t.Helper()
	c, err := config.Parse(map[string][]byte{"config.yaml": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(c, Options{OwnNamespace: "pillion-system"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var lawSeeds = []string{
	`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`,
	`{"metadata":{"name":"a","labels":null,"annotations":null},"spec":{"volumes":null,"initContainers":null,"containers":[{"name":"app","env":null}]}}`,
	`{"metadata":{"generateName":"a-","labels":{"pillion.dev/inject":"enabled"},"ownerReferences":[{"kind":"Job","name":"b","controller":true}]},"spec":{"initContainers":[{"name":"first"},{"name":"second","restartPolicy":"Always"}],"containers":[{"name":"app","future":{"x":[1,2]}},{"name":"proxy","image":"auto","env":[{"name":"A","value":"b"}]}]}}`,
	`{"metadata":{"annotations":{"pillion.dev/status":"{\"undo\":{\"added\":[\"/spec/containers/app\",\"/spec/volumes/v\"]}}"}},"spec":{"hostNetwork":false,"containers":[{"name":"app"},{"name":"other"}],"volumes":[{"name":"v","emptyDir":{}}]}}`,
	`{"metadata":{"annotations":{"proxy.pillion.dev/level":"\" }\n- {"}},"spec":{"terminationGracePeriodSeconds":5,"imagePullSecrets":[{"name":"own"}],"containers":[{"name":"app"}]}}`,
	`{"spec":{"containers":"oops"}}`, `{"spec":{"containers":[null]}}`, `{"spec":{"containers":[{"name":"app"},{"name":"app"}]}}`,
}

// FuzzInject holds the engine's laws to any pod.
func FuzzInject(f *testing.F) {
	e := engineFor(f, lawConfig)
	for _, seed := range lawSeeds {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, old bool) {
		if len(raw) > 16<<10 {
			return
		}
		in, err := pod.Parse(raw)
		if err != nil {
			return
		}
		facts := Facts{Namespace: "shop", Selected: true}
		if old {
			facts.OldNodes = []Node{{Name: in.Head().Spec.NodeName, Labels: in.Head().Spec.NodeSelector}}
		}
		r, err := e.Inject(in, facts)
		var refusal *reason.Refusal
		if errors.As(err, &refusal) {
			return
		}
		if err != nil {
			t.Fatalf("broken: %v", err)
		}
		if !r.Decision.Inject {
			if len(r.Patch) > 0 {
				t.Fatalf("skipped with a patch: %v", r.Patch)
			}
			return
		}
		again, err := e.Inject(in, facts)
		if err != nil || !bytes.Equal(patch.Marshal(r.Patch), patch.Marshal(again.Patch)) {
			t.Fatalf("the same input gave another patch: %v", err)
		}
		if err := r.Prove(in); err != nil {
			t.Fatal(err)
		}
		holdApplied(t, in, r)
		holdAuthors(t, in, r)
		holdTwice(t, e, facts, r)
		holdUninject(t, in, r)
	})
}

// holdApplied: the API server's own library makes the engine's result of the patch.
func holdApplied(t *testing.T, in pod.Doc, r Result) {
	t.Helper()
	ops, err := jsonpatch.DecodePatch(patch.Marshal(r.Patch))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ops.Apply(in.Raw())
	if err != nil {
		t.Fatalf("the patch does not apply: %v\n%s", err, patch.Marshal(r.Patch))
	}
	got, err := pod.Decode(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(r.Tree), got); diff != "" {
		t.Fatalf("the patch makes another pod:\n%s", diff)
	}
}

// holdAuthors: the author's containers keep their order and every field; a template may only add.
func holdAuthors(t *testing.T, in pod.Doc, r Result) {
	t.Helper()
	tree, err := in.Tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range pod.ContainerLists {
		after := pod.Items(pod.Object(r.Tree, "spec"), key)
		at := 0
		for _, item := range pod.Items(pod.Object(tree, "spec"), key) {
			c := item.(map[string]any)
			if name := pod.Text(c, "name"); name == "" || name == "proxy" || name == "setup" || recorded(in) {
				continue // ours, or claimed by a record
			}
			for at < len(after) && !named(after[at], pod.Text(c, "name")) {
				at++
			}
			if at == len(after) {
				t.Fatalf("%s %q is gone or out of order", key, pod.Text(c, "name"))
			}
			if path, ok := kept(c, after[at]); !ok {
				t.Fatalf("%s %q lost %s", key, pod.Text(c, "name"), path)
			}
			at++
		}
	}
}

// kept tells whether every value of before is in after, lists as subsequences.
func kept(before, after any) (string, bool) {
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			return "", len(b) == 0
		}
		for k, v := range b {
			if path, ok := kept(v, a[k]); !ok {
				return k + "." + path, false
			}
		}
		return "", true
	case []any:
		a, _ := after.([]any)
		for i, v := range b {
			for len(a) > 0 {
				_, ok := kept(v, a[0])
				a = a[1:]
				if ok {
					v = nil
					break
				}
			}
			if v != nil && i >= 0 {
				return "item", false
			}
		}
		return "", true
	case nil:
		return "", true
	}
	return "", pod.Equal(before, after)
}

// holdTwice: a second injection changes nothing.
func holdTwice(t *testing.T, e *Engine, facts Facts, r Result) {
	t.Helper()
	out, err := pod.FromTree(r.Tree)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := e.Inject(out, facts)
	if err != nil || len(twice.Patch) > 0 {
		t.Fatalf("the second injection is not empty: %v\n%s\n%s", err, out.Raw(), patch.Marshal(twice.Patch))
	}
}

// holdUninject: taking it off gives the pod back, apart from what says nothing.
func holdUninject(t *testing.T, in pod.Doc, r Result) {
	t.Helper()
	if recorded(in) {
		return // the first injection has peeled it
	}
	out, err := pod.FromTree(r.Tree)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Uninject(out)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := in.Tree()
	if diff := cmp.Diff(lean(want), lean(back.Tree)); diff != "" {
		t.Fatalf("uninject does not give the pod back:\n%s", diff)
	}
}

// lean leaves out nulls, empty maps and empty lists.
func lean(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			if item = lean(item); item != nil {
				out[k] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			if item = lean(item); item != nil {
				out = append(out, item)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return value
}

func recorded(in pod.Doc) bool {
	_, ok := in.Head().Metadata.Annotations[annotation.Status]
	return ok
}
