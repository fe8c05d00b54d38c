// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// checkVolumes judges the volumes that an author adds by annotation, as far as the API server would
// refuse the pod for them: it would not name the annotation.
func checkVolumes(text string) error {
	volumes := jsonObject(text)
	for _, name := range slices.Sorted(maps.Keys(volumes)) {
		if err := checkText(name); err != nil {
			return fmt.Errorf("volume %s: the name: %w", quoted(name), err)
		}
		source, ok := volumes[name].(map[string]any)
		if !ok {
			return fmt.Errorf("volume %s: want an object, got %s", quoted(name), pod.Describe(volumes[name]))
		}
		if err := checkItems(source); err != nil {
			return fmt.Errorf("volume %s: %w", quoted(name), err)
		}
	}
	return nil
}

// checkMounts judges the mounts that an author adds by annotation. Whether their volumes exist shows
// later.
func checkMounts(text string) error {
	mounts := jsonObject(text)
	for _, name := range slices.Sorted(maps.Keys(mounts)) {
		if err := checkText(name); err != nil {
			return fmt.Errorf("mount %s: the name: %w", quoted(name), err)
		}
		if _, ok := mounts[name].(map[string]any); !ok {
			return fmt.Errorf("mount %s: want an object, got %s", quoted(name), pod.Describe(mounts[name]))
		}
	}
	return nil
}

// jsonObject reads a JSON object as the templates' fromJSON does, which takes the last of two equal names;
// nil for anything else, on which a template that reads it fails by itself.
func jsonObject(text string) map[string]any {
	m, _ := fromJSON(text).(map[string]any)
	return m
}

// checkItems finds a file that would lie outside of its volume.
func checkItems(source map[string]any) error {
	for _, kind := range []string{"configMap", "downwardAPI", "secret"} {
		for i, item := range pod.Items(pod.Object(source, kind), "items") {
			m, _ := item.(map[string]any)
			at := pod.Text(m, "path")
			if path.IsAbs(at) || slices.Contains(strings.Split(at, "/"), "..") {
				return fmt.Errorf("%s.items[%d].path: want a path inside the volume, got %s", kind, i, quoted(at))
			}
		}
	}
	for i, item := range pod.Items(pod.Object(source, "projected"), "sources") {
		inner, _ := item.(map[string]any)
		if err := checkItems(inner); err != nil {
			return fmt.Errorf("projected.sources[%d].%w", i, err)
		}
	}
	return nil
}

// userVolumes refuses a mount that the author adds by annotation and whose volume nobody brings.
func (r *run) userVolumes() error {
	text, ok := r.annotation(userMountKey)
	if !ok || !r.reads(userMountKey) {
		return nil
	}
	mounts := jsonObject(text)
	spec := pod.Object(r.After, "spec")
	volumes := pod.Items(spec, "volumes")
	for _, name := range mounted(spec) {
		if _, added := mounts[name]; added && pod.Place(volumes, name) < 0 {
			return &reason.Refusal{
				Reason: reason.ParameterInvalid, Path: PodAnnotation.path(userMountKey),
				Detail: fmt.Sprintf("invalid value '%s' for annotation '%s': there is no volume %s", shown(text), userMountKey, quoted(name)),
				Hint:   "bring the volume in " + userVolumeKey + " or in the pod's own volumes",
			}
		}
	}
	return nil
}

// mounted are the names of the volumes that containers mount, in their order.
func mounted(spec map[string]any) []string {
	var out []string
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(spec, list) {
			c, _ := item.(map[string]any)
			out = append(out, names(c, "volumeMounts")...)
		}
	}
	return out
}
