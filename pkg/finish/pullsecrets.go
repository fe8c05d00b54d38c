// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// pullSecrets warns where the templates bring the first pull secrets of the pod.
func pullSecrets(s *State) error {
	s.Warnings = append(s.Warnings, PullSecrets(s.Before, s.After)...)
	return nil
}

// PullSecrets warns of an injection that brings a pod its first pull secrets: the API server adds those of
// the service account only to a pod that has none. Behind the API server it has added them before we are
// asked, so there the warning concerns the files that a person applies.
func PullSecrets(before, after map[string]any) []reason.Warning {
	const list = "imagePullSecrets"
	if len(pod.Items(pod.Object(before, "spec"), list)) > 0 || len(pod.Items(pod.Object(after, "spec"), list)) == 0 {
		return nil
	}
	return []reason.Warning{{
		Reason: reason.PullSecretsReplace, Path: "spec." + list, Detail: "added here, so the service account's own will not be",
	}}
}
