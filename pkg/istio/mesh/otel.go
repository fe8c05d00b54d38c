// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"cmp"
	"slices"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// The annotations with which a pod names its own OpenTelemetry resource, and the label that stands
// in for one of them.
const (
	otelPrefix       = "resource.opentelemetry.io/"
	OTelVersionLabel = "app.kubernetes.io/version"
)

// OTelPod is what names a pod's OpenTelemetry resource.
type OTelPod struct {
	Annotations, Labels map[string]string
	Namespace           string
	Containers          []corev1.Container
}

// Attributes are the OpenTelemetry resource attributes of a pod, as a list with commas. It is empty
// unless an extension provider of the mesh wants the semantic conventions of OpenTelemetry.
func (p OTelPod) Attributes(m *meshconfig.MeshConfig) string {
	if !slices.ContainsFunc(m.GetExtensionProviders(), semantic) {
		return ""
	}
	version, instance := p.Labels[OTelVersionLabel], ""
	if len(p.Containers) == 1 {
		version = cmp.Or(version, imageVersion(p.Containers[0].Image))
	}
	if len(p.Containers) > 0 {
		instance = p.Namespace + ".$(POD_NAME)." + p.Containers[0].Name
	}
	var list []string
	add := func(name, otherwise string) {
		if value := cmp.Or(p.Annotations[otelPrefix+name], otherwise); value != "" {
			list = append(list, name+"="+value)
		}
	}
	add("service.namespace", p.Namespace)
	add("service.version", version)
	add("service.instance.id", instance)
	return strings.Join(list, ",")
}

func semantic(p *meshconfig.MeshConfig_ExtensionProvider) bool {
	return p.GetOpentelemetry().GetServiceAttributeEnrichment() == meshconfig.MeshConfig_ExtensionProvider_OTEL_SEMANTIC_CONVENTIONS
}

// imageVersion is the tag of an image, its digest, or both. The API server takes any text for an image, and
// templates write the version into YAML: what no image can have is no version.
func imageVersion(image string) string {
	if strings.IndexFunc(image, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' }) >= 0 {
		return ""
	}
	name, digest, _ := strings.Cut(image, "@")
	_, tag, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	switch {
	case digest == "":
		return tag
	case tag == "":
		return digest
	}
	return tag + "@" + digest
}
