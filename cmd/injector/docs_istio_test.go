// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
)

// istioFaults compiles a document of ours beside the injection configuration and the values of the example.
func istioFaults(document string) string {
	files := map[string][]byte{
		"config": []byte("policy: enabled\ntemplates: {sidecar: 'spec: {}'}"), "values": []byte(`{"global": {}}`), "injector.yaml": []byte(document),
	}
	c, err := istio.Parse(files)
	if err == nil {
		_, err = istio.New(c, inject.Options{})
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestDocsIstioConfigurations compiles the documents that the page shows.
func TestDocsIstioConfigurations(t *testing.T) {
	_, found := blocks(t, filepath.Join(repository, "docs", "istio.md"))
	seen := 0
	for _, b := range found {
		if text := strings.Join(b.lines, "\n"); b.language == "yaml" && strings.Contains(text, "dialect: istio") {
			seen++
			if fault := istioFaults(text); fault != "" {
				t.Errorf("docs/istio.md:%d: %s", b.line, fault)
			}
		}
	}
	if seen == 0 {
		t.Error("docs/istio.md shows no document with dialect: istio")
	}
}

// TestDocsIstioOptions holds the tables to the fields and options that the dialect reads.
func TestDocsIstioOptions(t *testing.T) {
	const head = configHead + "dialect: istio\n"
	_, list, _ := strings.Cut(istioFaults(head+"dialectOptions: {none: 1}\n"), "there are ")
	want := strings.FieldsFunc(strings.ReplaceAll(list, " and ", ", "), func(r rune) bool { return strings.ContainsRune(", \n", r) })
	page := text(t, "istio.md")
	if diff := cmp.Diff(want, column(rows(section(t, page, "### dialectOptions")), 0)); diff != "" {
		t.Errorf("docs/istio.md, dialectOptions (-read +page):\n%s", diff)
	}
	values := map[string]string{
		"policy": "enabled", "nativeSidecars": "auto", "proof": "always", "neverInjectSelector": "[{matchLabels: {a: b}}]",
		"alwaysInjectSelector": "[{matchLabels: {a: b}}]", "defaultTemplates": "[sidecar]", "aliases": "{a: [sidecar]}",
		"values": "{a: 1}", "templates": "[{name: a, text: a}]", "dialectOptions": "{cluster: east}", "ignoredNamespaces": "[a]",
	}
	reads := []string{"apiVersion", "dialect", "kind"}
	for field, value := range values {
		if istioFaults(head+field+": "+value+"\n") == "" {
			reads = append(reads, field)
		}
	}
	got := column(rows(section(t, page, "### Our own document")), 0)
	slices.Sort(reads)
	slices.Sort(got)
	if diff := cmp.Diff(reads, got); diff != "" {
		t.Errorf("docs/istio.md, fields of our own document (-read +page):\n%s", diff)
	}
}

// TestDocsIstioRules holds the table of the decision to the checks that explain prints.
func TestDocsIstioRules(t *testing.T) {
	var list []explanation
	if err := json.Unmarshal([]byte(command(t, []string{"explain", "--config", meshExample, "-f", examples + "/deployment.yaml", "-o", "json"}, nil)), &list); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range list[0].Checks {
		want = append(want, c.Name)
	}
	var got []string
	for _, cells := range rows(section(t, text(t, "istio.md"), "## Which pods are injected")) {
		got = append(got, codes(cells[1])[0])
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("docs/istio.md, the decision (-engine +page):\n%s", diff)
	}
}

// calls tells whether a template may call a function.
func calls(t *testing.T, name string) bool {
	t.Helper()
	fault := istioFaults(configHead + "dialect: istio\ntemplates:\n- name: other\n  text: '{{ if .Values.never }}{{ " + name + " }}{{ end }}'\n")
	missing := strings.Contains(fault, "there is no function "+name)
	if fault != "" && !missing {
		t.Fatalf("%s: %s", name, fault)
	}
	return !missing
}

// TestDocsIstioFunctions holds the page to the functions that there are, and to those of text/template and
// Sprig that there are not.
func TestDocsIstioFunctions(t *testing.T) {
	page := text(t, "istio.md")
	for _, name := range column(rows(section(t, page, "### Functions")), 0) {
		if !calls(t, name) {
			t.Errorf("docs/istio.md: no template can call %s", name)
		}
	}
	var want, got []string
	for _, name := range slices.Sorted(maps.Keys(sprig.TxtFuncMap())) {
		if !calls(t, name) {
			want = append(want, name)
		}
	}
	for _, name := range []string{"and", "call", "html", "index", "js", "len", "not", "or", "print", "printf", "println", "urlquery", "eq", "ge", "gt", "le", "lt", "ne"} {
		if !calls(t, name) {
			want = append(want, name)
		}
	}
	for _, cells := range rows(section(t, page, "### Functions that do not exist")) {
		got = append(got, codes(cells[1])...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/istio.md, functions that do not exist (-missing +page):\n%s", diff)
	}
}

// TestDocsIstioData renders every name that the page says templates read.
func TestDocsIstioData(t *testing.T) {
	for _, cells := range rows(section(t, text(t, "istio.md"), "### Data")) {
		for _, name := range codes(cells[0]) {
			document := configHead + "dialect: istio\ntemplates:\n- name: sidecar\n  text: '{{ if " + name + " }}{{ end }}spec: {}'\n"
			if fault := istioFaults(document); fault != "" {
				t.Errorf("docs/istio.md: %s: %s", name, fault)
			}
		}
	}
}

// TestDocsIstioMetrics holds the table to the metrics that the dialect adds.
func TestDocsIstioMetrics(t *testing.T) {
	rec := httptest.NewRecorder()
	newMetrics("default", true).Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	var want []string
	for _, found := range regexp.MustCompile(`(?m)^# HELP (sidecar_injection_\w+)`).FindAllStringSubmatch(rec.Body.String(), -1) {
		want = append(want, found[1])
	}
	got := column(rows(section(t, text(t, "istio.md"), "## Metrics")), 0)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/istio.md, metrics (-told +page):\n%s", diff)
	}
}

// TestDocsIstioRights reads the rights that the page shows as the API server would, strictly.
func TestDocsIstioRights(t *testing.T) {
	kinds := map[string]any{
		"Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{}, "ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
	}
	_, found := blocks(t, filepath.Join(repository, "docs", "istio.md"))
	for _, b := range found {
		if all := strings.Join(b.lines, "\n"); strings.Contains(all, "kind: ClusterRole") {
			for document := range strings.SplitSeq(all, "\n---\n") {
				var head struct{ Kind string }
				if err := yaml.Unmarshal([]byte(document), &head); err != nil {
					t.Fatal(err)
				}
				if into := kinds[head.Kind]; into != nil {
					delete(kinds, head.Kind)
					if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
						t.Errorf("docs/istio.md:%d: %s: %v", b.line, head.Kind, err)
					}
				}
			}
		}
	}
	if len(kinds) > 0 {
		t.Errorf("docs/istio.md shows no %v", slices.Sorted(maps.Keys(kinds)))
	}
}
