// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// limitRanger is the annotation in which the API server's LimitRanger tells that it has filled in
// resources.
const limitRanger = "kubernetes.io/limit-ranger"

// complete is a template's value with the defaults that depend on where they stand, which the API
// server will have filled in by the next call.
func complete(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v)+1)
		for k, item := range v {
			out[k] = complete(k, item)
		}
		switch key {
		case "httpGet":
			lacking(out, "path", "/")
		case "grpc":
			lacking(out, "service", "")
		case "resourceFieldRef":
			lacking(out, "divisor", "0")
		case "image":
			lacking(out, "pullPolicy", pullPolicy(pod.Text(out, "reference")))
		case "resources":
			out["requests"] = beside(pod.Object(out, "requests"), pod.Object(out, "limits"))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = complete("", item)
		}
		return out
	}
	return value
}

func lacking(m map[string]any, key string, value any) {
	if m[key] == nil {
		m[key] = value
	}
}

// beside is a map with what another has more.
func beside(m, more map[string]any) map[string]any {
	out := maps.Clone(more)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, m)
	return out
}

// ranged is a template's resources with those that LimitRanger has filled in where the template left
// them open.
func ranged(have, is map[string]any) map[string]any {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]any{}
	}
	for _, key := range []string{"limits", "requests"} {
		if more := pod.Object(is, key); len(more) > 0 {
			out[key] = beside(pod.Object(have, key), more)
		}
	}
	return out
}

// keep carries over to an injected container what the API server has put into it since an earlier
// call. It will not do so again after this one: the service account's token, and LimitRanger's
// resources.
func (r *run) keep(c map[string]any) map[string]any {
	was := r.anywhere(r.raw, pod.Text(c, "name"))
	if was == nil {
		return c
	}
	c = r.open(was, c)
	token := func(item any) bool {
		m, _ := item.(map[string]any)
		return pod.Text(m, "mountPath") == serviceAccountPath
	}
	mounts, at := pod.Items(c, "volumeMounts"), slices.IndexFunc(pod.Items(was, "volumeMounts"), token)
	if at < 0 || slices.ContainsFunc(mounts, token) {
		return c
	}
	mount := pod.Items(was, "volumeMounts")[at].(map[string]any)
	if !strings.HasPrefix(pod.Text(mount, "name"), pod.TokenVolume) {
		return c
	}
	return pod.With(c, "volumeMounts", slices.Concat(mounts, []any{mount}))
}

// open is a template's container with the resources of the pod's that LimitRanger may have filled in.
func (r *run) open(is, c map[string]any) map[string]any {
	if !r.limited() || is["resources"] == nil {
		return c
	}
	return pod.With(c, "resources", ranged(pod.Object(c, "resources"), pod.Object(is, "resources")))
}

// limited tells whether LimitRanger has filled in resources.
func (r *run) limited() bool {
	return r.in.Head().Metadata.Annotations[limitRanger] != ""
}

// sameVolume tells whether two volumes are the same, defaults of the API server apart.
func sameVolume(a, b map[string]any) bool {
	return pod.Equal(servedVolume(a), servedVolume(b))
}

func servedVolume(v map[string]any) any {
	if len(v) == 1 { // the name
		v = pod.With(v, "emptyDir", map[string]any{})
	}
	schema := pod.Schema().At("spec", "volumes", "*")
	return undefault(complete("", pod.Canonical(schema, v)))
}

// covers tells whether everything of want is in have, but for the status record: its indices may
// have been shifted by a stranger's containers.
func covers(have, want map[string]any) bool {
	metadata := pod.Object(want, "metadata")
	unrecorded := pod.With(metadata, "annotations", pod.With(pod.Object(metadata, "annotations"), annotation.Status, nil))
	want = pod.With(want, "metadata", unrecorded)
	schema := pod.Schema()
	return overlay.Covers(schema, pod.Canonical(schema, have), pod.Canonical(schema, want))
}
