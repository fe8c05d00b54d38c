// SPDX-License-Identifier: Apache-2.0

package istio

import "github.com/pillion-dev/pillion/pkg/istio/mesh"

// The keys that decide whether and with what a pod is injected.
const (
	injectKey       = "sidecar.istio.io/inject"
	templatesKey    = "inject.istio.io/templates"
	namespaceKey    = "istio-injection"
	revisionKey     = "istio.io/rev"
	dataplaneKey    = "istio.io/dataplane-mode"
	nativeKey       = "sidecar.istio.io/nativeSidecar"
	statusKey       = "sidecar.istio.io/status"
	overridesKey    = "proxy.istio.io/overrides"
	proxyConfigKey  = mesh.ConfigAnnotation
	mirrorKey       = "kubernetes.io/config.mirror"
	defaultKey      = "kubectl.kubernetes.io/default-container"
	defaultLogsKey  = "kubectl.kubernetes.io/default-logs-container"
	boolText        = "true or false"
	anyRevisionText = "the name of a revision or a tag"
)

var injectionKeys = []Key{
	{
		Name: injectKey, Place: PodLabel, Type: TypeBool, Bounds: boolText,
		Doc: "Asks for injection or forbids it. It wins over the annotation of the same name, even where it is empty; any other value is told as a warning and decides nothing.",
	},
	{
		Name: injectKey, Place: PodAnnotation, Type: TypeBool, Bounds: boolText,
		Doc: "The same, where the label is missing. No webhook's selector sees an annotation: in a namespace that is not labelled it asks for nothing.",
	},
	{
		Name: namespaceKey, Place: NamespaceLabel, Type: TypeEnum, Bounds: "enabled or disabled",
		Doc: "Asks for injection of the namespace's pods by the default revision; any value but enabled forbids it.",
	},
	{
		Name: revisionKey, Place: NamespaceLabel, Type: TypeText, Bounds: anyRevisionText,
		Doc: "Asks for injection of the namespace's pods by that revision, unless " + namespaceKey + " says something.",
	},
	{
		Name: revisionKey, Place: PodLabel, Type: TypeText, Bounds: anyRevisionText, check: checkText,
		Doc: "Asks for injection by that revision, where the namespace says nothing.",
	},
	{
		Name: revisionKey, Place: PodAnnotation, Type: TypeText, Written: true, check: checkText,
		Doc: "The revision that injected the pod.",
	},
	{
		Name: dataplaneKey, Place: NamespaceLabel, Type: TypeEnum, Bounds: "ambient or none",
		Doc: "Enrols the namespace's pods in the ambient mesh; a pod with a sidecar is left out of it.",
	},
	{
		Name: dataplaneKey, Place: PodLabel, Type: TypeEnum, Bounds: "ambient or none", check: checkText,
		Doc: "Enrols the pod in the ambient mesh, or keeps it out; a pod with a sidecar is left out of it.",
	},
	{
		Name: templatesKey, Place: PodAnnotation, Type: TypeList, Bounds: "names of templates and aliases",
		Doc: "The templates to inject, in place of the default ones. An empty text is the one template whose name is empty.",
	},
	{
		Name: nativeKey, Place: PodAnnotation, Type: TypeBool, Bounds: boolText, check: checkText,
		Doc: "Makes the proxy a native sidecar, or an ordinary container, whatever the mesh does.",
	},
	{
		Name: statusKey, Place: PodAnnotation, Type: TypeJSON, Written: true,
		Doc: "The record of the injection: the containers, volumes and pull secrets that templates brought, and the revision.",
	},
	{
		Name: overridesKey, Place: PodAnnotation, Type: TypeJSON, Written: true, Bounds: "an object with containers and initContainers",
		Doc: "What the author set on containers that templates bring, kept for the next call of the webhook.",
	},
	{
		Name: defaultKey, Place: PodAnnotation, Type: TypeText, Written: true, check: checkText,
		Doc: "The container that kubectl takes when none is named: the first of the application.",
	},
	{
		Name: defaultLogsKey, Place: PodAnnotation, Type: TypeText, Written: true, check: checkText,
		Doc: "The container whose logs kubectl shows when none is named: the first of the application.",
	},
}
