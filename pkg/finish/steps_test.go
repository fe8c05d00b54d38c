// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	value, err := pod.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func TestChecksRefuseWhatTheClusterWould(t *testing.T) {
	cases := map[string]struct {
		why, before, after string
		step               func(*State) error
		reason             reason.Reason
		path, detail       string
	}{
		"long label": {
			"the API server names no template", `{}`, `{"metadata":{"labels":{"a.b/c":"` + strings.Repeat("x", 64) + `"}}}`,
			metadata, reason.LabelInvalid, "metadata.labels[a.b/c]", "no label value",
		},
		"label of another type": {"", `{}`, `{"metadata":{"labels":{"a":1}}}`, metadata, reason.LabelInvalid, "metadata.labels[a]", "want a string"},
		"label key":             {"", `{}`, `{"metadata":{"labels":{"a b":"c"}}}`, metadata, reason.LabelInvalid, "metadata.labels[a b]", "key"},
		"annotation key":        {"", `{}`, `{"metadata":{"annotations":{"-":"c"}}}`, metadata, reason.LabelInvalid, "metadata.annotations[-]", "key"},
		"big annotations": {
			"", `{}`, `{"metadata":{"annotations":{"a":"` + strings.Repeat("x", maxAnnotations) + `"}}}`,
			metadata, reason.LabelInvalid, "metadata.annotations", "at most 262144",
		},
		"port": {
			"one of the two would crash", `{}`, `{"spec":{"containers":[{"name":"app","ports":[{"containerPort":80}]},{"name":"SIDE","ports":[{"containerPort":80,"protocol":"TCP"}]}]}}`,
			ports, reason.PortConflict, "spec.containers[app].ports", `80/TCP, which the injected container "SIDE"`,
		},
		"two sidecars": {
			"of two templates", `{}`, `{"spec":{"containers":[{"name":"app"},{"name":"SIDE","ports":[{"containerPort":80}]},{"name":"OTHER","ports":[{"containerPort":80}]}]}}`,
			ports, reason.PortConflict, "spec.containers[OTHER].ports", `80/TCP, which the injected container "SIDE"`,
		},
		"probe port": {
			"a probe's port is listened on", `{}`, `{"spec":{"containers":[{"name":"app","ports":[{"containerPort":90}]}],"initContainers":[{"name":"SIDE","restartPolicy":"Always","readinessProbe":{"httpGet":{"port":90}}}]}}`,
			ports, reason.PortConflict, "spec.containers[app].ports", "90/TCP",
		},
		"request over limit": {
			"", `{}`, `{"spec":{"containers":[{"name":"SIDE","resources":{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"1500m","memory":"1Gi"}}}]}}`,
			resources, reason.ResourcesConflict, "spec.containers[SIDE].resources.requests[cpu]", "the request 2 is above the limit 1500m",
		},
		"bomb": {
			"the parser would not return", `{}`, `{"spec":{"containers":[{"name":"SIDE","resources":{"requests":{"cpu":"1e999999999"},"limits":{"cpu":1}}}]}}`,
			resources, reason.ResourcesConflict, "spec.containers[SIDE].resources.requests[cpu]", "exponent",
		},
	}
	for name, c := range cases {
		s := &State{Before: tree(t, c.before), After: tree(t, c.after), Brought: map[string]bool{"SIDE": true, "OTHER": true}}
		err := c.step(s)
		var refusal *reason.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != c.reason || refusal.Path != c.path || !strings.Contains(refusal.Detail, c.detail) || refusal.Hint == "" {
			t.Errorf("%s: %s: got %v", name, c.why, err)
		}
	}
}

