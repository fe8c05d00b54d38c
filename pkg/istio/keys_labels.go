// SPDX-License-Identifier: Apache-2.0

package istio

// The labels that tell what a pod is.
const (
	networkKey           = "topology.istio.io/network"
	tlsModeKey           = "security.istio.io/tlsMode"
	tunnelKey            = "networking.istio.io/tunnel"
	canonicalNameKey     = "service.istio.io/canonical-name"
	canonicalRevisionKey = "service.istio.io/canonical-revision"
	workloadNameKey      = "service.istio.io/workload-name"
	appKey               = "app"
	versionKey           = "version"
	appNameKey           = "app.kubernetes.io/name"
	appVersionKey        = "app.kubernetes.io/version"
	templateHashKey      = "pod-template-hash"
	rolloutHashKey       = "rollouts-pod-template-hash"
	deploymentConfigKey  = "deploymentconfig"
)

var labelKeys = []Key{
	{
		Name: networkKey, Place: PodLabel, Type: TypeText, Written: true, check: checkText,
		Doc: "The network that the pod is on; it wins over the URL's and the values'.",
	},
	{
		Name: tlsModeKey, Place: PodLabel, Type: TypeEnum, Bounds: "istio or disabled", Written: true, check: checkText,
		Doc: "Whether the pod accepts mutual TLS.",
	},
	{
		Name: tunnelKey, Place: PodLabel, Type: TypeEnum, Bounds: "http", Written: true, check: checkText,
		Doc: "The tunnel that the pod accepts.",
	},
	{
		Name: canonicalNameKey, Place: PodLabel, Type: TypeText, Written: true, check: checkText,
		Doc: "The service's name in telemetry; by default that of the labels " + appNameKey + " and " + appKey + ", else the workload's.",
	},
	{
		Name: canonicalRevisionKey, Place: PodLabel, Type: TypeText, Written: true, check: checkText,
		Doc: "The service's version in telemetry; by default that of the labels " + appVersionKey + " and " + versionKey + ", else latest.",
	},
	{
		Name: workloadNameKey, Place: PodLabel, Type: TypeText, check: checkText,
		Doc: "The workload's name in telemetry; by default that of the pod's owner.",
	},
	{Name: appKey, Place: PodLabel, Type: TypeText, check: checkText, Doc: "A name for the service, after " + appNameKey + "."},
	{Name: versionKey, Place: PodLabel, Type: TypeText, check: checkText, Doc: "A version for the service, after " + appVersionKey + "."},
	{Name: appNameKey, Place: PodLabel, Type: TypeText, check: checkText, Doc: "A name for the service."},
	{Name: appVersionKey, Place: PodLabel, Type: TypeText, check: checkText, Doc: "A version for the service."},
	{
		Name: templateHashKey, Place: PodLabel, Type: TypeText,
		Doc: "Tells the Deployment behind a ReplicaSet.",
	},
	{
		Name: rolloutHashKey, Place: PodLabel, Type: TypeText,
		Doc: "Tells the Rollout behind a ReplicaSet.",
	},
	{
		Name: deploymentConfigKey, Place: PodLabel, Type: TypeText,
		Doc: "Names the DeploymentConfig behind a ReplicationController.",
	},
}
