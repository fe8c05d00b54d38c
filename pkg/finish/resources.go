// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// resources refuses an injected container that requests more of a resource than its limit of that
// resource. Different resources are never compared.
func resources(s *State) error {
	for _, c := range s.containers() {
		if !c.brought {
			continue
		}
		tree := pod.Object(c.tree, "resources")
		requests, limits := pod.Object(tree, "requests"), pod.Object(tree, "limits")
		for _, name := range slices.Sorted(maps.Keys(requests)) {
			if limits[name] == nil {
				continue
			}
			if err := compare(c, name, requests[name], limits[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func compare(c container, name string, request, limit any) error {
	path := c.path() + ".resources.requests[" + name + "]"
	low, err := quantity(request)
	if err != nil {
		return conflict(path, err.Error())
	}
	high, err := quantity(limit)
	if err != nil {
		return conflict(c.path()+".resources.limits["+name+"]", err.Error())
	}
	if low.Cmp(high) > 0 {
		return conflict(path, fmt.Sprintf("the request %v is above the limit %v", request, limit))
	}
	return nil
}

func quantity(value any) (resource.Quantity, error) { return pod.ParseQuantity(fmt.Sprint(value)) }

func conflict(path, detail string) error {
	return &reason.Refusal{
		Reason: reason.ResourcesConflict, Path: path, Detail: detail,
		Hint: "lower the request or raise the limit: in the template, in its parameters or in the pod's own settings for the container",
	}
}
