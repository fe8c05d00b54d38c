// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// podShape refuses a pod in which the engine's own fields are not what they must be. All others stay
// the API server's to judge.
func podShape(tree map[string]any) error {
	spec, ok := tree["spec"].(map[string]any)
	if !ok {
		return misshapen("spec", "want an object, got "+pod.Describe(tree["spec"]))
	}
	for _, key := range []string{"containers", "initContainers", "volumes", "imagePullSecrets"} {
		if spec[key] == nil {
			continue
		}
		items, ok := spec[key].([]any)
		if !ok {
			return misshapen("spec."+key, "want a list, got "+pod.Describe(spec[key]))
		}
		for i, item := range items {
			if _, ok := item.(map[string]any); !ok {
				return misshapen(fmt.Sprintf("spec.%s[%d]", key, i), "want an object, got "+pod.Describe(item))
			}
		}
	}
	if len(pod.Items(spec, "containers")) == 0 {
		return misshapen("spec.containers", "a pod has at least one container")
	}
	return nil
}

func misshapen(path, detail string) error {
	return &reason.Refusal{Reason: reason.PodUnreadable, Path: path, Detail: detail, Hint: "send a pod that the API server would accept"}
}

// without is the pod without our own two keys, for one whose record is not to be believed.
func without(tree map[string]any) map[string]any {
	metadata := pod.Object(tree, "metadata")
	out := pod.With(metadata, "annotations", pod.With(pod.Object(metadata, "annotations"), annotation.Status, nil))
	if labels := pod.Object(metadata, "labels"); labels[annotation.Injected] != nil {
		out["labels"] = pod.With(labels, annotation.Injected, nil)
	}
	return pod.With(tree, "metadata", out)
}

// borneOut tells whether a record that claims containers finds one of them in the pod: a record
// without any was copied from another pod.
func borneOut(tree map[string]any, changes []overlay.Change) bool {
	claimed := 0
	for _, c := range changes {
		parts := strings.Split(c.Path, "/")
		if c.Kind != overlay.Added || len(parts) != 4 || parts[1] != "spec" {
			continue
		}
		for _, key := range pod.ContainerLists {
			if parts[2] != key {
				continue
			}
			claimed++
			if pod.Named(pod.Items(pod.Object(tree, "spec"), key), parts[3]) != nil {
				return true
			}
		}
	}
	return claimed == 0
}
