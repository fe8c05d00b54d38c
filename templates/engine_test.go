// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// example is the pod of the workload that a template's page shows.
func example(t *testing.T, name string) pod.Doc {
	t.Helper()
	shown := block.FindStringSubmatch(page(t, name))
	if shown == nil {
		t.Fatalf("the page of %s has no example", name)
	}
	var workload struct {
		Kind string
		Spec struct{ Template map[string]any }
	}
	if err := yaml.Unmarshal([]byte(shown[1]), &workload); err != nil || workload.Kind != "Deployment" {
		t.Fatalf("the example of %s is no Deployment: %v", name, err)
	}
	return document(t, workload.Spec.Template)
}

func document(t *testing.T, tree any) pod.Doc {
	t.Helper()
	text, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := pod.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range pod.Schema().Check(decoded) {
		t.Errorf("the API server would not know this pod: %v", fault)
	}
	return doc
}

func engine(t *testing.T, native bool) *inject.Engine {
	t.Helper()
	c := load(t)
	c.NativeSidecars = map[bool]string{true: config.NativeOn, false: config.NativeOff}[native]
	e, err := inject.New(c, inject.Options{})
	if err != nil {
		t.Fatalf("the built-in configuration does not compile:\n%v", err)
	}
	return e
}

func run(t *testing.T, e *inject.Engine, in pod.Doc) inject.Result {
	t.Helper()
	result, err := e.Inject(in, inject.Facts{Namespace: "shop", Selected: true})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// all is the example pods of all pages as one: every template in one pod.
func all(t *testing.T) pod.Doc {
	annotations := map[string]any{}
	for name := range brings {
		maps.Copy(annotations, object(tree(t, example(t, name)), "metadata", "annotations"))
	}
	annotations["pillion.dev/templates"] = "vault-agent,sql-proxy,observability"
	return document(t, map[string]any{
		"metadata": map[string]any{"name": "web", "labels": map[string]any{"pillion.dev/inject": "enabled"}, "annotations": annotations},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/web:1"}}},
	})
}

func tree(t *testing.T, doc pod.Doc) map[string]any {
	t.Helper()
	out, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExamples injects what the pages show, with the whole engine: every container arrives where it
// runs, a second injection changes nothing, and the way back leads to the page's pod.
func TestExamples(t *testing.T) {
	pods := map[string]pod.Doc{"all": all(t)}
	names := map[string][]string{}
	for name, list := range brings {
		pods[name], names[name] = example(t, name), list
		names["all"] = append(names["all"], list...)
	}
	for name, in := range pods {
		for native, way := range map[bool]string{true: "native", false: "ordinary"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				e := engine(t, native)
				result := run(t, e, in)
				if err := result.Prove(in); err != nil {
					t.Errorf("the patch does not stand: %v", err)
				}
				want := slices.DeleteFunc(slices.Sorted(slices.Values(names[name])), func(n string) bool { return native && n == "vault-agent-init" })
				if diff := cmp.Diff(want, placed(t, result.Tree, native)); diff != "" {
					t.Errorf("containers (-want +got):\n%s", diff)
				}
				for _, w := range result.Warnings {
					t.Errorf("a warning: %s", w.Text())
				}
				after := document(t, result.Tree)
				if again := run(t, e, after); again.Decision.Reason != reason.AlreadyInjected || len(again.Patch) > 0 {
					t.Errorf("a second injection: %v, %v", again.Decision.Reason, again.Patch)
				}
				back, err := inject.Uninject(after)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tree(t, in), back.Tree); diff != "" {
					t.Errorf("after uninject (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// placed is the injected containers, each checked for where it stands: native sidecars before the
// author's init containers, ordinary ones after the application, and the secrets first of all.
func placed(t *testing.T, tree map[string]any, native bool) []string {
	t.Helper()
	var out []string
	for list, items := range map[string][]map[string]any{"initContainers": objects(object(tree, "spec"), "initContainers"), "containers": objects(object(tree, "spec"), "containers")} {
		for i, c := range items {
			name := c["name"].(string)
			if name == "app" {
				if i > 0 {
					t.Errorf("the application stands at %d", i)
				}
				continue
			}
			out = append(out, name)
			beside := name != "vault-agent-init"
			if got, want := c["restartPolicy"] == "Always", beside && native; got != want {
				t.Errorf("%s in %s: native is %v, want %v", name, list, got, want)
			}
			if got, want := list == "containers", beside && !native; got != want {
				t.Errorf("%s stands in %s", name, list)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestDefaultNeedsNoWord injects a pod that says nothing: it gets the default template, as a pod in a
// namespace that asks for injection does.
func TestDefaultNeedsNoWord(t *testing.T) {
	var least map[string]any
	if err := yaml.Unmarshal([]byte(samples["the least pod"]), &least); err != nil {
		t.Fatal(err)
	}
	result := run(t, engine(t, true), document(t, least))
	if len(result.Templates) != 1 || result.Templates[0].Name != "log-shipper" {
		t.Errorf("the templates are %v", result.Templates)
	}
}
