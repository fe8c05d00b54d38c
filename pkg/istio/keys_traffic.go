// SPDX-License-Identifier: Apache-2.0

package istio

// The keys that tell what traffic goes through the proxy.
const (
	interceptionKey    = "sidecar.istio.io/interceptionMode"
	includeRangesKey   = "traffic.sidecar.istio.io/includeOutboundIPRanges"
	excludeRangesKey   = "traffic.sidecar.istio.io/excludeOutboundIPRanges"
	includeInboundKey  = "traffic.sidecar.istio.io/includeInboundPorts"
	excludeInboundKey  = "traffic.sidecar.istio.io/excludeInboundPorts"
	includeOutboundKey = "traffic.sidecar.istio.io/includeOutboundPorts"
	excludeOutboundKey = "traffic.sidecar.istio.io/excludeOutboundPorts"
	excludeDevicesKey  = "traffic.sidecar.istio.io/excludeInterfaces"
	kubevirtKey        = "traffic.sidecar.istio.io/kubevirtInterfaces"
	rerouteKey         = "istio.io/reroute-virtual-interfaces"
	multusKey          = "k8s.v1.cni.cncf.io/networks"
	orAll              = ", or * for all"
)

var trafficKeys = []Key{
	{
		Name: interceptionKey, Place: PodAnnotation, Type: TypeEnum, Bounds: "REDIRECT, TPROXY or NONE", Written: true, check: checkInterception,
		Doc: "How connections reach the proxy.",
	},
	{
		Name: includeRangesKey, Place: PodAnnotation, Type: TypeRanges, Bounds: "without spaces" + orAll, Written: true, check: orStar(checkRanges),
		Doc: "The destinations whose traffic goes through the proxy.",
	},
	{
		Name: excludeRangesKey, Place: PodAnnotation, Type: TypeRanges, Bounds: "without spaces", Written: true, check: checkRanges,
		Doc: "The destinations whose traffic does not go through the proxy.",
	},
	{
		Name: includeInboundKey, Place: PodAnnotation, Type: TypePorts, Bounds: portBounds + orAll, Written: true, check: orStar(checkPorts),
		Doc: "The ports of the pod whose traffic goes through the proxy.",
	},
	{
		Name: excludeInboundKey, Place: PodAnnotation, Type: TypePorts, Bounds: portBounds, Written: true, check: checkPorts,
		Doc: "The ports of the pod whose traffic does not go through the proxy; the status port always is one.",
	},
	{
		Name: includeOutboundKey, Place: PodAnnotation, Type: TypePorts, Bounds: portBounds + orAll, Written: true, check: checkBare,
		Doc: "The ports of destinations whose traffic goes through the proxy, whatever their address.",
	},
	{
		Name: excludeOutboundKey, Place: PodAnnotation, Type: TypePorts, Bounds: portBounds, Written: true, check: checkPorts,
		Doc: "The ports of destinations whose traffic does not go through the proxy.",
	},
	{
		Name: excludeDevicesKey, Place: PodAnnotation, Type: TypeInterfaces, Bounds: interfaceBounds, Written: true, check: checkInterfaces,
		Doc: "The network interfaces of the pod whose traffic does not go through the proxy.",
	},
	{
		Name: kubevirtKey, Place: PodAnnotation, Type: TypeInterfaces, Bounds: interfaceBounds, check: checkInterfaces,
		Doc: "The older name of " + rerouteKey + ".",
	},
	{
		Name: rerouteKey, Place: PodAnnotation, Type: TypeInterfaces, Bounds: interfaceBounds, check: checkInterfaces,
		Doc: "The virtual interfaces, as those of a virtual machine in the pod, whose inbound traffic counts as outbound.",
	},
	{
		Name: multusKey, Place: PodAnnotation, Type: TypeJSON, Written: true, Bounds: "a list of names, or JSON",
		Doc: "The networks that Multus attaches; that of the mesh's CNI plugin is added.",
	},
}
