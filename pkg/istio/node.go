// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// nativeSince is the minor version of the first kubelet that runs native sidecars as the proxy needs
// them.
const nativeSince = 33

// OldKubelet tells whether a kubelet of this version does not run native sidecars, as the mode auto
// sees it. Only the minor version counts; a version that cannot be read is an old one. The cluster's
// watch asks it once for each node, so that no request has to.
func OldKubelet(version string) bool {
	_, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(minor, 10, 32)
	return err != nil || n < nativeSince
}

// nativeWanted tells whether the proxy is to be a native sidecar, as far as the mesh and the nodes
// decide: with auto where the pod's node runs such, or every node of the cluster while the pod has
// none.
func (r *run) nativeWanted() bool {
	if r.alone() {
		return false
	}
	switch r.d.config.NativeSidecars {
	case "on":
		return true
	case "off":
		return false
	}
	if r.cluster() != r.d.cluster {
		return false // nothing is known of that cluster's nodes
	}
	return !r.oldNode()
}

// alone tells whether the pod holds nothing but the proxy: as an init container it would leave no
// container, and the API server refuses such a pod.
func (r *run) alone() bool {
	items := pod.Items(pod.Object(r.author, "spec"), "containers")
	for _, item := range items {
		if c, _ := item.(map[string]any); c["name"] != proxyName {
			return false
		}
	}
	return len(items) > 0
}

// defaultCluster is the name of a cluster that has been given none.
const defaultCluster = "Kubernetes"

// cluster is the name of the cluster that the pod is for.
func (r *run) cluster() string {
	return cmp.Or(r.env[clusterEnv], r.d.settings.cluster, defaultCluster)
}
