// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"
	"strconv"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/pillion-dev/pillion/pkg/pod"
)

const (
	transparent   = "TPROXY" // a mode of interception
	proxyUserFlag = "-u"     // of the redirection: the user whose traffic it leaves alone
)

// userIDs carries the user and group that the author gave the proxy to the container that redirects
// traffic: traffic of any other user than the one it knows would come back to the proxy.
func (r *run) userIDs() error {
	context := pod.Object(r.custom, "securityContext")
	uid, hasUser := whole(context["runAsUser"])
	gid, hasGroup := whole(context["runAsGroup"])
	if !hasUser && !hasGroup {
		return nil
	}
	redirect := r.redirection()
	if redirect == nil {
		return nil
	}
	ids := map[string]any{}
	if hasUser {
		ids["runAsUser"] = uid
	}
	if hasGroup {
		ids["runAsGroup"] = gid
	}
	switch {
	case !r.transparent() && redirect["name"] == validationName:
		setIDs(redirect, ids)
	case r.transparent() && hasUser:
		// Transparent redirection needs the superuser, whatever the author says.
		if proxy := r.container(proxyName); proxy != nil {
			setIDs(proxy, map[string]any{"runAsUser": int64(0)})
		}
	}
	if uid != 0 {
		setProxyUser(redirect, uid)
	}
	return nil
}

// redirection is the container that redirects traffic, or that checks that something else did.
func (r *run) redirection() map[string]any {
	items := pod.Items(pod.Object(r.After, "spec"), "initContainers")
	if c := pod.Named(items, initName); c != nil {
		return c
	}
	return pod.Named(items, validationName)
}

// transparent tells whether traffic reaches the proxy with its original source address.
func (r *run) transparent() bool {
	return r.proxy.GetInterceptionMode() == meshconfig.ProxyConfig_TPROXY || r.annotations()[interceptionKey] == transparent
}

func setIDs(container, ids map[string]any) {
	context := maps.Clone(pod.Object(container, "securityContext"))
	if context == nil {
		context = map[string]any{}
	}
	maps.Copy(context, ids)
	container["securityContext"] = context
}

func setProxyUser(container map[string]any, uid int64) {
	args := pod.Items(container, "args")
	at := slices.IndexFunc(args, func(arg any) bool { return arg == proxyUserFlag })
	if at < 0 || at+1 == len(args) {
		return
	}
	args = slices.Clone(args)
	args[at+1] = strconv.FormatInt(uid, 10)
	container["args"] = args
}
