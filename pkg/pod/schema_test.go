// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestSchemaKnowsTheMergeKeys(t *testing.T) {
	cases := map[string]struct {
		path []string
		keys []string
	}{
		"containers":         {[]string{"spec", "containers"}, []string{"name"}},
		"init containers":    {[]string{"spec", "initContainers"}, []string{"name"}},
		"ports":              {[]string{"spec", "containers", "*", "ports"}, []string{"containerPort", "protocol"}},
		"env":                {[]string{"spec", "containers", "*", "env"}, []string{"name"}},
		"mounts":             {[]string{"spec", "containers", "*", "volumeMounts"}, []string{"mountPath"}},
		"devices":            {[]string{"spec", "containers", "*", "volumeDevices"}, []string{"devicePath"}},
		"claims":             {[]string{"spec", "containers", "*", "resources", "claims"}, []string{"name"}},
		"volumes":            {[]string{"spec", "volumes"}, []string{"name"}},
		"pull secrets":       {[]string{"spec", "imagePullSecrets"}, []string{"name"}},
		"host aliases":       {[]string{"spec", "hostAliases"}, []string{"ip"}},
		"topology spread":    {[]string{"spec", "topologySpreadConstraints"}, []string{"topologyKey", "whenUnsatisfiable"}},
		"resource claims":    {[]string{"spec", "resourceClaims"}, []string{"name"}},
		"tolerations":        {[]string{"spec", "tolerations"}, nil},
		"args":               {[]string{"spec", "containers", "*", "args"}, nil},
		"added capabilities": {[]string{"spec", "containers", "*", "securityContext", "capabilities", "add"}, nil},
	}
	for name, c := range cases {
		field := Schema().At(c.path...)
		if field == nil || field.Kind != List {
			t.Errorf("%s: no list at %v", name, c.path)
			continue
		}
		if diff := cmp.Diff(c.keys, field.MergeKeys); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if !Schema().At("metadata", "finalizers").Set {
		t.Error("finalizers are a set")
	}
}

func TestSchemaKnowsTheUnions(t *testing.T) {
	cases := map[string]struct {
		path    []string
		in, out string
	}{
		"volume":    {[]string{"spec", "volumes", "*"}, "emptyDir", "name"},
		"env":       {[]string{"spec", "containers", "*", "env", "*"}, "valueFrom", "name"},
		"source":    {[]string{"spec", "containers", "*", "env", "*", "valueFrom"}, "fieldRef", ""},
		"probe":     {[]string{"spec", "containers", "*", "livenessProbe"}, "grpc", "periodSeconds"},
		"lifecycle": {[]string{"spec", "containers", "*", "lifecycle", "preStop"}, "sleep", ""},
	}
	for name, c := range cases {
		union := Schema().At(c.path...).Union
		if !union[c.in] || union[c.out] {
			t.Errorf("%s: got %v", name, union)
		}
	}
}

func TestCheckNamesTheFault(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"unknown field": {`{"spec":{"contaiers":[]}}`, "spec.contaiers: unknown field"},
		"wrong list":    {`{"spec":{"containers":"x"}}`, `spec.containers: want a list, got "x"`},
		"wrong number":  {`{"spec":{"containers":[{"readinessProbe":{"failureThreshold":"many"}}]}}`, `spec.containers[0].readinessProbe.failureThreshold: want an integer of 32 bits, got "many"`},
		"wrong bool":    {`{"spec":{"hostNetwork":"true"}}`, `spec.hostNetwork: want true or false, got "true"`},
		"wrong object":  {`{"spec":{"securityContext":false}}`, "spec.securityContext: want an object, got false"},
		"bad quantity":  {`{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e999999999"}}}]}}`, `spec.containers[0].resources.limits.cpu: "1e999999999": the exponent of a quantity has at most 2 digits`},
	}
	for name, c := range cases {
		value, err := Decode([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		faults := Schema().Check(value)
		if len(faults) != 1 || faults[0].Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, faults, c.want)
		}
	}
}

func TestQuantityIsGuardedBeforeItIsParsed(t *testing.T) {
	good := map[string]string{"0.5": "500m", "1e-1": "100m", "100000u": "100m", "1Gi": "1Gi", "0": "0", "12E": "12E", "-1": "-1"}
	for in, want := range good {
		q, err := ParseQuantity(in)
		if err != nil || q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%s: got %s, %v, want %s", in, q.String(), err, want)
		}
	}
	for _, in := range []string{"", "100 m", "12e", "0x10", "1e9999999", "1e999999999", "1e-9999999", "1e-999999999", "2E6024865272343", "1e4294967297", string(make([]byte, 5000))} {
		if _, err := ParseQuantity(in); err == nil {
			t.Errorf("%.20q was accepted", in)
		}
	}
}
