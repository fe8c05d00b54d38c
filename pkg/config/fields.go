// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// parameterTypes is every type of parameter, in the order of the reference page.
var parameterTypes = []string{
	TypeString, TypeBool, TypeInt, TypeQuantity, TypeDuration, TypePort, TypePorts, TypeCIDRs, TypeEnum, TypeImage,
}

// probes is what the name probes in overridable stands for.
var probes = []string{"livenessProbe", "readinessProbe", "startupProbe"}

// containerFields is every name that overridable may hold: the fields of a container but its name,
// the parts of those with parts of their own worth opening, and the two short names.
var containerFields = []string{
	"*", "probes",
	"args", "command", "env", "envFrom", "image", "imagePullPolicy",
	"lifecycle", "lifecycle.postStart", "lifecycle.preStop", "lifecycle.stopSignal",
	"livenessProbe", "ports", "readinessProbe", "resizePolicy",
	"resources", "resources.claims", "resources.limits", "resources.requests",
	"restartPolicy", "restartPolicyRules",
	"securityContext", "securityContext.allowPrivilegeEscalation", "securityContext.appArmorProfile",
	"securityContext.capabilities", "securityContext.privileged", "securityContext.procMount",
	"securityContext.readOnlyRootFilesystem", "securityContext.runAsGroup", "securityContext.runAsNonRoot",
	"securityContext.runAsUser", "securityContext.seLinuxOptions", "securityContext.seccompProfile",
	"securityContext.windowsOptions",
	"startupProbe", "stdin", "stdinOnce", "terminationMessagePath", "terminationMessagePolicy", "tty",
	"volumeDevices", "volumeMounts", "workingDir",
}

// ParameterTypes lists every type of parameter, in the order of the reference page.
func ParameterTypes() []string { return slices.Clone(parameterTypes) }

// OverridableFields is Overridable with probes spelt out as the three probes. The name "*" stands
// for every field.
func (t Template) OverridableFields() []string {
	fields := make([]string, 0, len(t.Overridable)+len(probes))
	for _, name := range t.Overridable {
		if name == "probes" {
			fields = append(fields, probes...)
			continue
		}
		fields = append(fields, name)
	}
	return fields
}
