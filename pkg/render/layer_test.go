// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

func TestInvalidOutput(t *testing.T) {
	tests := map[string]struct {
		text   string
		reason reason.Reason
		path   string
		line   int
		part   string // of the detail
	}{
		"a typing error in a field":   {"spec:\n  contaiers: []\n", reason.TemplateOutputInvalid, "spec.contaiers", 2, "unknown field"},
		"a text for a number":         {"spec:\n  containers:\n  - name: a\n    readinessProbe:\n      failureThreshold: many\n", reason.TemplateOutputInvalid, "spec.containers[0].readinessProbe.failureThreshold", 5, "got \"many\""},
		"a number for a text":         {"spec:\n  hostname: 12\n", reason.TemplateOutputInvalid, "spec.hostname", 2, "want a string, got 12"},
		"a fraction for a number":     {"spec: {priority: 1.5}", reason.TemplateOutputInvalid, "spec.priority", 1, "got 1.5"},
		"a quantity that hangs":       {"spec:\n  overhead: {cpu: 1e-999999999}\n", reason.TemplateOutputInvalid, "spec.overhead.cpu", 2, "want a quantity"},
		"a list":                      {"- a\n", reason.TemplateOutputInvalid, "", 1, "want a partial pod"},
		"a text":                      {"hello\n", reason.TemplateOutputInvalid, "", 1, "want a partial pod"},
		"no YAML":                     {"spec: {}\n  a: [\n", reason.TemplateOutputInvalid, "", 1, "no YAML"},
		"a control character":         {"spec: {hostname: \"\x01\"}", reason.TemplateOutputInvalid, "", 1, "no YAML"},
		"a key that occurs twice":     {"spec:\n  hostname: a\n  hostname: b\n", reason.TemplateOutputInvalid, "spec.hostname", 3, "occurs twice"},
		"two documents":               {"spec: {}\n---\nspec: {}\n", reason.TemplateOutputInvalid, "", 2, "more than one"},
		"an alias":                    {"metadata:\n  labels: &a {}\n  annotations: *a\n", reason.TemplateOutputInvalid, "metadata.labels", 2, "anchors"},
		"a merge key":                 {"spec:\n  <<: {}\n", reason.TemplateOutputInvalid, "spec", 2, "a key must be a text"},
		"a null key":                  {"spec:\n  ~: {}\n", reason.TemplateOutputInvalid, "spec", 2, "a key must be a text"},
		"a list as key":               {"spec:\n  [a]: {}\n", reason.TemplateOutputInvalid, "spec", 2, "a key must be a text"},
		"a binary":                    {"spec:\n  hostname: !!binary aGk=\n", reason.TemplateOutputInvalid, "spec.hostname", 2, "!!binary"},
		"a tag of its own":            {"spec: !x {}\n", reason.TemplateOutputInvalid, "spec", 1, "!x"},
		"infinity":                    {"spec: {overhead: {cpu: .inf}}", reason.TemplateOutputInvalid, "spec.overhead.cpu", 1, "no number"},
		"a null item":                 {"spec:\n  volumes:\n  -\n", reason.TemplateOutputInvalid, "spec.volumes[0]", 3, "null"},
		"another kind":                {"kind: Deployment\nspec: {}\n", reason.TemplateOutputInvalid, "kind", 1, "want Pod"},
		"a status":                    {"status: {}\n", reason.TemplateOutputInvalid, "status", 1, "must not set"},
		"a name":                      {"metadata:\n  name: a\n", reason.TemplateOutputInvalid, "metadata.name", 2, "must not set"},
		"ephemeral containers":        {"spec:\n  ephemeralContainers: []\n", reason.TemplateOutputInvalid, "spec.ephemeralContainers", 2, "must not set"},
		"our own label":               {"metadata:\n  labels:\n    pillion.dev/injected: \"true\"\n", reason.ReservedKey, "metadata.labels[pillion.dev/injected]", 3, "only the injector"},
		"our own annotation":          {"metadata:\n  annotations:\n    pillion.dev/status: \"\"\n", reason.ReservedKey, "metadata.annotations[pillion.dev/status]", 3, "only the injector"},
		"a label of 64 letters":       {"metadata:\n  labels:\n    a: " + strings.Repeat("x", 64) + "\n", reason.LabelInvalid, "metadata.labels.a", 3, "63"},
		"a label that ends in a dot":  {"metadata: {labels: {a: x.}}", reason.LabelInvalid, "metadata.labels.a", 1, "x."},
		"a label's key":               {"metadata: {labels: {a/b/c: x}}", reason.LabelInvalid, "metadata.labels[a/b/c]", 1, "a/b/c"},
		"an annotation's key":         {"metadata: {annotations: {a b: x}}", reason.LabelInvalid, "metadata.annotations[a b]", 1, "a b"},
		"a label's type":              {"metadata: {labels: {a: 1}}", reason.TemplateOutputInvalid, "metadata.labels.a", 1, "want a string, got 1"},
		"deep":                        {strings.Repeat("[", 500) + strings.Repeat("]", 500), reason.TemplateOutputInvalid, strings.Repeat("[0]", 101), 1, "deep"},
		"a field named by the pod":    {"spec:\n  {{ .ObjectMeta.Name | quote }}: true\n", reason.TemplateOutputInvalid, "spec", 2, "must not control"},
		"fields out of an annotation": {"spec:\n  {{ `{\"hostNetwork\": true}` | printf \"%s%s\" .ObjectMeta.GenerateName | fromJson | toJson }}\n", reason.TemplateOutputInvalid, "spec", 2, "must not control"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := compiled(t, test.text).Render(shop())
			r := refusal(t, err)
			if r.Reason != test.reason || r.Path != test.path {
				t.Errorf("got %v at %q, want %v at %q", r.Reason, r.Path, test.reason, test.path)
			}
			if start := fmt.Sprintf("template \"proxy\", line %d of what it renders: ", test.line); !strings.HasPrefix(r.Detail, start) || !strings.Contains(r.Detail, test.part) {
				t.Errorf("got %q, want it to begin with %q and to hold %q", r.Detail, start, test.part)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	tests := map[string]string{ // of the annotation or the quantity x
		"yes": `"yes"`, "on": `"on"`, "2001-12-14": `"2001-12-14"`, "12:30:45": `"12:30:45"`, "a b": `"a b"`, `"1"`: `"1"`, "!!str 1": `"1"`, "''": `""`,
	}
	for text, want := range tests {
		got := rendered(t, compiled(t, "metadata: {annotations: {x: "+text+"}}"), shop())
		if want := `{"metadata":{"annotations":{"x":` + want + `}}}`; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	tests = map[string]string{
		"1": "1", "-7": "-7", "0x10": "16", "0o17": "15", "017": "15", "1_000": "1000", "+3": "3", "9223372036854775807": "9223372036854775807", "1.50": "1.50", "1e3": "1e3", ".5": "0.5", "100m": `"100m"`, `"2"`: `"2"`, "~": "",
	}
	for text, want := range tests {
		got := rendered(t, compiled(t, "spec: {overhead: {cpu: "+text+"}}"), shop())
		if want != "" {
			want = `"cpu":` + want
		}
		if want := `{"spec":{"overhead":{` + want + `}}}`; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestKindAndVersionAreTolerated(t *testing.T) {
	got := rendered(t, compiled(t, "apiVersion: v1\nkind: Pod\nspec: {hostname: a, nodeName: null}\nmetadata: null\n"), shop())
	if want := `{"spec":{"hostname":"a"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHintNamesTheFieldThatWasMeant(t *testing.T) {
	_, _, err := compiled(t, "spec:\n  containers:\n  - name: a\n    imagePullPolice: Always\n").Render(shop())
	if diff := cmp.Diff("did you mean imagePullPolicy?", refusal(t, err).Hint); diff != "" {
		t.Error(diff)
	}
}
