// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/templates"
)

const head = "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\n"

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		why  string
		err  error
		want []Finding
	}{
		"none": {why: "no error, no fault"},
		"read": {
			why: "each fault, wherever the error is wrapped",
			err: fmt.Errorf("load: %w", config.Errors{{File: "a", Line: 2, Field: "x", Detail: "d", Unknown: "polcy", Known: []string{"policy"}}, {Detail: "e", Hint: "h"}}),
			want: []Finding{
				{ID: "INJ330", Severity: Error, Object: "configuration", Path: "x", File: "a", Line: 2, Detail: "d", Hint: "did you mean policy?"},
				{ID: "INJ330", Severity: Error, Object: "configuration", Detail: "e", Hint: "h"},
			},
		},
		"compiled": {
			why: "a template is its object",
			err: &inject.CompileError{Findings: []inject.Finding{{Reason: reason.TemplateSyntax, Template: "t", File: "a", Line: 3, Detail: "d", Hint: "h"}, {Reason: reason.ConfigInvalid, Path: "values", Detail: "e"}}},
			want: []Finding{
				{ID: "INJ331", Severity: Error, Object: "template t", File: "a", Line: 3, Detail: "d", Hint: "h"},
				{ID: "INJ330", Severity: Error, Object: "configuration", Path: "values", Detail: "e"},
			},
		},
		"other": {why: "nothing is lost", err: errors.New("broken"), want: []Finding{{ID: "INJ330", Severity: Error, Object: "configuration", Detail: "broken"}}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, Faults(c.err)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
	got := Compiled([]inject.Finding{{Reason: reason.ConfigInvalid, Detail: "d"}}, Warning)
	if len(got) != 1 || got[0].Severity != Warning {
		t.Errorf("the severity is the caller's: %v", got)
	}
}

func TestConfiguration(t *testing.T) {
	cases := map[string]struct {
		why    string
		files  map[string][]byte
		values map[string]any
		want   []Finding
	}{
		"embedded": {why: "what we ship is clean", files: templates.Files()},
		"unknown key": {
			why:   "the nearest known key is the mend",
			files: map[string][]byte{"config.yaml": []byte(head + "defaultTemplate: [a]\n")},
			want: []Finding{{
				ID: "INJ330", Severity: Error, Object: "configuration", Path: "defaultTemplate", File: "config.yaml", Line: 3,
				Detail: "unknown field", Hint: "did you mean defaultTemplates?",
			}},
		},
		"selector label": {
			why: "a controller would not know its own pods",
			files: map[string][]byte{
				"config.yaml": []byte(head + "templates:\n- {name: a, file: a.yaml}\n"),
				"a.yaml":      []byte("metadata:\n  labels:\n    version: v2\n    a.example.com/x: y\n"),
			},
			want: []Finding{{
				ID: "INJ335", Severity: Warning, Object: "template a", Path: "metadata.labels[version]", File: "a.yaml", Line: 3,
				Detail: "the template sets the label version, which workloads use in their selectors", Hint: "use a label under a domain of your own",
			}},
		},
		"template": {
			why: "file and line of the template",
			files: map[string][]byte{
				"config.yaml": []byte(head + "templates:\n- name: a\n  text: |\n    spec:\n      hostname: {{ .ObjectMeta.Name }}\n"),
			},
			want: []Finding{{
				ID: "INJ333", Severity: Error, Object: "template a", File: "config.yaml", Line: 7,
				Detail: "{{ .ObjectMeta.Name }} places text that a pod controls into YAML", Hint: "write {{ .ObjectMeta.Name | quote }}",
			}},
		},
		"values beside": {
			why:    "a template may need values that another file has",
			files:  map[string][]byte{"config.yaml": []byte(head + "templates:\n- name: a\n  text: 'spec: {hostname: {{ .Values.host | quote }}}'\n")},
			values: map[string]any{"host": "a"},
		},
		"runs into a fault": {
			why: "the line is the template's",
			files: map[string][]byte{
				"config.yaml": []byte(head + "templates:\n- {name: a, file: a.yaml}\n"),
				"a.yaml":      []byte("spec:\n  hostname: x\n  subdomain: {{ .Values.none }}\n"),
			},
			want: []Finding{{
				ID: "INJ304", Severity: Error, Object: "template a", File: "a.yaml", Line: 3,
				Detail: ".Values.none is null or missing", Hint: "give it a value, or place it by way of default, with or if",
			}},
		},
		"container misspelt": {
			why: "the sidecar would be an ordinary container",
			files: map[string][]byte{
				"config.yaml": []byte(head + "templates:\n- name: a\n  text: 'spec: {containers: [{name: a, image: b}]}'\n  sidecars: [aa]\n  order:\n  - {container: a, before: [x]}\n"),
			},
			want: []Finding{{
				ID: "INJ209", Severity: Warning, Object: "template a", Path: "sidecars[0]", File: "config.yaml", Line: 6,
				Detail: `the template renders no container "aa" on the sample pods`, Hint: "it renders a",
			}},
		},
		"parameter": {
			why:   "file and line of the parameter",
			files: map[string][]byte{"config.yaml": []byte(head + "templates:\n- name: a\n  text: 'spec: {}'\n  parameters:\n  - {name: m, type: quantity, default: 2Gi, max: 1Gi}\n")},
			want: []Finding{{
				ID: "INJ330", Severity: Error, Object: "template a", Path: "parameters[0].default", File: "config.yaml", Line: 7,
				Detail: `"2Gi" is above the maximum 1Gi`, Hint: "give a quantity such as 500m or 64Mi from 0 to 1Gi",
			}},
		},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, Configuration(c.files, c.values)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
}
