// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"net/url"
	"strings"
)

// The proxy's environment that the injector itself knows.
const (
	clusterEnv = "ISTIO_META_CLUSTER_ID"
	networkEnv = "ISTIO_META_NETWORK"
)

const (
	envMark   = ":ENV:"     // begins each pair of the older form
	slashMark = "--slash--" // stands for a slash in a value of the newer one
)

// ParsePath reads the proxy's environment from what follows the webhook's own path in a URL, as it
// was sent. Two forms are known: /key/value/key/value, and the older :ENV:key=value:ENV:key=value.
// What is no pair is left out, so that a slip in the URL costs a variable and not the pod.
func ParsePath(path string) map[string]string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	env := map[string]string{}
	if whole := unescaped(path); strings.HasPrefix(whole, envMark) {
		for pair := range strings.SplitSeq(whole, envMark) {
			if key, value, ok := strings.Cut(pair, "="); ok {
				set(env, key, value)
			}
		}
		return env
	}
	for rest, more := path, path != ""; more; {
		var key, value string
		if key, rest, more = strings.Cut(rest, "/"); !more {
			break
		}
		value, rest, more = strings.Cut(rest, "/")
		set(env, unescaped(key), strings.ReplaceAll(unescaped(value), slashMark, "/"))
	}
	return env
}

func set(env map[string]string, key, value string) {
	switch key {
	case "":
		return
	case "cluster":
		key = clusterEnv
	case "net":
		key = networkEnv
	default:
		key = strings.ToUpper(key)
	}
	env[key] = value
}

// unescaped leaves a text that is wrongly escaped as it is.
func unescaped(text string) string {
	if out, err := url.PathUnescape(text); err == nil {
		return out
	}
	return text
}

// proxyEnv is the proxy's environment from the URL, with the cluster and the network. The URL wins
// over the values, and the pod's own label over both: who labels a pod knows where it runs.
func (r *run) proxyEnv() map[string]string {
	env := ParsePath(r.Facts.Path)
	cluster, network := r.d.settings.cluster, r.d.settings.network
	if v := env[clusterEnv]; v != "" {
		cluster = v
	}
	if v := env[networkEnv]; v != "" {
		network = v
	}
	if v, ok := r.head.Metadata.Labels[networkKey]; ok {
		network = v
	}
	if cluster != "" {
		env[clusterEnv] = cluster
	}
	if network != "" {
		env[networkEnv] = network
	}
	return env
}
