// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

const (
	userVolumeKey = "sidecar.istio.io/userVolume"
	userMountKey  = "sidecar.istio.io/userVolumeMount"
)

// given is an annotation that holds a JSON object, if a selected template reads it.
func (in *input) given(key string) map[string]any {
	text, _ := in.annotations()[key].(string)
	reads := func(template string) bool { return strings.Contains(in.file.Injection.Templates[template], key) }
	var m map[string]any
	if !slices.ContainsFunc(in.selected(), reads) || json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	return m
}

// badVolumes: the pod's author adds a file outside of its volume, or mounts a volume that nobody brings.
func badVolumes(r *runner, in *input) bool {
	added := in.given(userVolumeKey)
	for _, v := range added {
		volume, _ := v.(map[string]any)
		if leaves(volume) {
			return true
		}
	}
	for name := range in.given(userMountKey) {
		if added[name] != nil || pod.Named(pod.Items(pod.Object(in.pod, "spec"), "volumes"), name) != nil {
			continue
		}
		brings := func(t string) bool {
			return pod.Named(pod.Items(pod.Object(r.alone(in, t), "spec"), "volumes"), name) != nil
		}
		if !slices.ContainsFunc(in.selected(), brings) {
			return true
		}
	}
	return false
}

// leaves tells whether a file of the volume would lie outside of it.
func leaves(volume map[string]any) bool {
	for _, kind := range []string{"configMap", "downwardAPI", "secret"} {
		for _, item := range pod.Items(pod.Object(volume, kind), "items") {
			m, _ := item.(map[string]any)
			at := pod.Text(m, "path")
			if path.IsAbs(at) || slices.Contains(strings.Split(at, "/"), "..") {
				return true
			}
		}
	}
	return slices.ContainsFunc(pod.Items(pod.Object(volume, "projected"), "sources"), func(source any) bool {
		inner, _ := source.(map[string]any)
		return leaves(inner)
	})
}

func volumesRefused(_ *runner, p *pair) error { return p.refusedInstead("sidecar.istio.io/userVolume") }
