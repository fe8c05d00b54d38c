// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// owner is the workload behind a pod, from the first controlling owner reference, by name and hash
// label only: a ReplicaSet whose name ends in the pod's template hash belongs to a Deployment, a Job
// named as the CronJob controller names them belongs to a CronJob.
func owner(head *pod.Head) Owner {
	for _, o := range head.Metadata.OwnerReferences {
		if o.Controller {
			return workload(head, o)
		}
	}
	name := head.Metadata.Name
	if name == "" {
		name = strings.TrimSuffix(head.Metadata.GenerateName, "-")
	}
	return Owner{"v1", "Pod", name}
}

func workload(head *pod.Head, o pod.Owner) Owner {
	labels := head.Metadata.Labels
	switch o.Kind {
	case "ReplicaSet":
		if name, ok := cutHash(o.Name, labels["pod-template-hash"]); ok {
			return Owner{"apps/v1", "Deployment", name}
		}
		if name, ok := cutHash(o.Name, labels["rollouts-pod-template-hash"]); ok {
			return Owner{"argoproj.io/v1alpha1", "Rollout", name}
		}
	case "ReplicationController":
		if name := labels["deploymentconfig"]; name != "" {
			return Owner{"apps.openshift.io/v1", "DeploymentConfig", name}
		}
	case "Job":
		if name, ok := cutTime(o.Name); ok {
			return Owner{"batch/v1", "CronJob", name}
		}
	}
	return Owner{o.APIVersion, o.Kind, o.Name}
}

func cutHash(name, hash string) (string, bool) {
	if hash == "" {
		return "", false
	}
	cut, ok := strings.CutSuffix(name, "-"+hash)
	return cut, ok && cut != ""
}

// cutTime cuts the scheduled time that the CronJob controller appends: minutes since the epoch, or
// seconds in old versions, so 8 to 10 digits.
func cutTime(name string) (string, bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 {
		return "", false
	}
	digits := name[i+1:]
	if len(digits) < 8 || len(digits) > 10 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	return name[:i], true
}
