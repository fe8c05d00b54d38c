// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// resourceCauses are the quantities for the proxy that are quantities, and for which the API server would
// refuse the pod without naming the annotation: less than nothing, or a request above its limit. Where
// the author writes the proxy's resources as fields, too, those would win.
func (r *run) resourceCauses() []reason.Cause {
	spec := pod.Object(r.Raw, "spec")
	for _, list := range pod.ContainerLists {
		if pod.Named(pod.Items(spec, list), proxyName)["resources"] != nil {
			return nil
		}
	}
	var causes []reason.Cause
	for _, keys := range [][2]string{{cpuKey, cpuLimitKey}, {memoryKey, memoryLimitKey}} {
		request, asked := r.quantity(keys[0])
		limit, bounded := r.quantity(keys[1])
		if asked && request.Sign() < 0 {
			causes = append(causes, r.cause(keys[0], "want 0 or more"))
		}
		if bounded && limit.Sign() < 0 {
			causes = append(causes, r.cause(keys[1], "want 0 or more"))
		}
		if asked && bounded && request.Cmp(limit) > 0 {
			text, _ := r.annotation(keys[1])
			causes = append(causes, r.cause(keys[0], "it is above the limit '"+shown(text)+"' of annotation '"+keys[1]+"'"))
		}
	}
	return causes
}

// quantity is what an annotation holds; false for one that is not there, that no template reads, or that
// is no quantity.
func (r *run) quantity(key string) (resource.Quantity, bool) {
	text, ok := r.annotation(key)
	if !ok || !r.reads(key) || checkQuantity(text) != nil {
		return resource.Quantity{}, false
	}
	q, err := pod.ParseQuantity(text)
	return q, err == nil
}

func (r *run) cause(key, fault string) reason.Cause {
	text, _ := r.annotation(key)
	return reason.Cause{
		Path:   PodAnnotation.path(key),
		Detail: "invalid value '" + shown(text) + "' for annotation '" + key + "': " + fault,
	}
}
