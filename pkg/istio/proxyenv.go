// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// clusterEnv gives the proxy the environment that the URL, the values and the network label say. It
// stands last, sorted by name, in the place of whatever templates set by these names.
func (r *run) clusterEnv() error {
	proxy := r.container(proxyName)
	if proxy == nil || len(r.env) == 0 {
		return nil
	}
	env := slices.DeleteFunc(slices.Clone(pod.Items(proxy, "env")), func(item any) bool {
		v, _ := item.(map[string]any)
		_, ours := r.env[pod.Text(v, "name")]
		return v != nil && ours
	})
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		env = append(env, envVar(name, r.env[name]))
	}
	proxy["env"] = env
	return nil
}

// envVar is a variable in the form of the API, which leaves out an empty value.
func envVar(name, value string) map[string]any {
	if value == "" {
		return map[string]any{"name": name}
	}
	return map[string]any{"name": name, "value": value}
}

// setEnv sets one variable of a container, in its place where it is there, else as the last: a second
// one of the same name would only hide the first.
func setEnv(container map[string]any, name, value string) {
	env := slices.Clone(pod.Items(container, "env"))
	if at := pod.Place(env, name); at >= 0 {
		env[at] = envVar(name, value)
	} else {
		env = append(env, envVar(name, value))
	}
	container["env"] = env
}
