// SPDX-License-Identifier: Apache-2.0

package istio

// The keys that shape the proxy.
const (
	imageKey          = "sidecar.istio.io/proxyImage"
	imageTypeKey      = "sidecar.istio.io/proxyImageType"
	cpuKey            = "sidecar.istio.io/proxyCPU"
	cpuLimitKey       = "sidecar.istio.io/proxyCPULimit"
	memoryKey         = "sidecar.istio.io/proxyMemory"
	memoryLimitKey    = "sidecar.istio.io/proxyMemoryLimit"
	logLevelKey       = "sidecar.istio.io/logLevel"
	componentLevelKey = "sidecar.istio.io/componentLogLevel"
	agentLevelKey     = "sidecar.istio.io/agentLogLevel"
	bootstrapKey      = "sidecar.istio.io/bootstrapOverride"
	bindServiceKey    = "sidecar.istio.io/capNetBindService"
	userVolumeKey     = "sidecar.istio.io/userVolume"
	userMountKey      = "sidecar.istio.io/userVolumeMount"
	datadogKey        = "apm.datadoghq.com/env"
	otelNamespaceKey  = "resource.opentelemetry.io/service.namespace"
	otelVersionKey    = "resource.opentelemetry.io/service.version"
	otelInstanceKey   = "resource.opentelemetry.io/service.instance.id"
	noDefaults        = " Where any of the four is set, the mesh's default resources do not apply."
)

var proxyKeys = []Key{
	{
		Name: proxyConfigKey, Place: PodAnnotation, Type: TypeYAML, Bounds: "a ProxyConfig",
		Doc: "Settings of this proxy, over those of the mesh and the namespace.",
	},
	{
		Name: imageKey, Place: PodAnnotation, Type: TypeText, Bounds: "an image", check: checkText,
		Doc: "The image of the proxy and of the init container, in place of the mesh's.",
	},
	{
		Name: imageTypeKey, Place: PodAnnotation, Type: TypeText, Bounds: "default, debug, distroless or another variant", check: checkText,
		Doc: "The variant of the proxy's image.",
	},
	{Name: cpuKey, Place: PodAnnotation, Type: TypeQuantity, check: checkQuantity, Doc: "The CPU that the proxy requests." + noDefaults},
	{Name: cpuLimitKey, Place: PodAnnotation, Type: TypeQuantity, check: checkQuantity, Doc: "The CPU that the proxy may use." + noDefaults},
	{Name: memoryKey, Place: PodAnnotation, Type: TypeQuantity, check: checkQuantity, Doc: "The memory that the proxy requests." + noDefaults},
	{Name: memoryLimitKey, Place: PodAnnotation, Type: TypeQuantity, check: checkQuantity, Doc: "The memory that the proxy may use." + noDefaults},
	{
		Name: logLevelKey, Place: PodAnnotation, Type: TypeText, Bounds: "trace, debug, info, warning, error, critical or off", check: checkText,
		Doc: "How much Envoy logs.",
	},
	{
		Name: componentLevelKey, Place: PodAnnotation, Type: TypeText, Bounds: "component:level, separated by commas", check: checkText,
		Doc: "How much single components of Envoy log.",
	},
	{
		Name: agentLevelKey, Place: PodAnnotation, Type: TypeText, Bounds: "scope:level, separated by commas", check: checkText,
		Doc: "How much the proxy's agent logs.",
	},
	{
		Name: bootstrapKey, Place: PodAnnotation, Type: TypeText, Bounds: "the name of a ConfigMap", check: checkText,
		Doc: "A ConfigMap of the pod's namespace with a bootstrap configuration of its own for Envoy.",
	},
	{
		Name: bindServiceKey, Place: PodAnnotation, Type: TypeBool, Bounds: "true", check: checkText,
		Doc: "Lets the proxy bind ports below 1024.",
	},
	{
		Name: userVolumeKey, Place: PodAnnotation, Type: TypeJSON, Bounds: "an object of volume sources by name", check: checkVolumes,
		Doc: "Volumes to add to the pod for the proxy.",
	},
	{
		Name: userMountKey, Place: PodAnnotation, Type: TypeJSON, Bounds: "an object of volume mounts by volume name", check: checkMounts,
		Doc: "Mounts to add to the proxy.",
	},
	{
		Name: datadogKey, Place: PodAnnotation, Type: TypeJSON, Bounds: "an object of environment variables", check: checkDatadog,
		Doc: "Environment variables of a Datadog agent, handed on to the proxy.",
	},
	{
		Name: otelNamespaceKey, Place: PodAnnotation, Type: TypeText, check: checkText,
		Doc: "The service's namespace in OpenTelemetry's resource attributes; by default the pod's.",
	},
	{
		Name: otelVersionKey, Place: PodAnnotation, Type: TypeText, check: checkText,
		Doc: "The service's version in OpenTelemetry's resource attributes; by default that of the labels or of the image.",
	},
	{
		Name: otelInstanceKey, Place: PodAnnotation, Type: TypeText, check: checkText,
		Doc: "The service's instance in OpenTelemetry's resource attributes; by default made from namespace, pod and container.",
	},
}
