// SPDX-License-Identifier: Apache-2.0

package workload

import "strings"

// templatePath is where the pod stands in an object of a kind; it is empty for a Pod. Only API
// versions that are served today are known, with two that come from outside Kubernetes itself.
func templatePath(apiVersion, kind string) (path []string, known bool) {
	switch apiVersion + " " + kind {
	case "v1 Pod":
		return nil, true
	case "v1 PodTemplate":
		return []string{"template"}, true
	case "v1 ReplicationController", "batch/v1 Job",
		"apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "apps/v1 DaemonSet",
		"argoproj.io/v1alpha1 Rollout", "apps.openshift.io/v1 DeploymentConfig":
		return []string{"spec", "template"}, true
	case "batch/v1 CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}, true
	}
	return nil, false
}

// replacement is the API version that took the place of one that is no longer served; empty for
// every other.
func replacement(apiVersion, kind string) string {
	switch apiVersion + " " + kind {
	case "extensions/v1beta1 Deployment", "extensions/v1beta1 DaemonSet", "extensions/v1beta1 ReplicaSet",
		"apps/v1beta1 Deployment", "apps/v1beta1 StatefulSet",
		"apps/v1beta2 Deployment", "apps/v1beta2 DaemonSet", "apps/v1beta2 ReplicaSet", "apps/v1beta2 StatefulSet":
		return "apps/v1"
	case "extensions/v1beta1 Job", "batch/v1beta1 CronJob", "batch/v2alpha1 CronJob", "batch/v2alpha1 Job":
		return "batch/v1"
	case "v1 DeploymentConfig":
		return "apps.openshift.io/v1"
	}
	return ""
}

// listOf tells what the items of a list are where they do not say it themselves, as in the PodList
// that the API server gives out. A plain List says nothing of its items.
func listOf(m meta) (item meta, isList bool) {
	kind, ok := strings.CutSuffix(m.kind, "List")
	if !ok || kind == "" && m.apiVersion != "v1" {
		return meta{}, false
	}
	if kind == "" {
		return meta{}, true
	}
	return meta{apiVersion: m.apiVersion, kind: kind}, true
}

// meta is an object's type.
type meta struct{ apiVersion, kind string }
