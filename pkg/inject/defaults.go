// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"maps"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// defaults are the values that the API server fills into volumes, probes, ports and field
// references (pkg/apis/core/v1/defaults.go of Kubernetes), by field name: a field that holds its
// default says nothing of its author.
var defaults = map[string]any{
	"defaultMode":              int64(420),
	"apiVersion":               "v1",
	"expirationSeconds":        int64(3600),
	"protocol":                 "TCP",
	"scheme":                   "HTTP",
	"timeoutSeconds":           int64(1),
	"periodSeconds":            int64(10),
	"successThreshold":         int64(1),
	"failureThreshold":         int64(3),
	"terminationMessagePath":   "/dev/termination-log",
	"terminationMessagePolicy": "File",
	"volumeMode":               "Filesystem",
	"iscsiInterface":           "default",
	"maxExpirationSeconds":     int64(86400),
}

// serviceAccountPath is where the API server mounts the service account's token into every container.
const serviceAccountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// undefault is a copy of a value without the fields that hold their default.
func undefault(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if d, ok := defaults[key]; (ok && d == item) || item == nil {
				continue
			}
			if key == "type" && item == "" { // of a hostPath
				continue
			}
			if m, ok := item.(map[string]any); ok && len(m) == 0 && (key == "metadata" || key == "resources") {
				continue // of a claim's template
			}
			out[key] = undefault(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = undefault(item)
		}
		return out
	}
	return value
}

// undefaultContainer is undefault for a container: also without empty resources, the pull policy
// that follows from the image, and the service account's mount.
func undefaultContainer(c map[string]any) map[string]any {
	out := undefault(c).(map[string]any)
	if len(pod.Object(out, "resources")) == 0 {
		delete(out, "resources")
	}
	if out["imagePullPolicy"] == pullPolicy(pod.Text(c, "image")) {
		delete(out, "imagePullPolicy")
	}
	var mounts []any
	for _, m := range pod.Items(out, "volumeMounts") {
		if mount, _ := m.(map[string]any); pod.Text(mount, "mountPath") != serviceAccountPath {
			mounts = append(mounts, m)
		}
	}
	setList(out, "volumeMounts", mounts)
	return out
}

// pullPolicy is the API server's default: a moving tag is always pulled.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") {
		return "IfNotPresent"
	}
	tag := ""
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		tag = image[i+1:]
	}
	if tag == "" || tag == "latest" {
		return "Always"
	}
	return "IfNotPresent"
}

// sources names what a volume is made of.
func sources(volume map[string]any) string {
	rest := maps.Clone(volume)
	delete(rest, "name")
	text := string(pod.Encode(rest))
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "") + "…"
	}
	return text
}
