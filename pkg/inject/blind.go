// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// maxHidden bounds the values that are sought in a patch: a pod has a few, whoever wrote more gains nothing.
const maxHidden = 64

// blind tells whether an outcome is the same for every pod with the key: the values that it leaves out are
// read by no template, but a patch may still carry one along, with an item that it moves, and a template
// may bring a field of the same name, which would be compared with the pod's.
func (k *key) blind(wire []byte, warnings []reason.Warning, layers map[string]any) bool {
	if k.hide == 0 {
		return true
	}
	texts := k.in.HiddenTexts(k.hide)
	if len(texts) > maxHidden {
		return false
	}
	for _, text := range texts {
		if told(text, wire, warnings) {
			return false
		}
	}
	if k.hide&pod.HideClaim != 0 && bytes.Contains(wire, []byte(`"persistentVolumeClaim"`)) ||
		k.hide&pod.HideToken != 0 && bytes.Contains(wire, []byte(pod.TokenVolume)) {
		return false
	}
	return !touches(layers)
}

// told tells whether a hidden text may stand in a patch or a warning. One that JSON would write in another
// form is not looked for, and a short one only as a whole value.
func told(text string, wire []byte, warnings []reason.Warning) bool {
	const short = 4
	plain := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) < 0
	if !plain {
		return true
	}
	sought := text
	if len(text) < short {
		sought = `"` + text + `"`
	}
	return bytes.Contains(wire, []byte(sought)) || slices.ContainsFunc(warnings, func(w reason.Warning) bool {
		return strings.Contains(w.Detail, text) || strings.Contains(w.Path, text)
	})
}

// touches tells whether the templates bring a field that is left out of keys.
func touches(layers map[string]any) bool {
	metadata, spec := pod.Object(layers, "metadata"), pod.Object(layers, "spec")
	for key := range metadata {
		if key != "labels" && key != "annotations" {
			return true
		}
	}
	for _, ordinal := range pod.Ordinals() {
		if pod.Object(metadata, "labels")[ordinal] != nil || pod.Object(metadata, "annotations")[ordinal] != nil {
			return true
		}
	}
	if spec["hostname"] != nil || spec["affinity"] != nil {
		return true
	}
	if slices.ContainsFunc(pod.Items(spec, "volumes"), func(item any) bool {
		v, _ := item.(map[string]any)
		return v["persistentVolumeClaim"] != nil || strings.HasPrefix(pod.Text(v, "name"), pod.TokenVolume)
	}) {
		return true
	}
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(spec, list) {
			c, _ := item.(map[string]any)
			if slices.ContainsFunc(pod.Items(c, "volumeMounts"), mountsToken) {
				return true
			}
		}
	}
	return false
}

func mountsToken(item any) bool {
	m, _ := item.(map[string]any)
	return strings.HasPrefix(pod.Text(m, "name"), pod.TokenVolume)
}
