// SPDX-License-Identifier: Apache-2.0

package values

// The types below say what Istio's reference of its values says of each field. They hold no values:
// the checker reads nothing but names and types. A map[string]any is a map of whatever; what may be
// of several types, or what nobody says the type of, is left out or any.

type chart struct {
	Global        global         `json:"global"`
	Injector      injector       `json:"sidecarInjectorWebhook"`
	Pilot         pilot          `json:"pilot"`
	Gateways      gateways       `json:"gateways"`
	IstioCNI      map[string]any `json:"istio_cni"`
	CNI           map[string]any `json:"cni"`
	Ztunnel       map[string]any `json:"ztunnel"`
	Telemetry     map[string]any `json:"telemetry"`
	Base          map[string]any `json:"base"`
	IstiodRemote  map[string]any `json:"istiodRemote"`
	Revision      string         `json:"revision"`
	OwnerName     string         `json:"ownerName"`
	RevisionTags  []string       `json:"revisionTags"`
	DefaultRev    string         `json:"defaultRevision"`
	Profile       string         `json:"profile"`
	Compatibility string         `json:"compatibilityVersion"`
}

type enabled struct {
	Enabled bool `json:"enabled"`
}

// quantities are quoted: a number would lose its unit or its last digits on the way.
type quantities struct {
	Limits   map[string]string `json:"limits"`
	Requests map[string]string `json:"requests"`
}

type global struct {
	Arch                  arch             `json:"arch"`
	CAAddress             string           `json:"caAddress"`
	CAName                string           `json:"caName"`
	CertSigners           []string         `json:"certSigners"`
	ConfigCluster         bool             `json:"configCluster"`
	ConfigRootNamespace   string           `json:"configRootNamespace"`
	ConfigValidation      bool             `json:"configValidation"`
	ConfigVisibility      []string         `json:"defaultConfigVisibilitySettings"`
	DefaultNodeSelector   map[string]any   `json:"defaultNodeSelector"`
	DefaultDisruption     enabled          `json:"defaultPodDisruptionBudget"`
	DefaultResources      quantities       `json:"defaultResources"`
	DefaultTolerations    []map[string]any `json:"defaultTolerations"`
	ExternalIstiod        bool             `json:"externalIstiod"`
	Hub                   string           `json:"hub"`
	ImagePullPolicy       string           `json:"imagePullPolicy"`
	ImagePullSecrets      []string         `json:"imagePullSecrets"`
	IPFamilies            []string         `json:"ipFamilies"`
	IPFamilyPolicy        string           `json:"ipFamilyPolicy"`
	Istiod                istiod           `json:"istiod"`
	IstioNamespace        string           `json:"istioNamespace"`
	JWTPolicy             string           `json:"jwtPolicy"`
	Logging               logging          `json:"logging"`
	LogAsJSON             bool             `json:"logAsJson"`
	MeshID                string           `json:"meshID"`
	MeshNetworks          map[string]any   `json:"meshNetworks"`
	MountCerts            bool             `json:"mountMtlsCerts"`
	MultiCluster          multiCluster     `json:"multiCluster"`
	Network               string           `json:"network"`
	OmitInjectorConfigMap bool             `json:"omitSidecarInjectorConfigMap"`
	OneNamespace          bool             `json:"oneNamespace"`
	OperatorWebhooks      bool             `json:"operatorManageWebhooks"`
	PilotCertProvider     string           `json:"pilotCertProvider"`
	Platform              string           `json:"platform"`
	PodDNSSearch          []string         `json:"podDNSSearchNamespaces"`
	PriorityClassName     string           `json:"priorityClassName"`
	Proxy                 proxy            `json:"proxy"`
	ProxyInit             proxyInit        `json:"proxy_init"`
	RemotePilotAddress    string           `json:"remotePilotAddress"`
	Revision              string           `json:"revision"`
	SDS                   tokenService     `json:"sds"`
	STS                   securityTokens   `json:"sts"`
	Tag                   any              `json:"tag"` // 1.24 without quotes is a number
	Tracer                tracers          `json:"tracer"`
	TrustBundleName       string           `json:"trustBundleName"`
	Variant               string           `json:"variant"`
	Waypoint              map[string]any   `json:"waypoint"`
}

type istiod struct {
	EnableAnalysis bool `json:"enableAnalysis"`
}

type logging struct {
	Level string `json:"level"`
}

type multiCluster struct {
	Enabled            bool   `json:"enabled"`
	ClusterName        string `json:"clusterName"`
	GlobalDomainSuffix string `json:"globalDomainSuffix"`
	IncludeEnvoyFilter bool   `json:"includeEnvoyFilter"`
}

type tokenService struct {
	Token map[string]any `json:"token"`
}

type securityTokens struct {
	ServicePort int64 `json:"servicePort"`
}

type arch struct {
	AMD64   int64 `json:"amd64"`
	ARM64   int64 `json:"arm64"`
	PPC64LE int64 `json:"ppc64le"`
	S390X   int64 `json:"s390x"`
}

