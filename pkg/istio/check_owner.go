// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// ownerCauses are the faults of what names a pod's controller. Templates write it into YAML, and the API
// server, which judges the names of objects, takes any text for it.
func ownerCauses(owners []pod.Owner) []reason.Cause {
	var causes []reason.Cause
	for i, o := range owners {
		if !o.Controller {
			continue
		}
		for _, field := range [][2]string{{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}} {
			path := fmt.Sprintf("metadata.ownerReferences[%d].%s", i, field[0])
			if err := checkText(field[1]); err != nil {
				causes = append(causes, reason.Cause{Path: path, Detail: "invalid value '" + shown(field[1]) + "' for " + path + ": " + err.Error()})
			}
		}
	}
	return causes
}
