// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"istio.io/api/annotation"
	"istio.io/api/label"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func headOf(labels, annotations map[string]string) *pod.Head {
	return &pod.Head{Metadata: pod.Metadata{Labels: labels, Annotations: annotations}}
}

// Whatever the mesh's API or the dialect itself declares draws no warning where it belongs.
func TestKnownKeysAreQuiet(t *testing.T) {
	labels, annotations := map[string]string{}, map[string]string{"app.example/sidecar.istio.io": "x", "istio": "x"}
	for _, a := range annotation.AllResourceAnnotations() {
		annotations[a.Name] = "x"
	}
	for _, l := range label.AllResourceLabels() {
		labels[l.Name] = "x"
	}
	for _, k := range registry {
		switch k.Place {
		case PodAnnotation:
			annotations[k.Name] = "x"
		case PodLabel:
			labels[k.Name] = "x"
		}
	}
	for _, name := range others {
		labels[name], annotations[name] = "x", "x"
	}
	if got := warnKeys(headOf(labels, annotations)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestWarnKeys(t *testing.T) {
	tests := map[string]struct {
		reason              string
		labels, annotations map[string]string
		want                []reason.Warning
	}{
		"letter": {
			reason:      "the case of a letter is the commonest slip",
			annotations: map[string]string{"sidecar.istio.io/proxyCpu": "1"},
			want:        []reason.Warning{{Reason: reason.UnknownKey, Path: "metadata.annotations[sidecar.istio.io/proxyCpu]", Detail: "no such key, did you mean proxyCPU?"}},
		},
		"domain": {
			reason:      "the name alone is remembered, the domain is not",
			annotations: map[string]string{"sidecar.istio.io/excludeOutboundPorts": "1"},
			want:        []reason.Warning{{Reason: reason.UnknownKey, Path: "metadata.annotations[sidecar.istio.io/excludeOutboundPorts]", Detail: "no such key, its domain is traffic.sidecar.istio.io"}},
		},
		"both": {
			reason:      "neither the domain nor the name is right",
			annotations: map[string]string{"sidecars.istio.io/proxyCPUs": "1"},
			want:        []reason.Warning{{Reason: reason.UnknownKey, Path: "metadata.annotations[sidecars.istio.io/proxyCPUs]", Detail: "no such key, did you mean sidecar.istio.io/proxyCPU?"}},
		},
		"annotation as label": {
			reason: "a label of this name is never read",
			labels: map[string]string{"sidecar.istio.io/logLevel": "debug"},
			want:   []reason.Warning{{Reason: reason.KeyOnWrongKind, Path: "metadata.labels[sidecar.istio.io/logLevel]", Detail: "this key belongs among the annotations"}},
		},
		"label as annotation": {
			reason:      "an annotation of this name is never read",
			annotations: map[string]string{"topology.istio.io/network": "n"},
			want:        []reason.Warning{{Reason: reason.KeyOnWrongKind, Path: "metadata.annotations[topology.istio.io/network]", Detail: "this key belongs among the labels"}},
		},
		"namespace's label": {
			reason: "nobody reads it on a pod",
			labels: map[string]string{"istio-injection": "enabled"},
			want:   []reason.Warning{{Reason: reason.KeyOnWrongKind, Path: "metadata.labels[istio-injection]", Detail: "this is a namespace's label, a pod has sidecar.istio.io/inject"}},
		},
		"heard either way": {
			reason:      "both the label and the annotation decide",
			labels:      map[string]string{"sidecar.istio.io/inject": "true"},
			annotations: map[string]string{"sidecar.istio.io/inject": "true"},
		},
		"far away": {
			reason:      "a mesh has keys that no list knows",
			annotations: map[string]string{"internal.istio.io/parents": "x", "addons.istio.io/some-other-tool": "x", "sidecar.istio.io/foo": "x"},
		},
		"another's": {
			reason:      "the domain is none of the mesh's",
			labels:      map[string]string{"istio.example/rev": "x"},
			annotations: map[string]string{"notistio.io/rev2": "x"},
		},
		"in order": {
			reason:      "labels first, each in the order of the keys",
			labels:      map[string]string{"istio.io/revv": "x", "istio.io/dataplane-mod": "x"},
			annotations: map[string]string{"istio.io/reb": "x"},
			want: []reason.Warning{
				{Reason: reason.UnknownKey, Path: "metadata.labels[istio.io/dataplane-mod]", Detail: "no such key, did you mean dataplane-mode?"},
				{Reason: reason.UnknownKey, Path: "metadata.labels[istio.io/revv]", Detail: "no such key, did you mean rev?"},
				{Reason: reason.UnknownKey, Path: "metadata.annotations[istio.io/reb]", Detail: "no such key, did you mean rev?"},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := warnKeys(headOf(tc.labels, tc.annotations))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			for _, w := range got {
				if strings.HasSuffix(w.Text(), "…") {
					t.Errorf("the warning is cut: %s", w.Text())
				}
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	annotations := map[string]string{}
	for i := range 100 {
		annotations[fmt.Sprintf("sidecar.istio.io/proxyCP%02d", i)] = "1"
	}
	if got := len(warnKeys(headOf(nil, annotations))); got != maxKeyWarnings {
		t.Errorf("got %d warnings, want %d", got, maxKeyWarnings)
	}
}

func TestPodsWithoutMeshKeysCostNothing(t *testing.T) {
	head := headOf(
		map[string]string{"app": "shop", "pod-template-hash": "abc", "sidecar.istio.io/inject": "true"},
		map[string]string{"example.com/owner": "me", "sidecar.istio.io/proxyCPU": "1"},
	)
	if n := testing.AllocsPerRun(100, func() { warnKeys(head) }); n > 0 {
		t.Errorf("%v allocations for known keys", n)
	}
}
