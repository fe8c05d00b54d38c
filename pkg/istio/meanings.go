// SPDX-License-Identifier: Apache-2.0

package istio

import "github.com/pillion-dev/pillion/pkg/reason"

// meanings are the reasons whose pages speak of keys or fields that this dialect does not have.
func meanings() map[reason.Reason]string {
	return map[reason.Reason]string{
		reason.PodEnabled:      "The pod's label " + injectKey + ", or without one its annotation, is true.",
		reason.HostNetwork:     "The pod uses the node's network, and a proxy would take the traffic of the whole node.",
		reason.PodDisabled:     "The pod's label " + injectKey + ", or without one its annotation, is false.",
		reason.PolicyDisabled:  "Nothing asks for injection, and the configuration's policy is disabled, or is no policy.",
		reason.PodLabelInvalid: "The pod's label " + injectKey + ", or without one its annotation, is neither true nor false.",
		reason.UnknownTemplate: templatesKey + " or defaultTemplates names a template that the configuration lacks.",
	}
}
