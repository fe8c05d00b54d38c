// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func TestResourcesThatContradictEachOther(t *testing.T) {
	var reads strings.Builder
	for _, key := range []string{cpuKey, cpuLimitKey, memoryKey, memoryLimitKey} {
		reads.WriteString("#{{ index .ObjectMeta.Annotations `" + key + "` }}\n")
	}
	template := reads.String() + "spec: {containers: [{name: istio-proxy, image: a}]}"
	const app = "{name: app, image: b}"
	tests := map[string]struct {
		reason, template, notes, containers string
		want                                []string
	}{
		"above":        {"nobody could run it", template, "{sidecar.istio.io/proxyCPU: '3', sidecar.istio.io/proxyCPULimit: 1500m}", app, []string{"invalid value '3' for annotation 'sidecar.istio.io/proxyCPU': it is above the limit '1500m' of annotation 'sidecar.istio.io/proxyCPULimit'"}},
		"equal":        {"that is allowed", template, "{sidecar.istio.io/proxyCPU: '1', sidecar.istio.io/proxyCPULimit: 1000m}", app, nil},
		"other kind":   {"a CPU is no memory", template, "{sidecar.istio.io/proxyCPU: '2', sidecar.istio.io/proxyMemoryLimit: '1'}", app, nil},
		"less than 0":  {"there is no such thing; both are told", template, "{sidecar.istio.io/proxyMemory: -1Mi, sidecar.istio.io/proxyMemoryLimit: '-2'}", app, []string{"invalid value '-1Mi' for annotation 'sidecar.istio.io/proxyMemory': want 0 or more", "invalid value '-2' for annotation 'sidecar.istio.io/proxyMemoryLimit': want 0 or more", "invalid value '-1Mi'", "invalid value '-2'"}},
		"nothing":      {"0 is a quantity", template, "{sidecar.istio.io/proxyCPU: '0', sidecar.istio.io/proxyCPULimit: '0'}", app, nil},
		"no quantity":  {"that alone is told", template, "{sidecar.istio.io/proxyCPU: lots, sidecar.istio.io/proxyCPULimit: '1'}", app, []string{"\"lots\" is no quantity"}},
		"not read":     {"no template takes it", "spec: {containers: [{name: istio-proxy, image: a}]}", "{sidecar.istio.io/proxyCPU: '3', sidecar.istio.io/proxyCPULimit: '1'}", app, nil},
		"author's own": {"fields win over annotations", template, "{sidecar.istio.io/proxyCPU: '3', sidecar.istio.io/proxyCPULimit: '1'}", app + ", {name: istio-proxy, image: auto, resources: {requests: {cpu: 1m}}}", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := injectedBy(t, tc.template, "metadata: {name: a, annotations: "+tc.notes+"}\nspec: {containers: ["+tc.containers+"]}", inject.Facts{})
			if tc.want == nil {
				if err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
				return
			}
			refusal, ok := err.(*reason.Refusal)
			if !ok {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var missing []string
			for _, want := range tc.want {
				if !strings.Contains(refusal.Detail, want) {
					missing = append(missing, want)
				}
			}
			if diff := cmp.Diff([]string(nil), missing); diff != "" {
				t.Errorf("%s: %s lacks %s", tc.reason, refusal.Detail, diff)
			}
		})
	}
}
