// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
)

func TestRecord(t *testing.T) {
	const layers = `
spec:
  initContainers: [{name: b}, {name: a}]
  volumes: [{name: v}, {}, 1]
  containers: []`
	const text = `{"initContainers":["b","a"],"containers":null,"volumes":["v"],"imagePullSecrets":null,"revision":"canary"}`
	cases := map[string]struct {
		reason, pod, network, revision string
		injected                       map[string]string
		annotations, labels            any
	}{
		"plain":   {"no label is set where the network has no name", `{metadata: {name: x}}`, "", "canary", nil, map[string]any{statusKey: text}, nil},
		"network": {"the pod tells its network", `{metadata: {labels: {topology.istio.io/network: old, l: v}}}`, "west", "canary", nil, map[string]any{statusKey: text}, map[string]any{networkKey: "west", "l": "v"}},
		"null":    {"as it came", `{metadata: {labels: null}}`, "", "canary", nil, map[string]any{statusKey: text}, nil},
		"labels":  {"labels of the author stay", `{metadata: {labels: {l: v}}}`, "", "canary", nil, map[string]any{statusKey: text}, map[string]any{"l": "v"}},
		"injected": {"the configuration's annotations beat any other", `{metadata: {annotations: {a: "1"}}}`, "", "canary", map[string]string{"a": "2", statusKey: "x"},
			map[string]any{"a": "2", statusKey: "x"}, nil},
		"offline": {"without a revision it is the default one", `{}`, "", "", nil,
			map[string]any{statusKey: `{"initContainers":["b","a"],"containers":null,"volumes":["v"],"imagePullSecrets":null,"revision":"default"}`}, nil},
	}
	for name, c := range cases {
		r := runOn(t, "", c.pod)
		r.written, r.d.revision, r.d.config.InjectedAnnotations = treeOf(t, layers), c.revision, c.injected
		r.env = map[string]string{networkEnv: c.network}
		for range 2 {
			if err := r.record(); err != nil {
				t.Fatal(err)
			}
			metadata := pod.Object(r.After, "metadata")
			if diff := cmp.Diff(c.annotations, metadata["annotations"]); diff != "" {
				t.Errorf("%s: %s: annotations: %s", name, c.reason, diff)
			}
			if diff := cmp.Diff(c.labels, metadata["labels"]); diff != "" {
				t.Errorf("%s: %s: labels: %s", name, c.reason, diff)
			}
		}
	}
}

func TestRecordReadsItself(t *testing.T) {
	r := runOn(t, "", `{}`)
	r.written = treeOf(t, `spec: {containers: [{name: "<a>&"}], imagePullSecrets: [{name: s}], volumes: [{name: v}], initContainers: [{name: i}]}`)
	if err := r.record(); err != nil {
		t.Fatal(err)
	}
	got, ok := parseStatus(pod.Text(r.annotations(), statusKey))
	want := &status{Containers: []string{"<a>&"}, ImagePullSecrets: []string{"s"}, Volumes: []string{"v"}, InitContainers: []string{"i"}, Revision: "default"}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(diff)
	}
}

func TestParseStatus(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         *status
	}{
		"empty":        {"no JSON", "", nil},
		"junk":         {"no JSON", "injected", nil},
		"two":          {"one document", "{} {}", nil},
		"list":         {"no object", `["a"]`, nil},
		"null":         {"no object", `null`, nil},
		"empty object": {"a record of nothing", `{}`, &status{}},
		"null lists":   {"as nothing", `{"containers": null, "initContainers": ["i"], "other": 1}`, &status{InitContainers: []string{"i"}}},
		"odd types":    {"what is no list of names counts as empty", `{"containers": {"a": 1}, "initContainers": ["i", 1, null, ["x"]], "volumes": "v", "revision": 3}`, &status{InitContainers: []string{"i"}}},
		"all": {"", `{"containers": ["c"], "imagePullSecrets": ["p"], "volumes": ["v"], "revision": "r"}`,
			&status{Containers: []string{"c"}, ImagePullSecrets: []string{"p"}, Volumes: []string{"v"}, Revision: "r"}},
	}
	for name, c := range cases {
		got, ok := parseStatus(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != nil) {
			t.Errorf("%s: %s: %v: %s", name, c.reason, ok, diff)
		}
	}
}
