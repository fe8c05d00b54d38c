// SPDX-License-Identifier: Apache-2.0

package reason

// The reasons, in the order of their ids; registry holds them in the same order.
const (
	None Reason = iota

	PodEnabled
	AlwaysSelector
	NamespaceEnabled
	NamespaceRevision
	PolicyEnabled

	MirrorPod
	OwnNamespace
	ProtectedNamespace
	AlreadyInjected
	HostNetwork
	PodDisabled
	NeverSelector
	NamespaceDisabled
	PolicyDisabled
	PodLabelInvalid
	NamespaceLabelInvalid
	NotSelected
	OSMismatch
	NoTemplates
	NotPodCreate
	IgnoredNamespace
	JobWithoutNativeSidecars

	TemplateLeftOut
	KeyOnWrongKind
	UnknownKey
	JobNeverCompletes
	PullSecretsReplace
	ScrapePortIsSidecars
	StatusRecordInvalid
	RetiredKind
	ContainerNotRendered
	ProbePortUnknown
	PodSecurityRefuses
	PortIsSidecars

	PodUnreadable
	UnknownTemplate
	ParameterInvalid
	TemplateFailed
	TemplateOutputInvalid
	TemplateLimit
	ContainerConflict
	VolumeConflict
	PortConflict
	LabelInvalid
	TemplateRefused
	OrderUnsatisfiable
	ResourcesConflict
	ReviewMalformed
	ReservedKey
	ConfigInvalid
	TemplateSyntax
	TemplateFunctionUnknown
	TemplateUnquoted
	TemplateFieldUnknown
	TemplateSelectorLabel
)

