// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// appendMultusNetwork adds a network to those that a pod's annotation asks Multus for, which are
// names with commas between them or a JSON list of objects. The text that is there stays as it is,
// and is all of the answer where it holds the network already or is no such list.
func appendMultusNetwork(existing, network string) string {
	if existing == "" {
		return network
	}
	end := strings.LastIndexByte(existing, ']')
	if end < 0 {
		for item := range strings.SplitSeq(existing, ",") {
			if strings.TrimSpace(item) == network {
				return existing
			}
		}
		return existing + ", " + network
	}
	var networks []map[string]any
	err := json.Unmarshal([]byte(existing), &networks)
	named := func(n map[string]any) bool { return n["name"] == network }
	if err != nil || slices.ContainsFunc(networks, named) {
		return existing
	}
	item := `{"name": ` + string(pod.Encode(network)) + `}`
	if len(networks) > 0 {
		item = ", " + item
	}
	return existing[:end] + item + existing[end:]
}
