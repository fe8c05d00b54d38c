// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func TestOwner(t *testing.T) {
	controller := func(kind, name string) pod.Owner { return pod.Owner{Kind: kind, Name: name, Controller: true} }
	cases := map[string]struct {
		why    string
		labels map[string]string
		owners []pod.Owner
		want   string
	}{
		"deployment":         {"by the hash label", map[string]string{"pod-template-hash": "5c7"}, []pod.Owner{controller("ReplicaSet", "web-5c7")}, "Deployment web"},
		"rollout":            {"the hash label tells whose it is", map[string]string{"rollouts-pod-template-hash": "5c7"}, []pod.Owner{controller("ReplicaSet", "web-5c7")}, "Rollout web"},
		"bare replica set":   {"digits are part of the name", nil, []pod.Owner{controller("ReplicaSet", "report-2024")}, "ReplicaSet report-2024"},
		"other hash":         {"the name does not end in it", map[string]string{"pod-template-hash": "zzz"}, []pod.Owner{controller("ReplicaSet", "web-5c7")}, "ReplicaSet web-5c7"},
		"nothing but a hash": {"a name is left", map[string]string{"pod-template-hash": "5c7"}, []pod.Owner{controller("ReplicaSet", "-5c7")}, "ReplicaSet -5c7"},
		"cron job":           {"minutes since the epoch", nil, []pod.Owner{controller("Job", "nightly-28472130")}, "CronJob nightly"},
		"job":                {"too few digits for a time", nil, []pod.Owner{controller("Job", "batch-12")}, "Job batch-12"},
		"stateful set":       {"", nil, []pod.Owner{controller("StatefulSet", "db")}, "StatefulSet db"},
		"deployment config":  {"", map[string]string{"deploymentconfig": "web"}, []pod.Owner{controller("ReplicationController", "web-3")}, "DeploymentConfig web"},
		"two controllers":    {"the first counts", nil, []pod.Owner{{Kind: "X", Name: "x"}, controller("DaemonSet", "a"), controller("DaemonSet", "b")}, "DaemonSet a"},
		"no controller":      {"an owner that does not control is none", nil, []pod.Owner{{Kind: "X", Name: "x"}}, "Pod bare"},
	}
	for name, c := range cases {
		got := owner(&pod.Head{Metadata: pod.Metadata{Name: "bare", Labels: c.labels, OwnerReferences: c.owners}})
		if got.Kind+" "+got.Name != c.want {
			t.Errorf("%s: %s: got %v, want %s", name, c.why, got, c.want)
		}
	}
}

func TestNativeLooksOnlyAtNodesThePodMayRunOn(t *testing.T) {
	old := []Node{{Name: "old-0", Labels: map[string]string{"pool": "a", "disk": "ssd"}}}
	cases := map[string]struct {
		mode, node string
		selector   map[string]string
		nodes      []Node
		want       bool
	}{
		"no old nodes":       {"auto", "", nil, nil, true},
		"may land anywhere":  {"auto", "", nil, old, false},
		"bound to a new one": {"auto", "new-0", nil, old, true},
		"bound to the old":   {"auto", "old-0", nil, old, false},
		"selects the old":    {"auto", "", map[string]string{"pool": "a"}, old, false},
		"selects others":     {"auto", "", map[string]string{"pool": "a", "disk": "hdd"}, old, true},
		"on":                 {"on", "old-0", nil, old, true},
		"off":                {"off", "", nil, nil, false},
	}
	for name, c := range cases {
		e := &Engine{nativeSidecars: c.mode}
		head := &pod.Head{Spec: pod.HeadSpec{NodeName: c.node, NodeSelector: c.selector}}
		if got := e.native(head, c.nodes); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A sidecar is one by its name in sidecars, or by being written as a native one.
func TestJobsOnOldNodes(t *testing.T) {
	const config = "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\nnativeSidecars: \"off\"\ndefaultTemplates: [t]\ntemplates:\n- name: t\n  jobs: "
	texts := map[string]string{
		"named":   "\n  sidecars: [side]\n  text: 'spec: {containers: [{name: side, image: a}]}'\n",
		"native":  "\n  text: 'spec: {initContainers: [{name: side, image: a, restartPolicy: Always}]}'\n",
		"neither": "\n  text: 'spec: {initContainers: [{name: side, image: a}]}'\n",
	}
	in := parsed(t, `{"metadata":{"name":"a","ownerReferences":[{"kind":"Job","name":"a","controller":true}]},"spec":{"containers":[{"name":"app","image":"x"}]}}`)
	for name, text := range texts {
		inject, err := engineFor(t, config+"inject"+text).Inject(in, Facts{Selected: true})
		if warned := len(inject.Warnings) > 0 && inject.Warnings[0].Reason == reason.JobNeverCompletes; err != nil || warned != (name != "neither") {
			t.Errorf("%s: jobs: inject warns %v, %v", name, inject.Warnings, err)
		}
		skip, err := engineFor(t, config+"skip"+text).Inject(in, Facts{Selected: true})
		if err != nil || skip.Decision.Inject != (name == "neither") {
			t.Errorf("%s: jobs: skip gives %v, %v", name, skip.Decision.Reason, err)
		}
	}
}

func TestPullPolicyIsTheAPIServersDefault(t *testing.T) {
	for image, want := range map[string]string{
		"a": "Always", "a:latest": "Always", "a:1": "IfNotPresent", "r:5000/a": "Always", "r:5000/a:1": "IfNotPresent",
		"a@sha256:0": "IfNotPresent", "a:latest@sha256:0": "IfNotPresent",
	} {
		if got := pullPolicy(image); got != want {
			t.Errorf("%s: got %s, want %s", image, got, want)
		}
	}
}
