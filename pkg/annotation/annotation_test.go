// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestRegistryHoldsTogether(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All() {
		if errs := validation.IsQualifiedName(k.Name); len(errs) > 0 || !strings.HasPrefix(k.Name, Domain+"/") {
			t.Errorf("%s is no key of ours: %v", k.Name, errs)
		}
		if seen[k.Name] {
			t.Errorf("%s is there twice", k.Name)
		}
		seen[k.Name] = true
		if k.Kind.String() == "" || len(k.On) == 0 || k.Type == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s lacks a kind, a place, a type or a sentence", k.Name)
		}
		if (k.Type == TypeEnum) != (len(k.Values) > 0) {
			t.Errorf("%s: an enum has values, and nothing else has", k.Name)
		}
		if got, ok := Lookup(k.Name); !ok || !cmp.Equal(got, k) {
			t.Errorf("Lookup(%s) = %v, %v", k.Name, got, ok)
		}
	}
	if _, ok := Lookup("pillion.dev/overrides"); ok {
		t.Error("a key that nothing reads is in the registry")
	}
}

func TestAllIsACopy(t *testing.T) {
	All()[0].Values[0] = "changed"
	if got := All()[0].Values[0]; got != Enabled {
		t.Errorf("a caller changed the registry: %q", got)
	}
}

// commonStart is a stand-in for a distance: the words differ in all that follows their common start.
func commonStart(word string, known []string, most int) string {
	for _, k := range known {
		n := 0
		for n < min(len(k), len(word)) && k[n] == word[n] {
			n++
		}
		if max(len(k), len(word))-n <= most {
			return k
		}
	}
	return ""
}

func TestWarn(t *testing.T) {
	declared := []string{"logs.pillion.dev/memory", "agent.example/log-level"}
	tests := map[string]struct {
		reason              string
		labels, annotations map[string]string
		want                []Problem
	}{
		"right keys": {
			reason:      "what does its work is not worth a word",
			labels:      map[string]string{Inject: "enabled", Revision: "v2", Injected: "true", "app": "web"},
			annotations: map[string]string{Templates: "a", Status: "{}", "logs.pillion.dev/memory": "64Mi", "agent.example/log-level": "info"},
		},
		"a label as annotation": {
			reason:      "the selectors see labels alone",
			annotations: map[string]string{Inject: "enabled"},
			want: []Problem{{
				Key: Inject, Kind: Annotation, WrongKind: true, Nearest: Inject,
				Detail: "this key belongs among the labels",
			}},
		},
		"annotations as labels": {
			reason: "both ours and a parameter's, in the order of the keys",
			labels: map[string]string{Templates: "a", "logs.pillion.dev/memory": "64Mi"},
			want: []Problem{
				{Key: "logs.pillion.dev/memory", Kind: Label, WrongKind: true, Nearest: "logs.pillion.dev/memory", Detail: "this key belongs among the annotations"},
				{Key: Templates, Kind: Label, WrongKind: true, Nearest: Templates, Detail: "this key belongs among the annotations"},
			},
		},
		"misspelt": {
			reason:      "labels come first",
			labels:      map[string]string{"pillion.dev/injection": "enabled"},
			annotations: map[string]string{"pillion.dev/template": "a", "logs.pillion.dev/memori": "1Gi"},
			want: []Problem{
				{Key: "pillion.dev/injection", Kind: Label, Nearest: Inject, Detail: "no such key, did you mean pillion.dev/inject?"},
				{Key: "logs.pillion.dev/memori", Kind: Annotation, Nearest: "logs.pillion.dev/memory", Detail: "no such key, did you mean logs.pillion.dev/memory?"},
				{Key: "pillion.dev/template", Kind: Annotation, Nearest: Templates, Detail: "no such key, did you mean pillion.dev/templates?"},
			},
		},
		"nothing near, ours": {
			reason:      "below our domain an unknown key is told even if nothing is near",
			annotations: map[string]string{"config.alpha.pillion.dev/zzzzzzzzzzzz": "1"},
			want:        []Problem{{Key: "config.alpha.pillion.dev/zzzzzzzzzzzz", Kind: Annotation, Detail: "no such key"}},
		},
		"near miss elsewhere": {
			reason:      "the parameter's author would want to know",
			annotations: map[string]string{"agent.example/log-levle": "info"},
			want:        []Problem{{Key: "agent.example/log-levle", Kind: Annotation, Nearest: "agent.example/log-level", Detail: "no such key, did you mean agent.example/log-level?"}},
		},
		"other keys elsewhere": {
			reason:      "the domain's owner has keys of their own",
			labels:      map[string]string{"agent.example/team": "a", "notpillion.dev/x": "1", "pillion.dev": "1", "other.example/log-levle": "x"},
			annotations: map[string]string{"agent.example/log-format": "json", "agent.example/l": "x"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Warn(tc.labels, tc.annotations, declared, commonStart)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWarnIsBounded(t *testing.T) {
	given := map[string]string{}
	for i := range 100 {
		given["pillion.dev/"+strings.Repeat("z", i+20)] = ""
	}
	got := Warn(given, given, nil, commonStart)
	if len(got) != maxProblems || got[0].Key != "pillion.dev/"+strings.Repeat("z", 20) {
		t.Errorf("got %d problems, the first %q", len(got), got[0].Key)
	}
	if got[0].Path() != "metadata.labels["+got[0].Key+"]" {
		t.Errorf("path %q", got[0].Path())
	}
}