func TestChecksLetPass(t *testing.T) {
	cases := map[string]struct {
		why, before, after string
		step               func(*State) error
		warning            reason.Reason
	}{
		"own bad label": {"what the author set is the API server's to judge", `{"metadata":{"labels":{"a":" "}}}`, `{"metadata":{"labels":{"a":" "}}}`, metadata, 0},
		"other protocol": {
			"TCP and UDP are told apart", `{}`, `{"spec":{"containers":[{"name":"app","ports":[{"containerPort":80,"protocol":"UDP"}]},{"name":"SIDE","ports":[{"containerPort":80}]}]}}`, ports, 0,
		},
		"ordinary init container": {
			"it has ended when the sidecar starts", `{}`, `{"spec":{"containers":[{"name":"SIDE","ports":[{"containerPort":80}]}],"initContainers":[{"name":"init","ports":[{"containerPort":80}]}]}}`, ports, 0,
		},
		"scrape": {
			"metrics would come from the sidecar", `{"metadata":{"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"80"}}}`, `{"spec":{"containers":[{"name":"SIDE","ports":[{"containerPort":80}]}]}}`, ports, reason.ScrapePortIsSidecars,
		},
		"own resources":  {"the author's containers are not ours to judge", `{}`, `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":2},"limits":{"cpu":1}}}]}}`, resources, 0},
		"other resource": {"cpu is not compared with memory", `{}`, `{"spec":{"containers":[{"name":"SIDE","resources":{"requests":{"cpu":"2"},"limits":{"memory":"1"}}}]}}`, resources, 0},
		"first secrets":  {"the service account's are not added", `{"spec":{}}`, `{"spec":{"imagePullSecrets":[{"name":"a"}]}}`, pullSecrets, reason.PullSecretsReplace},
		"more secrets":   {"the service account's would not be added anyway", `{"spec":{"imagePullSecrets":[{"name":"b"}]}}`, `{"spec":{"imagePullSecrets":[{"name":"b"},{"name":"a"}]}}`, pullSecrets, 0},
	}
	for name, c := range cases {
		s := &State{Before: tree(t, c.before), After: tree(t, c.after), Brought: map[string]bool{"SIDE": true}}
		if err := c.step(s); err != nil {
			t.Errorf("%s: %s: %v", name, c.why, err)
		}
		if got := len(s.Warnings) > 0; got != (c.warning != 0) || got && s.Warnings[0].Reason != c.warning {
			t.Errorf("%s: %s: warnings %v", name, c.why, s.Warnings)
		}
	}
}

func TestStatusIsReadBack(t *testing.T) {
	before := tree(t, `{"metadata":{"name":"a"}}`)
	want := Record{Decision: "injected", Reason: "pod_enabled", Revision: "default", Templates: []string{"a", "b"}, Hash: "1", HashWithoutImages: "2"}
	s := &State{Before: before, After: before, Record: want, Undo: func(map[string]any, map[string]any) any {
		return map[string]any{"added": []any{"/x"}}
	}}
	if err := status(s); err != nil {
		t.Fatal(err)
	}
	meta := pod.Object(s.After, "metadata")
	if pod.Object(meta, "labels")[annotation.Injected] != "true" {
		t.Error("the label is missing")
	}
	got, found, err := ReadRecord(map[string]string{annotation.Status: pod.Text(pod.Object(meta, "annotations"), annotation.Status)})
	want.Undo = map[string]any{"added": []any{"/x"}}
	if diff := cmp.Diff(want, got); err != nil || !found || diff != "" {
		t.Errorf("%v %v\n%s", found, err, diff)
	}
	if diff := cmp.Diff(tree(t, `{"metadata":{"name":"a"}}`), before); diff != "" {
		t.Errorf("the author's pod was changed:\n%s", diff)
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add(`{"decision":"injected","templates":["a"],"undo":{}}`)
	f.Add(`{"undo":null}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, in string) {
		r, found, err := ReadRecord(map[string]string{annotation.Status: in})
		if found == (err != nil) {
			t.Fatalf("%q: found %v with error %v", in, found, err)
		}
		if found && r.Undo == nil {
			t.Fatalf("%q: a record without a way back", in)
		}
	})
}
