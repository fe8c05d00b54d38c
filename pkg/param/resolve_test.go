// SPDX-License-Identifier: Apache-2.0

package param

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func TestResolveSources(t *testing.T) {
	p := config.Parameter{Name: "memory", Type: "quantity", Default: text("0.5Gi"), Annotation: key}
	tests := map[string]struct {
		reason         string
		p              config.Parameter
		pod, namespace map[string]string
		want           Value
	}{
		"pod":       {"the pod wins", p, map[string]string{key: "1Gi"}, map[string]string{key: "2Gi"}, Value{"memory", "1Gi", "1Gi", "pod", key}},
		"namespace": {"the namespace comes next", p, map[string]string{"other": "1"}, map[string]string{key: "2Gi"}, Value{"memory", "2Gi", "2Gi", "namespace", key}},
		"default":   {"the default comes last, and is canonical too", p, nil, nil, Value{"memory", "512Mi", "0.5Gi", "default", key}},
		"nothing":   {"a template asks with the word with", config.Parameter{Name: "p", Type: "int", Annotation: key}, nil, nil, Value{"p", nil, "", "default", key}},
		"no key":    {"an empty annotation key sets nothing", config.Parameter{Name: "p", Type: "int", Default: text("1")}, map[string]string{"": "2"}, nil, Value{"p", int64(1), "1", "default", ""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, refusal := compile(t, tc.p).Resolve(tc.pod, tc.namespace)
			if refusal != nil {
				t.Fatalf("%s: %v", tc.reason, refusal)
			}
			if diff := cmp.Diff([]Value{tc.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolveRefusals(t *testing.T) {
	cpu := config.Parameter{Name: "cpu", Type: "quantity", Default: text("100m"), Annotation: "x.example/cpu", AtMost: "cpuLimit"}
	limit := config.Parameter{Name: "cpuLimit", Type: "quantity", Default: text("1"), Annotation: "x.example/cpu-limit", Max: "8"}
	fixed := config.Parameter{Name: "cpuLimit", Type: "quantity", Default: text("1")}
	tests := map[string]struct {
		reason         string
		params         []config.Parameter
		pod, namespace map[string]string
		want           reason.Refusal
	}{
		"bound": {
			reason: "field, value and bound are named",
			params: []config.Parameter{limit},
			pod:    map[string]string{"x.example/cpu-limit": "9"},
			want: reason.Refusal{
				Path:   "metadata.annotations[x.example/cpu-limit]",
				Detail: `parameter cpuLimit of template t: "9" is above the maximum 8`,
				Hint:   "give a quantity such as 500m or 64Mi from 0 to 8, or remove the annotation",
			},
		},
		"namespace": {
			reason: "the namespace's owner must mend it",
			params: []config.Parameter{limit}, namespace: map[string]string{"x.example/cpu-limit": "100 m"},
			want: reason.Refusal{
				Path:   "namespace metadata.annotations[x.example/cpu-limit]",
				Detail: `parameter cpuLimit of template t: "100 m" is no quantity: want a number with a suffix such as m, Ki, Mi, G, or an exponent`,
				Hint:   "give a quantity such as 500m or 64Mi from 0 to 8, or remove the annotation",
			},
		},
		"request over limit": {
			reason: "one message names both annotations and values",
			params: []config.Parameter{cpu, limit},
			pod:    map[string]string{"x.example/cpu": "3", "x.example/cpu-limit": "1000m"},
			want: reason.Refusal{
				Path:   "metadata.annotations[x.example/cpu]",
				Detail: `x.example/cpu is "3", more than x.example/cpu-limit, which is "1000m"`,
				Hint:   "lower x.example/cpu or raise x.example/cpu-limit",
			},
		},
		"default over lowered limit": {
			reason: "the path is that of what was set",
			params: []config.Parameter{limit, cpu}, namespace: map[string]string{"x.example/cpu-limit": "50m"},
			want: reason.Refusal{
				Path:   "namespace metadata.annotations[x.example/cpu-limit]",
				Detail: `x.example/cpu by default is "100m", more than x.example/cpu-limit of the namespace, which is "50m"`,
				Hint:   "lower x.example/cpu or raise x.example/cpu-limit",
			},
		},
		"over a fixed limit": {
			reason: "a limit without annotation is named by its parameter",
			params: []config.Parameter{cpu, fixed}, pod: map[string]string{"x.example/cpu": "2"},
			want: reason.Refusal{
				Path:   "metadata.annotations[x.example/cpu]",
				Detail: `x.example/cpu is "2", more than parameter cpuLimit by default, which is "1"`,
				Hint:   "lower x.example/cpu or raise parameter cpuLimit",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, got := compile(t, tc.params...).Resolve(tc.pod, tc.namespace)
			tc.want.Reason = reason.ParameterInvalid
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolveComparesOneKind(t *testing.T) {
	set := compile(t,
		config.Parameter{Name: "cpu", Type: "quantity", Annotation: "x/cpu", AtMost: "cpuLimit"},
		config.Parameter{Name: "cpuLimit", Type: "quantity", Annotation: "x/cpu-limit"},
		config.Parameter{Name: "memory", Type: "quantity", Annotation: "x/memory", AtMost: "memoryLimit"},
		config.Parameter{Name: "memoryLimit", Type: "quantity", Annotation: "x/memory-limit"},
	)
	for _, pod := range []map[string]string{
		{"x/cpu": "2", "x/cpu-limit": "2", "x/memory": "512Mi", "x/memory-limit": "1Gi"},
		{"x/cpu": "2", "x/memory-limit": "1"},
		{},
	} {
		if _, refusal := set.Resolve(pod, nil); refusal != nil {
			t.Errorf("%v: %v", pod, refusal)
		}
	}
	if got, refusal := (Set{}).Resolve(nil, nil); got != nil || refusal != nil {
		t.Errorf("no parameters gave %v, %v", got, refusal)
	}
}

// Under the race detector this also shows that a set may be shared.
func TestResolveGivesListsAway(t *testing.T) {
	set := compile(t,
		config.Parameter{Name: "ports", Type: "ports", Default: text("80,81")},
		config.Parameter{Name: "a", Type: "quantity", Default: text("0.1"), AtMost: "b"},
		config.Parameter{Name: "b", Type: "quantity", Default: text("1Gi"), Annotation: key},
	)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			got, refusal := set.Resolve(map[string]string{key: "12345678901234567"}, nil)
			if refusal != nil || got[0].Value.([]any)[0] != int64(80) {
				t.Errorf("got %v, %v", got, refusal)
				return
			}
			got[0].Value.([]any)[0] = int64(1)
		})
	}
	wait.Wait()
}

func TestNewFaults(t *testing.T) {
	tests := map[string]struct {
		reason string
		params []config.Parameter
		want   []Fault
	}{
		"bounds": {
			reason: "they are read as the type, and in order",
			params: []config.Parameter{
				{Name: "a", Type: "quantity", Min: "2", Max: "1", Default: text("0")},
				{Name: "b", Type: "int", Min: "x", Max: "1e3"},
				{Name: "c", Type: "string", Max: "70000"},
				{Name: "d", Type: "ports", Max: "70000"},
				{Name: "e", Type: "duration", Min: "5"},
				{Name: "f", Type: "bool", Min: "true"},
				{Name: "g", Type: "quantity", Max: "1e999999999"},
			},
			want: []Fault{
				{"parameters[0].min", `"2" is more than the maximum "1"`, ""},
				{"parameters[0].default", `"0" is below the minimum 2`, "give a quantity such as 500m or 64Mi from 2 to 1"},
				{"parameters[1].min", `"x" is no 64-bit integer in plain decimal digits`, ""},
				{"parameters[1].max", `"1e3" is no 64-bit integer in plain decimal digits`, ""},
				{"parameters[2].max", `"70000" is no length from 0 to 65536`, "of a string, the bounds are those of its length"},
				{"parameters[3].max", `"70000" is no port from 1 to 65535`, ""},
				{"parameters[4].min", `"5" is no duration`, ""},
				{"parameters[5].min", `means nothing for type bool`, ""},
				{"parameters[6].max", `"1e999999999": the exponent of a quantity has at most 2 digits`, ""},
			},
		},
		"defaults": {
			reason: "a default is a value that a pod could set",
			params: []config.Parameter{
				{Name: "a", Type: "enum", Values: []string{"x", "y"}, Default: text("z")},
				{Name: "b", Type: "string", Pattern: "[a-z]+", Default: text("A")},
				{Name: "c", Type: "port", Default: text("0x10")},
				{Name: "d", Type: "image", Default: text("a b")},
				{Name: "e", Type: "cidrs", Default: text("10.0.0.1")},
				{Name: "f", Type: "bool", Default: text("yes")},
				{Name: "g", Type: "int", Min: "1", Default: text("0")},
				{Name: "h", Type: "duration", Max: "1m", Default: text("1h")},
				{Name: "i", Type: "ports", Default: text("a")},
				{Name: "j", Type: "int", Max: "1", Default: text("2")},
			},
			want: []Fault{
				{"parameters[0].default", `"z" is none of x, y`, "give one of x, y"},
				{"parameters[1].default", `"A" does not match the pattern [a-z]+`, "give a text without control characters, with a length of at most 4096 that matches [a-z]+"},
				{"parameters[2].default", `"0x10" is no port from 1 to 65535`, "give a port from 1 to 65535"},
				{"parameters[3].default", `"a b" is no image reference`, "give an image such as registry.example/team/agent:1.2"},
				{"parameters[4].default", `"10.0.0.1" is no network in CIDR notation`, "give networks such as 10.0.0.0/8,fd00::/8"},
				{"parameters[5].default", `"yes" is neither true nor false`, "give true or false"},
				{"parameters[6].default", `"0" is below the minimum 1`, "give an integer of at least 1"},
				{"parameters[7].default", `"1h" is above the maximum 1m`, "give a duration such as 30s or 1m30s from 0 to 1m"},
				{"parameters[8].default", `"a" is no port from 1 to 65535`, "give ports such as 8080,9090 from 1 to 65535"},
				{"parameters[9].default", `"2" is above the maximum 1`, "give an integer of at most 1"},
			},
		},
		"atMost": {
			reason: "the defaults must stand beside each other",
			params: []config.Parameter{
				{Name: "a", Type: "int", Default: text("2"), AtMost: "b"},
				{Name: "b", Type: "int", Default: text("1")},
				{Name: "c", Type: "quantity", AtMost: "b"},
				{Name: "d", Type: "port", AtMost: "d"},
			},
			want: []Fault{
				{"parameters[2].atMost", `"b" is no other parameter that can be compared`, ""},
				{"parameters[3].atMost", `"d" is no other parameter that can be compared`, ""},
				{"parameters[0].default", `"2" is more than "1", the default of b`, "a pod that sets neither would be refused"},
			},
		},
		"keys": {
			reason: "our own keys mean something else",
			params: []config.Parameter{{Name: "a", Type: "int", Annotation: "pillion.dev/inject"}, {Name: "b", Type: "number"}, {Name: "c", Type: "string", Pattern: "("}},
			want: []Fault{
				{"parameters[0].annotation", "pillion.dev/inject is the injector's own label", "choose a key such as t.pillion.dev/a"},
				{"parameters[1].type", `"number" is no type of parameter`, ""},
				{"parameters[2].pattern", "error parsing regexp: missing closing ): `\\A(?:()\\z`", ""},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set, got := New(config.Template{Name: "t", Parameters: tc.params})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if set.params != nil {
				t.Error("a set that does not hold together was given out")
			}
		})
	}
}
