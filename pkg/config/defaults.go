// SPDX-License-Identifier: Apache-2.0

package config

// The choices of the fields that have a closed set, the default first.
const (
	DialectPillion = "pillion"
	DialectIstio   = "istio"

	PolicyEnabled  = "enabled"
	PolicyDisabled = "disabled"

	NativeAuto = "auto"
	NativeOn   = "on"
	NativeOff  = "off"

	ProofSampled = "sampled"
	ProofAlways  = "always"

	OSLinux   = "linux"
	OSWindows = "windows"
	OSAny     = "any"

	JobsNative = "native"
	JobsSkip   = "skip"
	JobsInject = "inject"
)

// The types of parameters.
const (
	TypeString   = "string"
	TypeBool     = "bool"
	TypeInt      = "int"
	TypeQuantity = "quantity"
	TypeDuration = "duration"
	TypePort     = "port"
	TypePorts    = "ports"
	TypeCIDRs    = "cidrs"
	TypeEnum     = "enum"
	TypeImage    = "image"
)

// defaulter is a type whose absent fields have a value other than the zero one.
type defaulter interface{ setDefaults() }

func (c *Config) setDefaults() {
	c.Dialect = DialectPillion
	c.Policy = PolicyEnabled
	c.NativeSidecars = NativeAuto
	c.Proof = ProofSampled
}

func (t *Template) setDefaults() {
	t.Required = true
	t.OS = OSLinux
	t.Jobs = JobsNative
	t.Overridable = []string{"env", "resources", "volumeMounts", "probes", "securityContext.runAsUser", "securityContext.runAsGroup"}
}
