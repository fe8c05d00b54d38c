// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// openShift is the platform that gives each namespace user ids of its own.
const openShift = "openshift"

// platformIDs takes the user and group off the proxy where OpenShift has filled in those of the
// application for every container: the proxy's traffic could not be told from the application's.
func (r *run) platformIDs() error {
	if r.d.config.Platform != openShift || r.custom == nil || r.status != nil {
		return nil
	}
	uid := pod.Object(r.custom, "securityContext")["runAsUser"]
	if uid == nil || !pod.Equal(uid, r.appUser()) {
		return nil
	}
	for _, list := range pod.ContainerLists {
		r.After = clearIDs(r.After, list)
	}
	r.base, r.custom = r.After, withoutIDs(r.custom)
	return nil
}

// appUser is the user of the last container of the application.
func (r *run) appUser() any {
	var uid any = int64(0)
	for _, item := range pod.Items(pod.Object(r.Raw, "spec"), "containers") {
		c := item.(map[string]any)
		if c["name"] == proxyName {
			continue
		}
		uid = int64(0)
		if own := pod.Object(c, "securityContext")["runAsUser"]; own != nil {
			uid = own
		}
	}
	return uid
}

func clearIDs(tree map[string]any, list string) map[string]any {
	spec := pod.Object(tree, "spec")
	items := pod.Items(spec, list)
	at := pod.Place(items, proxyName)
	if at < 0 {
		return tree
	}
	out := append([]any(nil), items...)
	out[at] = withoutIDs(items[at].(map[string]any))
	return pod.With(tree, "spec", pod.With(spec, list, out))
}

func withoutIDs(c map[string]any) map[string]any {
	context := maps.Clone(pod.Object(c, "securityContext"))
	delete(context, "runAsUser")
	delete(context, "runAsGroup")
	return pod.With(c, "securityContext", context)
}
