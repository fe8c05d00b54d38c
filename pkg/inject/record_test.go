// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func parsed(t *testing.T, text string) pod.Doc {
	t.Helper()
	doc, err := pod.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A record that claims another webhook's container is believed of a file, not of a request.
func TestForgedRecordStripsNothing(t *testing.T) {
	e := engineFor(t, lawConfig)
	in := parsed(t, `{"metadata":{"name":"a","annotations":{"pillion.dev/status":"{\"hash\":\"0\",\"undo\":{\"added\":[\"/spec/containers/guard\",\"/spec/containers/app/env/KEEP\"]}}"}},
		"spec":{"containers":[{"name":"app","env":[{"name":"KEEP","value":"1"}]},{"name":"guard","image":"registry.example/guard:1"}]}}`)
	r, err := e.Inject(in, Facts{Namespace: "shop", Selected: true})
	if err != nil || !r.Decision.Inject {
		t.Fatal(r.Decision, err)
	}
	ops := string(patch.Marshal(r.Patch))
	if strings.Contains(ops, `"op":"remove"`) || pod.Named(pod.Items(pod.Object(r.Tree, "spec"), "containers"), "guard") == nil {
		t.Errorf("the guard was stripped: %s", ops)
	}
	if w := r.Warnings[len(r.Warnings)-1]; w.Reason != reason.StatusRecordInvalid {
		t.Errorf("warnings: %v", r.Warnings)
	}
	trusted, err := e.Inject(in, Facts{Namespace: "shop", Selected: true, Trusted: true})
	if err != nil || pod.Named(pod.Items(pod.Object(trusted.Tree, "spec"), "containers"), "guard") != nil {
		t.Errorf("a trusted record was not believed: %v", err)
	}
}

// The author cannot hide behind a true record either: what the templates would not let them set is
// taken away again.
func TestTrueRecordHidesNoTampering(t *testing.T) {
	e := engineFor(t, lawConfig)
	facts := Facts{Namespace: "shop", Selected: true}
	first, err := e.Inject(parsed(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`), facts)
	if err != nil {
		t.Fatal(err)
	}
	tamper := map[string]struct {
		field string
		value any
		kept  bool
	}{
		"command":   {"command", []any{"sleep"}, false},
		"image":     {"image", "registry.example/other:1", false},
		"privilege": {"securityContext", map[string]any{"privileged": true}, false},
		"default":   {"terminationMessagePath", "/dev/termination-log", true},
		"env":       {"env", []any{map[string]any{"name": "MODE", "value": "sidecar"}, map[string]any{"name": "MORE", "value": "1"}}, true},
	}
	for name, c := range tamper {
		tree := pod.Clone(first.Tree)
		sidecar := pod.Named(pod.Items(pod.Object(tree, "spec"), "initContainers"), "proxy")
		sidecar[c.field] = c.value
		doc, err := pod.FromTree(tree)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Inject(doc, facts)
		if err != nil || (len(r.Patch) == 0) != c.kept {
			t.Errorf("%s: patch %s, %v", name, patch.Marshal(r.Patch), err)
		}
	}
}

// What the API server and other webhooks add between two calls stays, and calls for no second patch
// and no warning, also where they add to a list or map that came with the injection.
func TestReinvocationKeepsStrangers(t *testing.T) {
	for name, pod := range map[string]string{
		"lists of its own": `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}],"initContainers":[{"name":"first"}]}}`,
		"bare":             `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app","image":"x"}]}}`,
	} {
		t.Run(name, func(t *testing.T) { keepsStrangers(t, pod) })
	}
}

func keepsStrangers(t *testing.T, text string) {
	e := engineFor(t, lawConfig)
	facts := Facts{Namespace: "shop", Selected: true}
	first, err := e.Inject(parsed(t, text), facts)
	if err != nil {
		t.Fatal(err)
	}
	tree := pod.Clone(first.Tree)
	spec := pod.Object(tree, "spec")
	sidecar := pod.Named(pod.Items(spec, "initContainers"), "proxy")
	sidecar["terminationMessagePolicy"], sidecar["imagePullPolicy"] = "File", "IfNotPresent"
	sidecar["volumeMounts"] = append(pod.Items(sidecar, "volumeMounts"), map[string]any{"name": "token", "mountPath": serviceAccountPath})
	spec["initContainers"] = append([]any{map[string]any{"name": "stranger", "image": "registry.example/s:1"}}, pod.Items(spec, "initContainers")...)
	pod.Object(pod.Object(tree, "metadata"), "labels")["stranger"] = "yes"
	doc, err := pod.FromTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Inject(doc, facts)
	if err != nil || r.Decision.Reason != reason.AlreadyInjected || len(r.Patch) > 0 {
		t.Errorf("got %v, %s, %v", r.Decision.Reason, patch.Marshal(r.Patch), err)
	}
	if slices.ContainsFunc(r.Warnings, func(w reason.Warning) bool { return w.Reason == reason.StatusRecordInvalid }) {
		t.Errorf("a false alarm: %v", r.Warnings)
	}
}
