// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"errors"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/config"
)

// A bad template is refused when it is loaded, with its file, line and reason.
func TestNewRefusesBadTemplates(t *testing.T) {
	cases := map[string]struct{ text, id, place, detail string }{
		"syntax":           {"spec:\n  {{ if }}", "INJ331", "t.yaml:2", "missing value for if"},
		"unknown function": {"spec:\n\n  hostname: {{ env \"HOME\" }}", "INJ332", "t.yaml:3", "env"},
		"unknown field":    {"spec:\n  hostname: {{ .Nothing | quote }}", "INJ334", "t.yaml:2", "Nothing"},
		"unquoted":         {"spec:\n  hostname: {{ .ObjectMeta.Name }}", "INJ333", "t.yaml:2", "a pod controls"},
		"runs away":        {"{{ range 1000000000 }}x{{ end }}", "INJ306", "t.yaml:", "more than 100000 steps"},
		"misspelt":         {"spec:\n  contaiers: []", "INJ305", "t.yaml:", "spec.contaiers"},
		"no pod":           {"metadata:\n  name: x", "INJ305", "t.yaml:", "metadata.name"},
		"wrong type":       {"spec:\n  containers:\n  - {name: a, image: b, stdin: maybe}", "INJ305", "t.yaml:", "stdin"},
		"not YAML":         {"spec: {", "INJ305", "t.yaml:", "YAML"},
		"our own key":      {"metadata:\n  annotations: {pillion.dev/status: x}", "INJ315", "t.yaml:", "pillion.dev/status"},
		"bad label":        {"metadata:\n  labels: {a/b/c: x}", "INJ310", "t.yaml:", "a/b/c"},
		"request on limit": {"spec:\n  containers:\n  - {name: a, image: b, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}", "INJ313", "t.yaml:", "above the limit"},
	}
	for name, c := range cases {
		parsed, err := config.Parse(map[string][]byte{
			"config.yaml": []byte("apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\ntemplates:\n- name: t\n  file: t.yaml\n"),
			"t.yaml":      []byte(c.text),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(parsed, Options{})
		var faults *CompileError
		if !errors.As(err, &faults) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if got := faults.Findings[0].Error(); !strings.HasPrefix(got, c.place) || !strings.Contains(got, c.id) || !strings.Contains(got, c.detail) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// The sample pods stand for every author's: what a template calls its own must not clash with them.
func TestNewTakesOrdinaryNames(t *testing.T) {
	engineFor(t, `apiVersion: config.pillion.dev/v1alpha1
kind: InjectorConfig
templates:
- name: t
  sidecars: [sidecar]
  text: |
    spec:
      initContainers:
      - {name: init, image: "registry.example/init:1"}
      containers:
      - {name: sidecar, image: "registry.example/sidecar:1", ports: [{containerPort: 8080}], readinessProbe: {httpGet: {port: 80}}}
      - {name: app, image: "registry.example/app:1", ports: [{containerPort: 9090}]}
      volumes: [{name: data, emptyDir: {medium: Memory}}]
`)
}
