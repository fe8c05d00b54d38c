// SPDX-License-Identifier: Apache-2.0

package istio

// The keys of health and metrics.
const (
	statusPortKey       = "status.sidecar.istio.io/port"
	initialDelayKey     = "readiness.status.sidecar.istio.io/initialDelaySeconds"
	periodKey           = "readiness.status.sidecar.istio.io/periodSeconds"
	failureThresholdKey = "readiness.status.sidecar.istio.io/failureThreshold"
	rewriteProbesKey    = "sidecar.istio.io/rewriteAppHTTPProbers"
	mergeMetricsKey     = "prometheus.istio.io/merge-metrics"
	securePortKey       = "prometheus.istio.io/secure-port"
	scrapeTargetsKey    = "prometheus.istio.io/scrape-targets"
	metricsScrapeKey    = "prometheus.io/scrape"
	metricsPortKey      = "prometheus.io/port"
	metricsPathKey      = "prometheus.io/path"
)

// Nobody but the injector's own code reads the metrics annotations, so that their text reaches no
// YAML; what is wrong in them is told where they are read.
var statusKeys = []Key{
	{
		Name: statusPortKey, Place: PodAnnotation, Type: TypePort, Bounds: portBounds, check: checkPort,
		Doc: "The port on which the proxy's agent answers probes; 0 for no readiness probe.",
	},
	{
		Name: initialDelayKey, Place: PodAnnotation, Type: TypeInteger, Bounds: countBounds, check: checkCount,
		Doc: "The seconds before the first readiness probe of the proxy.",
	},
	{
		Name: periodKey, Place: PodAnnotation, Type: TypeInteger, Bounds: countBounds, check: checkCount,
		Doc: "The seconds between readiness probes of the proxy.",
	},
	{
		Name: failureThresholdKey, Place: PodAnnotation, Type: TypeInteger, Bounds: countBounds, check: checkCount,
		Doc: "The failed probes after which the proxy is not ready.",
	},
	{
		Name: rewriteProbesKey, Place: PodAnnotation, Type: TypeBool, Bounds: parsedBounds,
		Doc: "Sends the kubelet's probes of the application through the proxy's agent, or not; any other value leaves it to the mesh.",
	},
	{
		Name: mergeMetricsKey, Place: PodAnnotation, Type: TypeBool, Bounds: parsedBounds, check: checkBool,
		Doc: "Has the proxy's agent serve the application's metrics with its own, or not.",
	},
	{
		Name: securePortKey, Place: PodAnnotation, Type: TypePort, Written: true,
		Doc: "The port on which the merged metrics are served by mutual TLS.",
	},
	{
		Name: scrapeTargetsKey, Place: PodAnnotation, Type: TypeList, Bounds: "port or port:path",
		Doc: "The endpoints of the application whose metrics are merged, in place of " + metricsPortKey + " and " + metricsPathKey + ".",
	},
	{
		Name: metricsScrapeKey, Place: PodAnnotation, Type: TypeBool, Bounds: parsedBounds, Written: true,
		Doc: "Whether Prometheus scrapes the pod; where it is false, no metrics are merged.",
	},
	{
		Name: metricsPortKey, Place: PodAnnotation, Type: TypePort, Written: true,
		Doc: "The port that Prometheus scrapes: of the application, and once merged of the proxy's agent.",
	},
	{
		Name: metricsPathKey, Place: PodAnnotation, Type: TypeText, Written: true,
		Doc: "The path that Prometheus scrapes: of the application, and once merged of the proxy's agent.",
	},
}
