// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func checked(t *testing.T, labels, annotations map[string]string) (*reason.Refusal, []reason.Warning) {
	t.Helper()
	m, err := mesh.Parse(nil, config.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Mesh: m, DefaultTemplates: []string{"a"}, Templates: []Template{
		{Name: "a", Text: "{{ index .ObjectMeta.Annotations `" + userVolumeKey + "` }}{{ index .ObjectMeta.Annotations `" + userMountKey + "` }}{{/* " + datadogKey + " */}}"},
		{Name: "b"},
	}}
	r := &run{Work: &inject.Work{}, d: &dialect{config: c, mentions: mentions(c.Templates)}, head: headOf(labels, annotations)}
	refusal, _ := r.check().(*reason.Refusal)
	return refusal, r.Warnings
}

// A volume by annotation is judged only where a template brings it into the pod.
func TestWhatNoTemplateReadsIsNotJudged(t *testing.T) {
	for _, key := range []string{userVolumeKey, userMountKey} {
		given := map[string]string{key: `{"v": 1}`, templatesKey: "b"}
		if refusal, _ := checked(t, nil, given); refusal != nil {
			t.Errorf("%s: no template reads it: %v", key, refusal)
		}
		given[templatesKey] = "b, a"
		if refusal, _ := checked(t, nil, given); refusal == nil {
			t.Errorf("%s: a template reads it, but it passes", key)
		}
	}
}

// No value breaks a check, what is refused is named with its key, and what passes and is placed into
// YAML stays on its line.
func FuzzCheck(f *testing.F) {
	for i, k := range registry {
		f.Add(uint8(i), "")
		f.Add(uint8(i), k.Bounds+"\n")
	}
	f.Add(uint8(0), "1,2, 3")
	f.Fuzz(func(t *testing.T, at uint8, value string) {
		key := registry[int(at)%len(registry)]
		given := map[string]string{key.Name: value}
		var refusal *reason.Refusal
		if key.Place == PodAnnotation {
			refusal, _ = checked(t, nil, given)
		} else {
			refusal, _ = checked(t, given, nil)
		}
		if refusal == nil {
			if key.check != nil && key.Type != TypePort && key.Type != TypePorts && key.Type != TypeJSON && strings.ContainsAny(value, "\r\n") {
				t.Errorf("%s passes with %q", key.Name, value)
			}
			return
		}
		if len(refusal.Causes) != 1 || refusal.Causes[0].Path != refusal.Path || !strings.Contains(refusal.Detail, "'"+key.Name+"'") {
			t.Errorf("%s: %q: got %v", key.Name, value, refusal)
		}
		if strings.ContainsAny(refusal.Detail, "\r\n\t\x00") || len(refusal.Detail) > 4<<10 {
			t.Errorf("the detail is no line: %q", refusal.Detail)
		}
	})
}

