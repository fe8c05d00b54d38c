// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Auto is the image by which an author leaves the image to the template.
const Auto = "auto"

// wishes are the fields of an author's fragment that really ask for something: not the name, not the
// image "auto", and not what the API server filled in or would leave out.
func wishes(fragment, c map[string]any) map[string]any {
	schema := pod.Schema().At("spec", "containers", "*")
	wish := undefaultContainer(pod.Canonical(schema, fragment).(map[string]any))
	if image := pod.Text(wish, "image"); image == Auto || image == "" {
		delete(wish, "image")
	}
	if wish["restartPolicy"] == "Always" {
		delete(wish, "restartPolicy") // how a native sidecar is written; the nodes say whether it is one
	}
	return wish
}

// allows refuses a wish that differs from the template's container in a field that the template
// does not let the author set.
func (t *template) allows(wish, c map[string]any, place string) error {
	for _, key := range slices.Sorted(maps.Keys(wish)) {
		if key == "name" || t.overridable(key) || covered(key, wish[key], c[key]) {
			continue
		}
		path, bad := key, wish[key]
		if inner, ok := bad.(map[string]any); ok {
			path, bad = t.innermost(key, inner, pod.Object(c, key))
			if path == "" {
				continue
			}
		}
		return &reason.Refusal{
			Reason: reason.ContainerConflict,
			Path:   place + "." + path,
			Detail: fmt.Sprintf("the pod sets %s; template %s brings this container and lets a pod set only %s", pod.Describe(bad), t.config.Name, strings.Join(t.config.Overridable, ", ")),
			Hint:   "drop the field, rename the container, or add the field to the template's overridable",
		}
	}
	return nil
}

// innermost finds the field of a struct that the author may not set, if there is one.
func (t *template) innermost(key string, wish, c map[string]any) (string, any) {
	for _, field := range slices.Sorted(maps.Keys(wish)) {
		path := key + "." + field
		if !t.overridable(path) && !pod.Equal(wish[field], c[field]) {
			return path, wish[field]
		}
	}
	return "", nil
}

func (t *template) overridable(path string) bool {
	return slices.Contains(t.open, path) || slices.Contains(t.open, "*")
}

// covered tells whether the template's value says all that the author's does, defaults of the API
// server apart.
func covered(key string, wish, have any) bool {
	schema := pod.Schema().At("spec", "containers", "*", key)
	return overlay.Covers(schema, pod.Canonical(schema, complete(key, undefault(have))), pod.Canonical(schema, wish))
}
