// SPDX-License-Identifier: Apache-2.0

package values

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "null", "[]", "3", "{}", "a: &a [*a]", `{"global":{"tag":1.5,"proxy":{"resources":{"limits":{"cpu":1}}}}}`,
		"global:\n  imagePullSecrets: [a, 1]\n  sts: {servicePort: '1'}", strings.Repeat("[", 200), "global: {proxy_init: []}\n---\nb: 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse(text, config.Origin{File: "values", First: 1, Exact: true})
		if err != nil {
			var all config.Errors
			if !errors.As(err, &all) || len(all) == 0 || got != nil {
				t.Fatalf("an error without faults: %v", err)
			}
			return
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("the values are no JSON: %v", err)
		}
		again, err := Parse(written, config.Origin{})
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("the values, written out, read differently: %v", err)
		}
	})
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         map[string]any
	}{
		"empty":    {"an empty map will do", "{}", map[string]any{}},
		"numbers":  {"all numbers are float64", `{"global":{"tag":11,"proxy":{"statusPort":15020}}}`, map[string]any{"global": map[string]any{"tag": 11.0, "proxy": map[string]any{"statusPort": 15020.0}}}},
		"YAML":     {"YAML 1.1, as istiod reads it", "global: {logAsJson: yes, tag: 1.20}", map[string]any{"global": map[string]any{"logAsJson": true, "tag": 1.2}}},
		"unknown":  {"unknown fields are welcome", `{"mine":{"x":[1,null]},"global":{"proxy":{"mine":true}}}`, map[string]any{"mine": map[string]any{"x": []any{1.0, nil}}, "global": map[string]any{"proxy": map[string]any{"mine": true}}}},
		"null":     {"null fits everywhere", `{"global":{"proxy":{"resources":{"limits":{"cpu":null}},"image":null}},"pilot":null}`, map[string]any{"global": map[string]any{"proxy": map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": nil}}, "image": nil}}, "pilot": nil}},
		"quoted":   {"a number may stand in quotes", `{"global":{"sts":{"servicePort":"15463"}}}`, map[string]any{"global": map[string]any{"sts": map[string]any{"servicePort": "15463"}}}},
		"any":      {"some fields take anything", `{"gateways":{"securityContext":{"runAsUser":1}},"pilot":{"env":{"A":true,"B":"c"}}}`, map[string]any{"gateways": map[string]any{"securityContext": map[string]any{"runAsUser": 1.0}}, "pilot": map[string]any{"env": map[string]any{"A": true, "B": "c"}}}},
		"no alias": {"both signs alone are no alias", "a: '*'\nb: x&y", map[string]any{"a": "*", "b": "x&y"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.text), config.Origin{File: "values", First: 1})
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         []string
	}{
		"nothing":      {"it is told how to mend it", "", []string{"values:5: there are no values"}},
		"null":         {"null is nothing", "null", []string{"values:5: there are no values"}},
		"list":         {"values are a map", "[]", []string{"values:5: want a map, got a list"}},
		"quantity":     {"a quantity is quoted", "global: {proxy: {resources: {limits: {cpu: 2}, requests: []}}}", []string{"values:5: global.proxy.resources.limits.cpu: want a string, got the number 2", "values:5: global.proxy.resources.requests: want a map, got a list"}},
		"secrets":      {"each item is a name", `{"global":{"imagePullSecrets":["a",{"name":"b"}]}}`, []string{"values:5: global.imagePullSecrets[1]: want a string, got a map"}},
		"no list":      {"a list is a list", `{"global":{"imagePullSecrets":"a"}}`, []string{`values:5: global.imagePullSecrets: want a list, got the string "a"`}},
		"ports":        {"lists of ports are text", `{"global":{"proxy":{"excludeInboundPorts":22}}}`, []string{"values:5: global.proxy.excludeInboundPorts: want a string, got the number 22"}},
		"boolean":      {"a boolean is not in quotes", `{"sidecarInjectorWebhook":{"rewriteAppHTTPProbe":"true"}}`, []string{`values:5: sidecarInjectorWebhook.rewriteAppHTTPProbe: want true or false, got the string "true"`}},
		"fraction":     {"an integer has none", `{"global":{"proxy":{"statusPort":1.5,"readinessPeriodSeconds":5000000000}}}`, []string{"values:5: global.proxy.readinessPeriodSeconds: want an integer of 32 bits, got the number 5000000000", "values:5: global.proxy.statusPort: want an integer of 32 bits, got the number 1.5"}},
		"number":       {"a number is one", `{"pilot":{"traceSampling":true,"cni":{"enabled":1},"env":"A=b"}}`, []string{"values:5: pilot.cni.enabled: want true or false, got the number 1", `values:5: pilot.env: want a map, got the string "A=b"`, "values:5: pilot.traceSampling: want a number, got the boolean true"}},
		"no YAML":      {"the line of the parser", "a: 1\nb: c: d", []string{"values:5: neither JSON nor YAML: mapping values are not allowed in this context"}},
		"alias":        {"aliases are not read", "a: &a [x]\nb: *a", []string{"values:5: YAML aliases are not read here"}},
		"broken alias": {"nor is what may be one", "a: &a [*a, : b", []string{"values:5: YAML aliases are not read here"}},
		"deep":         {"depth is bounded", `{"a":` + strings.Repeat("[", 120) + strings.Repeat("]", 120) + "}", []string{"values:5: a" + strings.Repeat("[0]", 100) + ": more than 100 maps and lists in each other"}},
		"long":         {"length is bounded", `"` + strings.Repeat("x", maxText) + `"`, []string{"values:5: the text has 1048578 bytes, and at most 1048576 are read"}},
		"long text":    {"messages are short", `{"pilot":"` + strings.Repeat("x", 60) + `"}`, []string{`values:5: pilot: want a map, got the string "` + strings.Repeat("x", 40) + `…"`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text), config.Origin{File: "values", First: 5})
			var got []string
			var all config.Errors
			if errors.As(err, &all) {
				got = strings.Split(all.Error(), "\n")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
	_, err := Parse(nil, config.Origin{})
	var all config.Errors
	if !errors.As(err, &all) || !strings.Contains(all[0].Hint, `"values"`) {
		t.Errorf("no hint for no values: %v", err)
	}
}

// TestFaultsHaveLines shows that a fault stands at its own line, in JSON and in YAML, however its keys are
// written; in a text whose lines are not the file's it stands at the first.
func TestFaultsHaveLines(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		exact        bool
		want         string
	}{
		"JSON":       {"the charts write it", "{\n  \"global\": {\n    \"tag\": [],\n    \"hub\": 3\n  }\n}", true, "values:8: global.hub: want a string, got the number 3"},
		"YAML":       {"people write it", "global:\n  imagePullSecrets:\n  - a\n  - 1\n  hub: 3", true, "values:8: global.imagePullSecrets[1]: want a string, got the number 1\nvalues:9: global.hub: want a string, got the number 3"},
		"dotted key": {"a key may hold a dot", "global:\n  proxy:\n    resources:\n      limits:\n        a.b/c: 3", true, "values:9: global.proxy.resources.limits.a.b/c: want a string, got the number 3"},
		"folded":     {"its lines are lost", "global:\n  hub: 3", false, "values:5: global.hub: want a string, got the number 3"},
	}
	for name, tc := range tests {
		_, err := Parse([]byte(tc.text), config.Origin{File: "values", First: 5, Exact: tc.exact})
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", name, tc.reason, diff)
		}
	}
}

// TestManyFaults shows that the faults told at once are bounded.
func TestManyFaults(t *testing.T) {
	_, err := Parse([]byte(`{"global":{"imagePullSecrets":[`+strings.Repeat("1,", 1000)+`1]}}`), config.Origin{})
	var all config.Errors
	if !errors.As(err, &all) || len(all) != maxFaults {
		t.Errorf("%d faults are told", len(all))
	}
}

// TestChart shows that the table of types is one that the checker can read: a name for each field,
// and nothing but the kinds that it knows.
func TestChart(t *testing.T) {
	fields := 0
	var visit func(path string, of reflect.Type)
	visit = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Struct:
			seen := map[string]bool{}
			for i := range of.NumField() {
				name := of.Field(i).Tag.Get("json")
				if name == "" || seen[name] {
					t.Errorf("%s: the name %q is missing or twice", path, name)
				}
				seen[name] = true
				fields++
				visit(path+"."+name, of.Field(i).Type)
			}
		case reflect.Map, reflect.Slice:
			visit(path+"[]", of.Elem())
		case reflect.String, reflect.Bool, reflect.Int64, reflect.Float64, reflect.Interface:
		default:
			t.Errorf("%s: nothing checks a %s", path, of)
		}
	}
	visit("", reflect.TypeFor[chart]())
	if fields < 100 {
		t.Errorf("only %d fields", fields)
	}
}
