// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// pullSecrets warns where the templates bring the first pull secrets of the pod: the API server adds
// those of the service account only to a pod that has none. Behind the API server it has added them
// before we are asked, so there the warning concerns the files that a person applies.
func pullSecrets(s *State) error {
	if len(pod.Items(pod.Object(s.Before, "spec"), "imagePullSecrets")) > 0 || len(pod.Items(pod.Object(s.After, "spec"), "imagePullSecrets")) == 0 {
		return nil
	}
	s.Warnings = append(s.Warnings, reason.Warning{
		Reason: reason.PullSecretsReplace,
		Path:   "spec.imagePullSecrets",
		Detail: "added here, so the service account's own will not be",
	})
	return nil
}
