// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

func controlled(kind, name string, labels map[string]string) *pod.Head {
	return &pod.Head{Metadata: pod.Metadata{
		GenerateName: name + "-", Labels: labels,
		OwnerReferences: []pod.Owner{{APIVersion: "example.dev/v1", Kind: "Watcher", Name: "w"}, {APIVersion: "some/v7", Kind: kind, Name: name, Controller: true}},
	}}
}

// A pod with a name of its own is its own workload; a workload keeps its controller's name or the
// beginning of it, and has a kind.
func FuzzOwner(f *testing.F) {
	f.Add("ReplicaSet", "web-5d4f", "5d4f", "", "", "web-5d4f-", "")
	f.Add("Job", "nightly-12345678", "", "", "", "nightly-12345678-", "")
	f.Add("ReplicationController", "dc-1", "", "", "dc", "dc-1-", "named")
	f.Fuzz(func(t *testing.T, kind, name, hash, rollout, config, generate, own string) {
		head := controlled(kind, name, map[string]string{templateHashKey: hash, rolloutHashKey: rollout})
		if config != "" {
			head.Metadata.Labels[deploymentConfigKey] = config
		}
		head.Metadata.GenerateName, head.Metadata.Name = generate, own
		got := owner(head)
		switch {
		case generate == "":
			if want := (inject.Owner{APIVersion: "v1", Kind: "Pod", Name: own}); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		case got.Kind == "DeploymentConfig":
		case !strings.HasPrefix(name, got.Name) && got.Name != own && got.Kind != "CronJob":
			t.Errorf("the name %q comes from nowhere: %q, %q", got.Name, name, own)
		case kind != "" && got.Kind == "":
			t.Errorf("no kind for %q", kind)
		}
	})
}

func TestOwner(t *testing.T) {
	label := func(key, value string) map[string]string { return map[string]string{key: value} }
	tests := map[string]struct {
		reason string
		head   *pod.Head
		want   inject.Owner
	}{
		"deployment": {
			"the version stays that of the reference", controlled("ReplicaSet", "web-5d4f", label(templateHashKey, "5d4f")),
			inject.Owner{APIVersion: "some/v7", Kind: "Deployment", Name: "web"},
		},
		"rollout": {
			"telemetry knows it by this version", controlled("ReplicaSet", "web-5d4f", label(rolloutHashKey, "5d4f")),
			inject.Owner{APIVersion: "v1alpha1", Kind: "Rollout", Name: "web"},
		},
		"both hashes": {
			"the deployment's counts first, where it fits", controlled("ReplicaSet", "web-5d4f", map[string]string{templateHashKey: "zzz", rolloutHashKey: "5d4f"}),
			inject.Owner{APIVersion: "v1alpha1", Kind: "Rollout", Name: "web"},
		},
		"bare replica set": {
			"no hash at the end of its name", controlled("ReplicaSet", "web", label(templateHashKey, "5d4f")),
			inject.Owner{APIVersion: "some/v7", Kind: "ReplicaSet", Name: "web"},
		},
		"hash without a dash": {
			"the kind is known, the name is not cut", controlled("ReplicaSet", "web5d4f", label(templateHashKey, "5d4f")),
			inject.Owner{APIVersion: "some/v7", Kind: "Deployment", Name: "web5d4f"},
		},
		"deployment config": {
			"the label names it", controlled("ReplicationController", "shop-7", label(deploymentConfigKey, "shop")),
			inject.Owner{APIVersion: "some/v7", Kind: "DeploymentConfig", Name: "shop"},
		},
		"replication controller": {
			"no label", controlled("ReplicationController", "shop-7", nil),
			inject.Owner{APIVersion: "some/v7", Kind: "ReplicationController", Name: "shop-7"},
		},
		"cron job": {
			"minutes at the end", controlled("Job", "nightly-report-29000000", nil),
			inject.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly-report"},
		},
		"old cron job": {
			"seconds at the end", controlled("Job", "nightly-1700000000", nil),
			inject.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly"},
		},
		"job": {
			"too few digits for a time", controlled("Job", "import-2024", nil),
			inject.Owner{APIVersion: "some/v7", Kind: "Job", Name: "import-2024"},
		},
		"other kind": {
			"kept as it is", controlled("StatefulSet", "db", nil),
			inject.Owner{APIVersion: "some/v7", Kind: "StatefulSet", Name: "db"},
		},
		"no controller": {
			"an owner that does not control made nothing",
			&pod.Head{Metadata: pod.Metadata{GenerateName: "x-", Name: "x-1", OwnerReferences: []pod.Owner{{Kind: "Node", Name: "n"}}}},
			inject.Owner{APIVersion: "v1", Kind: "Pod", Name: "x-1"},
		},
		"named": {
			"a pod with a name of its own, as a StatefulSet makes it",
			&pod.Head{Metadata: pod.Metadata{Name: "db-0", OwnerReferences: []pod.Owner{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", Controller: true}}}},
			inject.Owner{APIVersion: "v1", Kind: "Pod", Name: "db-0"},
		},
		"nothing left of the name": {
			"the pod's own is better than none",
			&pod.Head{Metadata: pod.Metadata{GenerateName: "x-", Name: "x-1", OwnerReferences: []pod.Owner{{APIVersion: "a/v1", Kind: "Thing", Controller: true}}}},
			inject.Owner{APIVersion: "a/v1", Kind: "Thing", Name: "x-1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, owner(tc.head)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