func TestValues(t *testing.T) {
	long := strings.Repeat("x", 16)
	tests := map[string]struct {
		reason    string
		good, bad []string
	}{
		interceptionKey:     {"the three modes, as they are spelt", []string{"REDIRECT", "TPROXY", "NONE"}, []string{"", "redirect", "NONE "}},
		statusPortKey:       {"a port of 16 bits", []string{"0", "65535", " 15021 "}, []string{"", "65536", "-1", "http", "0x10", "1_0"}},
		periodKey:           {"a number of 32 bits", []string{"0", "4294967295"}, []string{"", "4294967296", " 1", "1.5", "-1"}},
		includeRangesKey:    {"all, or CIDRs", []string{"", "*", "10.0.0.0/8", "10.1.2.3/8,fd00::/8"}, []string{"*,10.0.0.0/8", "10.0.0.1", "10.0.0.0/8, 10.1.0.0/16", "10.0.0.0/33", ","}},
		excludeRangesKey:    {"CIDRs alone", []string{"", "0.0.0.0/0"}, []string{"*", "any"}},
		includeInboundKey:   {"all, or ports", []string{"", "*", "80", "80, 443"}, []string{"*,80", "80,", "http", "80;443"}},
		excludeInboundKey:   {"ports alone", []string{"", " ", "0,65535"}, []string{"*", "70000"}},
		excludeOutboundKey:  {"ports alone", []string{"", "53"}, []string{"*", "dns"}},
		includeOutboundKey:  {"as the original takes it, but for what ends a quoted text", []string{"", "*", "80,443", "odd"}, []string{"80\", \"x\": \"y", "80\n", "}"}},
		excludeDevicesKey:   {"names that the kernel could have given", []string{"", "eth0", "net1,br-2", "veth+", "eth0.100"}, []string{long, "a b", "a;b", "eth0,x$y", "a/b"}},
		kubevirtKey:         {"likewise", []string{"k6t-net0"}, []string{"net\n1"}},
		rerouteKey:          {"likewise", []string{"net1, net2"}, []string{"`id`"}},
		mergeMetricsKey:     {"a boolean as Go reads it", []string{"true", "F", "0"}, []string{"", "yes", "tRue"}},
		cpuKey:              {"a quantity", []string{"100m", "2", "0.5"}, []string{"", "much", "1\t", "1e999999999", "100m\"\n- x"}},
		memoryLimitKey:      {"a quantity", []string{"1Gi", "0"}, []string{"1gb", "1Gi\x00"}},
		logLevelKey:         {"one line", []string{"", "debug", "any: {text} #1"}, []string{"info\n", "a\u2028b", "a\x7f", "\xff"}},
		imageKey:            {"one line", []string{"registry.example/proxy:1"}, []string{"x\nprivileged: true"}},
		proxyConfigKey:      {"a ProxyConfig that a proxy can start with", []string{"", "concurrency: 2", `{"drainDuration": "10s"}`}, []string{"concurrency: [2]", "drainDuration: 0s", "- x", "a: b: c"}},
		userVolumeKey:       {"what is no object is the template's affair", []string{"{}", "{\n}", "none", `{"v": {"configMap": {"items": [{"key": "k", "path": "a/b"}]}}}`}, []string{`{"v": 1}`, `{"v": {"configMap": {"items": [{"key": "k", "path": "/a"}]}}}`, `{"v": {"projected": {"sources": [{"secret": {"items": [{"key": "k", "path": "../a"}]}}]}}}`}},
		userMountKey:        {"a mount by its volume", []string{"{}", `{"v": {"mountPath": "/v"}}`}, []string{`{"v": "/v"}`}},
		templatesKey:        {"names are trimmed", []string{"a,\nb\n"}, nil},
		metricsPathKey:      {"no template reads it", []string{"/x\n"}, nil},
		"example.com/other": {"not ours", []string{"\x00"}, nil},
	}
	for key, tc := range tests {
		t.Run(key, func(t *testing.T) {
			for _, value := range tc.good {
				if refusal, _ := checked(t, nil, map[string]string{key: value}); refusal != nil {
					t.Errorf("%s: %q is refused: %v", tc.reason, value, refusal)
				}
			}
			for _, value := range tc.bad {
				if refusal, _ := checked(t, nil, map[string]string{key: value}); refusal == nil {
					t.Errorf("%s: %q passes", tc.reason, value)
				}
			}
		})
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	refusal, _ := checked(t, map[string]string{"app": "a\nb", "tier": "\n"}, map[string]string{
		interceptionKey: "none", periodKey: "soon", logLevelKey: "debug", excludeRangesKey: "10.0.0.0/8,all",
	})
	causes := []reason.Cause{
		{Path: "metadata.annotations[" + periodKey + "]", Detail: "invalid value 'soon' for annotation '" + periodKey + "': want a whole number from 0 to 4294967295"},
		{Path: "metadata.annotations[" + interceptionKey + "]", Detail: "invalid value 'none' for annotation '" + interceptionKey + "': want REDIRECT, TPROXY or NONE"},
		{Path: "metadata.annotations[" + excludeRangesKey + "]", Detail: "invalid value '10.0.0.0/8,all' for annotation '" + excludeRangesKey + `': "all" is no CIDR, such as 10.0.0.0/8`},
		{Path: "metadata.labels[app]", Detail: `invalid value 'a\nb' for label 'app': it holds the character U+000A, want printable ones only`},
	}
	want := &reason.Refusal{
		Reason: reason.ParameterInvalid, Path: causes[0].Path, Causes: causes, Hint: "correct the value, or remove it to have the mesh's default",
		Detail: causes[0].Detail + "; " + causes[1].Detail + "; " + causes[2].Detail + "; " + causes[3].Detail,
	}
	if diff := cmp.Diff(want, refusal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProxyConfigFaultsAreTold(t *testing.T) {
	refusal, warnings := checked(t, nil, map[string]string{proxyConfigKey: "drainDuration: 0s\nstatusPort: 70000\nconcurency: 2"})
	if refusal == nil || !strings.Contains(refusal.Detail, "drain") || !strings.Contains(refusal.Detail, `drainDuration: 0s\nstatusPort`) {
		t.Errorf("the fields and the value are named: %v", refusal)
	}
	if len(warnings) != 1 || warnings[0].Path != "metadata.annotations[proxy.istio.io/config]" || !strings.Contains(warnings[0].Detail, "concurrency") {
		t.Errorf("the misspelt field is told: %v", warnings)
	}
}

// A nil *Refusal in an error is no nil error.
func TestNoFaultIsNoError(t *testing.T) {
	r := &run{Work: &inject.Work{}, d: &dialect{}, head: headOf(nil, map[string]string{logLevelKey: "debug"})}
	var refusal *reason.Refusal
	if err := r.check(); err != nil || errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	refusal, _ := checked(t, nil, map[string]string{excludeInboundKey: strings.Repeat("é", 1000)})
	if n := strings.Count(refusal.Detail, "é"); n != 2*maxShown {
		t.Errorf("the value shows %d letters, want %d twice", n, maxShown)
	}
}