// registry is written once, here, and indexed by Reason.
var registry = []entry{
	{},
	{PodEnabled, "INJ001", "pod_enabled", "The pod's label pillion.dev/inject is enabled."},
	{AlwaysSelector, "INJ002", "always_selector", "A selector of alwaysInjectSelector matches the pod's labels."},
	{NamespaceEnabled, "INJ003", "namespace_enabled", "The namespace's label pillion.dev/inject is enabled."},
	{NamespaceRevision, "INJ004", "namespace_revision", "The namespace or the pod names this revision in pillion.dev/revision."},
	{PolicyEnabled, "INJ005", "policy_enabled", "Nothing else decides, and the configuration's policy is enabled."},

	{MirrorPod, "INJ101", "mirror_pod", "The pod mirrors a static pod; the kubelet runs it as its file says."},
	{OwnNamespace, "INJ102", "own_namespace", "The pod is in the injector's own namespace."},
	{ProtectedNamespace, "INJ103", "protected_namespace", "The pod is in a namespace that Kubernetes itself needs."},
	{AlreadyInjected, "INJ104", "already_injected", "Everything that the templates bring is in the pod already."},
	{HostNetwork, "INJ105", "host_network", "The pod uses the node's network, and no selected template has allowHostNetwork."},
	{PodDisabled, "INJ106", "pod_disabled", "The pod's label pillion.dev/inject, or without one its annotation, is disabled."},
	{NeverSelector, "INJ107", "never_selector", "A selector of neverInjectSelector matches the pod's labels."},
	{NamespaceDisabled, "INJ108", "namespace_disabled", "The namespace's label pillion.dev/inject is disabled."},
	{PolicyDisabled, "INJ109", "policy_disabled", "Nothing asks for injection, and the configuration's policy is disabled."},
	{PodLabelInvalid, "INJ110", "pod_label_invalid", "The pod's label pillion.dev/inject is neither enabled nor disabled."},
	{NamespaceLabelInvalid, "INJ111", "namespace_label_invalid", "The namespace's label pillion.dev/inject is neither enabled nor disabled."},
	{NotSelected, "INJ112", "not_selected", "Neither the namespace nor the pod asks for injection by this revision, so the webhook is not called."},
	{OSMismatch, "INJ113", "os_mismatch", "The pod is bound to an operating system that no selected template runs on."},
	{NoTemplates, "INJ114", "no_templates", "No template is selected: name one in defaultTemplates or in pillion.dev/templates."},
	{NotPodCreate, "INJ115", "not_pod_create", "Only the creation of a pod can be injected; any other request passes untouched."},
	{IgnoredNamespace, "INJ116", "ignored_namespace", "The namespace is in the configuration's ignoredNamespaces."},
	{JobWithoutNativeSidecars, "INJ117", "job_without_native_sidecars", "The pod runs a Job, native sidecars are not to be had, and the template says jobs: skip."},

	{TemplateLeftOut, "INJ201", "template_left_out", "An optional template failed and was left out."},
	{KeyOnWrongKind, "INJ202", "key_on_wrong_kind", "A label was given as an annotation, or an annotation as a label."},
	{UnknownKey, "INJ203", "unknown_key", "A key under our prefix is not one that exists; the nearest one is named."},
	{JobNeverCompletes, "INJ204", "job_never_completes", "The Job's pod gets an ordinary sidecar, which keeps the Job from completing."},
	{PullSecretsReplace, "INJ205", "pull_secrets_replace", "Added pull secrets keep the service account's own from being added."},
	{ScrapePortIsSidecars, "INJ206", "scrape_port_is_sidecars", "The scrape annotation points at a port of the sidecar."},
	{StatusRecordInvalid, "INJ207", "status_record_invalid", "The status annotation is not one that we wrote; it was ignored."},
	{RetiredKind, "INJ208", "retired_kind", "The API version of this workload is no longer served; the document was left as it is."},
	{ContainerNotRendered, "INJ209", "container_not_rendered", "A template's sidecars or order name a container that it does not render."},
	{ProbePortUnknown, "INJ210", "probe_port_unknown", "A probe or hook names a port that its container does not have; it was left as it is."},
	{PodSecurityRefuses, "INJ211", "pod_security_refuses", "The Pod Security admission of the namespace will refuse what a template brings: change the template, or the namespace's level."},
	{PortIsSidecars, "INJ212", "port_is_sidecars", "A container of the pod listens on a port of the sidecar; one of the two will not get it."},

	{PodUnreadable, "INJ301", "pod_unreadable", "The pod is not one that can be read."},
	{UnknownTemplate, "INJ302", "unknown_template", "pillion.dev/templates names a template that the configuration lacks."},
	{ParameterInvalid, "INJ303", "parameter_invalid", "A parameter's value is outside its bounds."},
	{TemplateFailed, "INJ304", "template_failed", "A required template failed on this pod."},
	{TemplateOutputInvalid, "INJ305", "template_output_invalid", "A template rendered something that is no partial pod."},
	{TemplateLimit, "INJ306", "template_limit", "A template ran past a bound of the sandbox."},
	{ContainerConflict, "INJ307", "container_conflict", "The pod sets a field of an injected container that its template does not let it set."},
	{VolumeConflict, "INJ308", "volume_conflict", "A volume of the pod has the name of an injected one and other content."},
	{PortConflict, "INJ309", "port_conflict", "A container of the pod listens on a port of the sidecar."},
	{LabelInvalid, "INJ310", "label_invalid", "A template sets a label or annotation that the API server would refuse."},
	{TemplateRefused, "INJ311", "template_refused", "The template itself refuses the pod, by fail or required."},
	{OrderUnsatisfiable, "INJ312", "order_unsatisfiable", "The order constraints of the templates contradict each other."},
	{ResourcesConflict, "INJ313", "resources_conflict", "An injected container would request more than its limit."},
	{ReviewMalformed, "INJ314", "review_malformed", "The admission review is not one that can be answered."},
	{ReservedKey, "INJ315", "reserved_key", "A template sets a key that only the injector may write."},
	{ConfigInvalid, "INJ330", "config_invalid", "The configuration does not hold together."},
	{TemplateSyntax, "INJ331", "template_syntax", "The template does not parse."},
	{TemplateFunctionUnknown, "INJ332", "template_function_unknown", "The template calls a function that the sandbox does not have."},
	{TemplateUnquoted, "INJ333", "template_unquoted", "The template places text that a pod controls into YAML without a quoting function."},
	{TemplateFieldUnknown, "INJ334", "template_field_unknown", "The template reads a field that the template data does not have."},
	{TemplateSelectorLabel, "INJ335", "template_selector_label", "The template sets a label that workloads use in their selectors."},
}