type tracers struct {
	Datadog     tracer `json:"datadog"`
	Lightstep   tracer `json:"lightstep"`
	Stackdriver tracer `json:"stackdriver"`
	Zipkin      tracer `json:"zipkin"`
}

type tracer struct {
	Address          string `json:"address"`
	AccessToken      string `json:"accessToken"`
	Debug            bool   `json:"debug"`
	MaxAttributes    int64  `json:"maxNumberOfAttributes"`
	MaxAnnotations   int64  `json:"maxNumberOfAnnotations"`
	MaxMessageEvents int64  `json:"maxNumberOfMessageEvents"`
}

type proxy struct {
	AutoInject              string         `json:"autoInject"`
	ClusterDomain           string         `json:"clusterDomain"`
	ComponentLogLevel       string         `json:"componentLogLevel"`
	EnableCoreDump          bool           `json:"enableCoreDump"`
	ExcludeInboundPorts     string         `json:"excludeInboundPorts"`
	ExcludeIPRanges         string         `json:"excludeIPRanges"`
	ExcludeOutboundPorts    string         `json:"excludeOutboundPorts"`
	HoldApplication         bool           `json:"holdApplicationUntilProxyStarts"`
	Image                   string         `json:"image"`
	IncludeInboundPorts     string         `json:"includeInboundPorts"`
	IncludeIPRanges         string         `json:"includeIPRanges"`
	IncludeOutboundPorts    string         `json:"includeOutboundPorts"`
	Lifecycle               map[string]any `json:"lifecycle"`
	LogLevel                string         `json:"logLevel"`
	OutlierLogPath          string         `json:"outlierLogPath"`
	Privileged              bool           `json:"privileged"`
	ReadinessFailures       int64          `json:"readinessFailureThreshold"`
	ReadinessInitialSeconds int64          `json:"readinessInitialDelaySeconds"`
	ReadinessPeriodSeconds  int64          `json:"readinessPeriodSeconds"`
	Resources               quantities     `json:"resources"`
	SeccompProfile          map[string]any `json:"seccompProfile"`
	StartupProbe            startupProbe   `json:"startupProbe"`
	StatusPort              int64          `json:"statusPort"`
	Tracer                  any            `json:"tracer"` // a name, or the number of one
}

type startupProbe struct {
	Enabled          bool  `json:"enabled"`
	FailureThreshold int64 `json:"failureThreshold"`
}

type proxyInit struct {
	Image            string     `json:"image"`
	Resources        quantities `json:"resources"`
	ForceApplyTables bool       `json:"forceApplyIptables"`
}

type injector struct {
	AlwaysInjectSelector []map[string]any `json:"alwaysInjectSelector"`
	DefaultTemplates     []string         `json:"defaultTemplates"`
	NamespacesByDefault  bool             `json:"enableNamespacesByDefault"`
	InjectedAnnotations  map[string]any   `json:"injectedAnnotations"`
	InjectionPath        string           `json:"injectionPath"`
	InjectionURL         string           `json:"injectionURL"`
	NeverInjectSelector  []map[string]any `json:"neverInjectSelector"`
	ObjectSelector       map[string]any   `json:"objectSelector"`
	ReinvocationPolicy   string           `json:"reinvocationPolicy"`
	RewriteProbe         bool             `json:"rewriteAppHTTPProbe"`
	Templates            map[string]any   `json:"templates"`
	UseLegacySelectors   bool             `json:"useLegacySelectors"`
}

type pilot struct {
	AutoscaleEnabled bool           `json:"autoscaleEnabled"`
	AutoscaleMax     int64          `json:"autoscaleMax"`
	AutoscaleMin     int64          `json:"autoscaleMin"`
	CNI              cniUsage       `json:"cni"`
	ConfigMap        bool           `json:"configMap"`
	CRLConfigMapName string         `json:"crlConfigMapName"`
	Enabled          bool           `json:"enabled"`
	Env              map[string]any `json:"env"`
	Hub              string         `json:"hub"`
	Image            string         `json:"image"`
	NodeSelector     map[string]any `json:"nodeSelector"`
	PodAnnotations   map[string]any `json:"podAnnotations"`
	PodLabels        map[string]any `json:"podLabels"`
	ReplicaCount     int64          `json:"replicaCount"`
	TraceSampling    float64        `json:"traceSampling"`
	Variant          string         `json:"variant"`
}

type cniUsage struct {
	Enabled  bool   `json:"enabled"`
	Provider string `json:"provider"`
}

type gateways struct {
	Enabled         bool           `json:"enabled"`
	Egress          map[string]any `json:"istio-egressgateway"`
	Ingress         map[string]any `json:"istio-ingressgateway"`
	SeccompProfile  map[string]any `json:"seccompProfile"`
	SecurityContext any            `json:"securityContext"`
}
