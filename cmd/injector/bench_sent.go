// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// asSent is a replica of a manifest's pod as the API server sends it to a webhook: named and labelled by
// its controller, with the defaults filled in and the service account's token mounted. The size of a
// review, the owner and what replicas differ in all come from there.
func asSent(one subject, replica int) []byte {
	value, err := one.doc.Tree()
	if err != nil {
		return one.doc.Raw() // it is refused, whatever else it has
	}
	tree := pod.Clone(value)
	meta, spec := member(tree, "metadata"), member(tree, "spec")
	meta["uid"] = fmt.Sprintf("0b1f0b52-6a53-4a0e-8bd5-%012d", replica)
	meta["creationTimestamp"] = fmt.Sprintf("2026-01-02T03:04:%02dZ", replica)
	if one.facts.Owner != nil {
		control(meta, spec, *one.facts.Owner, replica)
	}
	fillSpec(spec)
	if spec["automountServiceAccountToken"] != false {
		mountToken(spec, pod.TokenVolume+[]string{"x7k2p", "m4q9z"}[replica])
	}
	tree["status"] = map[string]any{}
	return pod.Encode(tree)
}

// member is an object's member, made where there is none.
func member(m map[string]any, key string) map[string]any {
	if m[key] == nil {
		m[key] = map[string]any{}
	}
	if o := pod.Object(m, key); o != nil {
		return o
	}
	return map[string]any{} // what stands there is no object, and stays
}

// templateHash is any hash of a pod template.
const templateHash = "7d9f5c6b8d"

// control makes the pod that of a workload: by the object that stands between the two, where there is one.
func control(meta, spec map[string]any, owner inject.Owner, replica int) {
	owner.Name = strings.TrimSuffix(owner.Name, "*")
	if owner.Name == "" {
		owner.Name = "unnamed"
	}
	labels := map[string]string{}
	switch name := owner.Name; owner.Kind {
	case "Deployment":
		owner = inject.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-" + templateHash}
		labels["pod-template-hash"] = templateHash
	case "Rollout":
		owner = inject.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-" + templateHash}
		labels["rollouts-pod-template-hash"] = templateHash
	case "DeploymentConfig":
		owner = inject.Owner{APIVersion: "v1", Kind: "ReplicationController", Name: name + "-1"}
		labels["deployment"], labels["deploymentconfig"] = owner.Name, name
	case "CronJob":
		owner = inject.Owner{APIVersion: "batch/v1", Kind: "Job", Name: name + "-29456789"}
		labels["batch.kubernetes.io/job-name"] = owner.Name
	case "Job":
		labels["batch.kubernetes.io/job-name"] = name
	case "DaemonSet":
		labels["controller-revision-hash"], labels["pod-template-generation"] = templateHash, "1"
	case "StatefulSet":
		own := fmt.Sprintf("%s-%d", name, replica)
		meta["name"], spec["hostname"] = own, own
		labels["controller-revision-hash"] = name + "-" + templateHash
		labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"] = own, fmt.Sprint(replica)
	}
	meta["generateName"] = owner.Name + "-"
	meta["ownerReferences"] = []any{map[string]any{
		"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": "1f3f4a5e-0000-4000-8000-000000000001",
		"controller": true, "blockOwnerDeletion": true,
	}}
	for key, value := range labels {
		member(meta, "labels")[key] = value
	}
}

// fillSpec sets the defaults that nearly every pod has.
func fillSpec(spec map[string]any) {
	fill(spec, map[string]any{
		"restartPolicy": "Always", "terminationGracePeriodSeconds": int64(30), "dnsPolicy": "ClusterFirst", "securityContext": map[string]any{},
		"schedulerName": "default-scheduler", "serviceAccountName": "default", "priority": int64(0), "enableServiceLinks": true,
		"preemptionPolicy": "PreemptLowerPriority", "tolerations": []any{toleration("not-ready"), toleration("unreachable")},
	})
	fill(spec, map[string]any{"serviceAccount": spec["serviceAccountName"]})
	for _, c := range everyContainer(spec) {
		fill(c, map[string]any{
			"resources": map[string]any{}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
			"imagePullPolicy": "IfNotPresent",
		})
		for _, item := range pod.Items(c, "ports") {
			if port, ok := item.(map[string]any); ok {
				fill(port, map[string]any{"protocol": "TCP"})
			}
		}
	}
}

func toleration(of string) map[string]any {
	return map[string]any{"key": "node.kubernetes.io/" + of, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300)}
}

// fill sets members that are not there.
func fill(m, defaults map[string]any) {
	for key, value := range defaults {
		if m[key] == nil {
			m[key] = value
		}
	}
}

// everyContainer lists the containers of both kinds.
func everyContainer(spec map[string]any) (list []map[string]any) {
	for _, kind := range pod.ContainerLists {
		for _, item := range pod.Items(spec, kind) {
			if c, ok := item.(map[string]any); ok {
				list = append(list, c)
			}
		}
	}
	return list
}

// mountToken does what the service account's admission does.
func mountToken(spec map[string]any, name string) {
	const place = "/var/run/secrets/kubernetes.io/serviceaccount"
	volumes := pod.Items(spec, "volumes")
	if volumes == nil && spec["volumes"] != nil {
		return // no list
	}
	spec["volumes"] = append(volumes, map[string]any{"name": name, "projected": map[string]any{
		"defaultMode": int64(420),
		"sources": []any{
			map[string]any{"serviceAccountToken": map[string]any{"expirationSeconds": int64(3607), "path": "token"}},
			map[string]any{"configMap": map[string]any{"name": "kube-root-ca.crt", "items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}}}},
			map[string]any{"downwardAPI": map[string]any{"items": []any{map[string]any{
				"path": "namespace", "fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.namespace"},
			}}}},
		},
	}})
	for _, c := range everyContainer(spec) {
		mounts := pod.Items(c, "volumeMounts")
		if mounts == nil && c["volumeMounts"] != nil {
			continue
		}
		c["volumeMounts"] = append(mounts, map[string]any{"name": name, "readOnly": true, "mountPath": place})
	}
}
