// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// data is what a template reads, under the names that Istio's templates know.
type data struct {
	TypeMeta       metav1.TypeMeta   // of the workload that makes the pod
	DeploymentMeta metav1.ObjectMeta // its name and namespace
	ObjectMeta     metav1.ObjectMeta // of the author's pod
	Spec           corev1.PodSpec    // of the author's pod

	ProxyConfig *meshconfig.ProxyConfig // in effect for the pod
	MeshConfig  *meshconfig.MeshConfig
	Values      map[string]any
	Revision    string

	NativeSidecars             bool
	ProxyImage, ProxyInitImage string
	ProxyUID, ProxyGID         int64
	InboundTrafficPolicyMode   string
	CompliancePolicy           string
}

// data gathers what templates read.
func (r *run) data() (*data, error) {
	author, err := r.typed()
	if err != nil {
		return nil, &reason.Refusal{Reason: reason.PodUnreadable, Detail: err.Error(), Hint: "send a pod that the API server would accept"}
	}
	c, mesh := &r.d.config, r.d.config.Mesh.Mesh()
	d := &data{
		TypeMeta:       metav1.TypeMeta{APIVersion: r.Owner.APIVersion, Kind: r.Owner.Kind},
		DeploymentMeta: metav1.ObjectMeta{Name: r.Owner.Name, Namespace: r.Namespace},
		ObjectMeta:     author.ObjectMeta, Spec: author.Spec,
		ProxyConfig: r.proxy, MeshConfig: mesh, Values: c.Values, Revision: r.d.revision,
		NativeSidecars: r.native, ProxyImage: r.proxyImage(), ProxyInitImage: r.initImage(),
		InboundTrafficPolicyMode: inboundMode(mesh), CompliancePolicy: c.CompliancePolicy,
	}
	d.ProxyUID, d.ProxyGID = r.proxyIDs()
	d.ObjectMeta.ManagedFields = nil
	if d.ObjectMeta.Namespace == "" {
		d.ObjectMeta.Namespace = r.Namespace
	}
	return d, nil
}

// typed is the author's pod in the API's types.
func (r *run) typed() (*corev1.Pod, error) {
	if r.status == nil && r.overrides == nil {
		return r.In.Typed(r.author) // it is the pod as it came
	}
	return pod.Typed(r.author)
}

func inboundMode(mesh *meshconfig.MeshConfig) string {
	if mesh.GetInboundTrafficPolicy().GetMode() == meshconfig.MeshConfig_InboundTrafficPolicy_LOCALHOST {
		return "localhost"
	}
	return "passthrough"
}

// defaultID is the proxy's user and group where the platform has no say.
const defaultID = 1337

// proxyIDs are the user and the group that the proxy runs as.
func (r *run) proxyIDs() (uid, gid int64) {
	if r.d.config.Platform != openShift {
		return defaultID, defaultID
	}
	uid, gid, bad := openShiftIDs(r.Facts.NamespaceAnnotations)
	if bad != "" {
		detail := fmt.Sprintf("%s is no range of ids; %d is used", pod.Describe(r.Facts.NamespaceAnnotations[bad]), defaultID)
		r.Warn(reason.ParameterInvalid, "namespace metadata.annotations["+bad+"]", detail)
	}
	return uid, gid
}

// The annotations in which OpenShift allots user and group ids to a namespace.
const (
	uidRangeKey = "openshift.io/sa.scc.uid-range"
	groupsKey   = "openshift.io/sa.scc.supplemental-groups"
)

// openShiftIDs are the last user and the last group that OpenShift allots to a namespace: those that
// an application is least likely to run as. Where it allots none they are the defaults, and where an
// annotation cannot be read bad is its key.
func openShiftIDs(annotations map[string]string) (uid, gid int64, bad string) {
	uid, bad = allotted(annotations, uidRangeKey)
	gid, badGroups := allotted(annotations, groupsKey, uidRangeKey)
	return uid, gid, cmp.Or(bad, badGroups)
}

// allotted is the last id of the first block that the first of the annotations holds.
func allotted(annotations map[string]string, keys ...string) (id int64, bad string) {
	for _, key := range keys {
		text, ok := annotations[key]
		if !ok {
			continue
		}
		block, _, _ := strings.Cut(text, ",")
		if last, ok := lastOf(block); ok {
			return last, ""
		}
		return defaultID, key
	}
	return defaultID, ""
}

// maxID is the largest user or group that a pod may name.
const maxID = 1<<31 - 1

// lastOf is the last id of a block: start/size or start-end.
func lastOf(block string) (int64, bool) {
	block = strings.TrimSpace(block)
	first, second, sized := strings.Cut(block, "/")
	if !sized {
		first, second, _ = strings.Cut(block, "-")
	}
	start, err := strconv.ParseUint(first, 10, 32)
	if err != nil {
		return 0, false
	}
	end, err := strconv.ParseUint(second, 10, 32)
	if err != nil {
		return 0, false
	}
	if sized {
		end += start - 1 // a size of 0 ends before the start, or wraps past maxID
	}
	if end < start || end > maxID {
		return 0, false
	}
	return int64(end), true
}
