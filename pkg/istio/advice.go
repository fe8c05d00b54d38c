// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// advise warns of pods that get what their templates say, and will not do what their authors want. The
// original injects them all, so none is refused.
func (r *run) advise() error {
	r.otherSystem()
	r.endlessJob()
	r.Warnings = append(r.Warnings, finish.PullSecrets(r.Raw, r.After)...)
	r.badLabels()
	return nil
}

// otherSystem: the proxy runs on Linux alone.
func (r *run) otherSystem() {
	if os, by := policy.BoundOS(r.head); os == "windows" && r.container(proxyName) != nil {
		r.Warn(reason.OSMismatch, by, "the pod is bound to windows, and the proxy runs on Linux")
	}
}

// endlessJob: an ordinary container that runs for ever keeps a Job from completing.
func (r *run) endlessJob() {
	job := r.Owner.Kind == "Job" || r.Owner.Kind == "CronJob"
	if job && pod.Named(pod.Items(pod.Object(r.After, "spec"), "containers"), proxyName) != nil {
		r.Warn(reason.JobNeverCompletes, "spec.containers["+proxyName+"]", "no native sidecar: the Job will not complete while it runs")
	}
}

// badLabels: the API server will refuse the pod for labels that its templates bring, and name no template.
func (r *run) badLabels() {
	brought := pod.Object(pod.Object(r.Layers, "metadata"), "labels")
	for _, key := range slices.Sorted(maps.Keys(brought)) {
		faults := validation.IsQualifiedName(key)
		if value, ok := brought[key].(string); ok && len(faults) == 0 {
			faults = validation.IsValidLabelValue(value)
		}
		if len(faults) > 0 {
			r.Warn(reason.LabelInvalid, PodLabel.path(key), "the API server will refuse it: "+faults[0])
		}
	}
}
