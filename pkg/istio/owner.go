// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"regexp"
	"strings"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// scheduledJob is the name of a CronJob's Job: the scheduled minute, or in old versions the second.
var scheduledJob = regexp.MustCompile(`(.+)-\d{8,10}$`)

// owner is the workload that templates name a pod after. A pod with a name of its own is its own
// workload, whoever controls it; only a generated name leads to the controller, and from there to
// what the controller was made by.
func owner(head *pod.Head) inject.Owner {
	meta := &head.Metadata
	out := inject.Owner{APIVersion: "v1", Kind: "Pod", Name: meta.Name}
	if meta.GenerateName != "" {
		for _, o := range meta.OwnerReferences {
			if o.Controller {
				out = behind(o, meta.Labels)
				break
			}
		}
	}
	if out.Name == "" {
		out.Name = meta.Name
	}
	return out
}

// behind is what made the controller, as far as its name and the pod's labels tell. Telemetry knows
// workloads by these kinds and versions, so they are kept as they have always been.
func behind(o pod.Owner, labels map[string]string) inject.Owner {
	out := inject.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name}
	switch o.Kind {
	case "ReplicaSet":
		if hash := labels[templateHashKey]; hash != "" && strings.HasSuffix(o.Name, hash) {
			out.Kind, out.Name = "Deployment", strings.TrimSuffix(o.Name, "-"+hash)
			return out
		}
		if hash := labels[rolloutHashKey]; hash != "" && strings.HasSuffix(o.Name, hash) {
			return inject.Owner{APIVersion: "v1alpha1", Kind: "Rollout", Name: strings.TrimSuffix(o.Name, "-"+hash)}
		}
	case "ReplicationController":
		if name := labels[deploymentConfigKey]; name != "" {
			out.Kind, out.Name = "DeploymentConfig", name
		}
	case "Job":
		if found := scheduledJob.FindStringSubmatch(o.Name); found != nil {
			return inject.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: found[1]}
		}
	}
	return out
}
