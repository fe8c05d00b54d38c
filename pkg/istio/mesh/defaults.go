// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/api/networking/v1alpha3"
)

// builtin is the ProxyConfig beneath all others. It is never changed.
var builtin = sync.OnceValue(defaultProxy)

// defaultProxy makes the ProxyConfig of a mesh that says nothing.
func defaultProxy() *meshconfig.ProxyConfig {
	return &meshconfig.ProxyConfig{
		ConfigPath:               "./etc/istio/proxy",
		BinaryPath:               "/usr/local/bin/envoy",
		ClusterName:              &meshconfig.ProxyConfig_ServiceCluster{ServiceCluster: "istio-proxy"},
		DrainDuration:            durationpb.New(45 * time.Second),
		TerminationDrainDuration: durationpb.New(5 * time.Second),
		DiscoveryAddress:         "istiod.istio-system.svc:15012",
		ProxyAdminPort:           15000,
		ControlPlaneAuthPolicy:   meshconfig.AuthenticationPolicy_MUTUAL_TLS,
		StatNameLength:           189,
		StatusPort:               15020,
	}
}

// defaultMesh makes the MeshConfig of a mesh that says nothing.
func defaultMesh() *meshconfig.MeshConfig {
	everywhere := func() []string { return []string{"*"} }
	return &meshconfig.MeshConfig{
		ProxyListenPort:                15001,
		ProxyInboundListenPort:         15006,
		ConnectTimeout:                 durationpb.New(10 * time.Second),
		ProtocolDetectionTimeout:       durationpb.New(0),
		DnsRefreshRate:                 durationpb.New(time.Minute),
		IngressClass:                   "istio",
		IngressService:                 "istio-ingressgateway",
		IngressControllerMode:          meshconfig.MeshConfig_STRICT,
		EnableTracing:                  true,
		EnableAutoMtls:                 wrapperspb.Bool(true),
		EnablePrometheusMerge:          wrapperspb.Bool(true),
		TrustDomain:                    "cluster.local",
		RootNamespace:                  "istio-system",
		DefaultConfig:                  defaultProxy(),
		DefaultServiceExportTo:         everywhere(),
		DefaultVirtualServiceExportTo:  everywhere(),
		DefaultDestinationRuleExportTo: everywhere(),
		OutboundTrafficPolicy:          &meshconfig.MeshConfig_OutboundTrafficPolicy{Mode: meshconfig.MeshConfig_OutboundTrafficPolicy_ALLOW_ANY},
		InboundTrafficPolicy:           &meshconfig.MeshConfig_InboundTrafficPolicy{Mode: meshconfig.MeshConfig_InboundTrafficPolicy_PASSTHROUGH},
		LocalityLbSetting:              &v1alpha3.LocalityLoadBalancerSetting{Enabled: wrapperspb.Bool(true)},
		DefaultProviders:               &meshconfig.MeshConfig_DefaultProviders{},
		ExtensionProviders:             defaultProviders(),
	}
}

// defaultProviders makes the extension providers that every mesh has.
func defaultProviders() []*meshconfig.MeshConfig_ExtensionProvider {
	type provider = meshconfig.MeshConfig_ExtensionProvider
	return []*provider{
		{Name: "prometheus", Provider: &meshconfig.MeshConfig_ExtensionProvider_Prometheus{
			Prometheus: &meshconfig.MeshConfig_ExtensionProvider_PrometheusMetricsProvider{},
		}},
		{Name: "stackdriver", Provider: &meshconfig.MeshConfig_ExtensionProvider_Stackdriver{
			Stackdriver: &meshconfig.MeshConfig_ExtensionProvider_StackdriverProvider{},
		}},
		{Name: "envoy", Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyFileAccessLog{
			EnvoyFileAccessLog: &meshconfig.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider{Path: "/dev/stdout"},
		}},
	}
}
