// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// judge collects the faults of a message whose types are right.
type judge struct {
	faults []fault
}

// fault notes a fault at a dotted path, which names no map's key.
func (j *judge) fault(path, format string, args ...any) *fault {
	j.faults = append(j.faults, fault{path: strings.Split(path, "."), detail: fmt.Sprintf(format, args...)})
	return &j.faults[len(j.faults)-1]
}

// beneath puts faults below a path.
func beneath(path string, faults []fault) []fault {
	for i := range faults {
		faults[i].path = append([]string{path}, faults[i].path...)
	}
	return faults
}

// checkMesh judges what a proxy gets from the mesh.
func checkMesh(m *meshconfig.MeshConfig) []fault {
	var j judge
	j.port("proxyListenPort", m.GetProxyListenPort())
	j.port("proxyInboundListenPort", m.GetProxyInboundListenPort())
	if m.GetConnectTimeout() != nil {
		j.duration("connectTimeout", m.GetConnectTimeout(), time.Millisecond)
	}
	if d := m.GetProtocolDetectionTimeout(); d.AsDuration()%time.Millisecond != 0 {
		j.fault("protocolDetectionTimeout", "must be in whole milliseconds, got %s", d.AsDuration())
	}
	j.domain("trustDomain", m.GetTrustDomain())
	for i, alias := range m.GetTrustDomainAliases() {
		j.domain("trustDomainAliases.["+strconv.Itoa(i)+"]", alias)
	}
	return append(j.faults, beneath("defaultConfig", checkProxy(m.GetDefaultConfig()))...)
}

// checkProxy judges a whole ProxyConfig. What istiod lets pass, such as a negative concurrency or any
// termination drain duration, passes here too.
func checkProxy(p *meshconfig.ProxyConfig) []fault {
	var j judge
	j.text("configPath", p.GetConfigPath())
	j.text("binaryPath", p.GetBinaryPath())
	switch name := p.GetClusterName().(type) {
	case *meshconfig.ProxyConfig_ServiceCluster:
		j.text("serviceCluster", name.ServiceCluster)
	case *meshconfig.ProxyConfig_TracingServiceName_:
	default:
		j.fault("serviceCluster", "one of serviceCluster and tracingServiceName must be set")
	}
	j.duration("drainDuration", p.GetDrainDuration(), time.Second)
	j.address("discoveryAddress", p.GetDiscoveryAddress()) // a proxy cannot do without
	j.tracing(p.GetTracing())
	addresses := []struct{ path, address string }{
		{"statsdUdpAddress", p.GetStatsdUdpAddress()},
		//lint:ignore SA1019 proxies still read the older field
		{"envoyMetricsServiceAddress", p.GetEnvoyMetricsServiceAddress()},
		{"envoyMetricsService.address", p.GetEnvoyMetricsService().GetAddress()},
		{"envoyAccessLogService.address", p.GetEnvoyAccessLogService().GetAddress()},
	}
	for _, a := range addresses {
		if a.address != "" {
			j.address(a.path, a.address)
		}
	}
	j.port("proxyAdminPort", p.GetProxyAdminPort())
	j.port("statusPort", p.GetStatusPort())
	if _, ok := meshconfig.AuthenticationPolicy_name[int32(p.GetControlPlaneAuthPolicy())]; !ok || p.GetControlPlaneAuthPolicy() == meshconfig.AuthenticationPolicy_INHERIT {
		j.fault("controlPlaneAuthPolicy", "must be NONE or MUTUAL_TLS, got %s", p.GetControlPlaneAuthPolicy())
	}
	j.privateKeys(p.GetPrivateKeyProvider())
	return j.faults
}

func (j *judge) text(path, value string) {
	if value == "" {
		j.fault(path, "must not be empty")
	}
}

func (j *judge) port(path string, port int32) {
	if port < 1 || port > 65535 {
		j.fault(path, "must be a port from 1 to 65535, got %d", port)
	}
}

// duration wants at least a millisecond, in whole units.
func (j *judge) duration(path string, d *durationpb.Duration, unit time.Duration) {
	switch v := d.AsDuration(); {
	case v < time.Millisecond:
		j.fault(path, "must be at least 1ms, got %s", v)
	case v%unit != 0:
		j.fault(path, "must be in whole units of %s, got %s", unit, v)
	}
}

// address wants a host or an IP address with a port.
func (j *judge) address(path, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		j.fault(path, "must be host:port, got %q", address).hint = "an IPv6 address goes into brackets: [::1]:15012"
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		j.fault(path, "must have a port from 1 to 65535, got %q", address)
	}
	if _, err := netip.ParseAddr(host); err != nil && !domainName(host) {
		j.fault(path, "must have a DNS name or an IP address for a host, got %q", address)
	}
}

// label is a part of a DNS name.
var label = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)

// labels tells whether a text is labels with dots between them, and maybe one at the end.
func labels(name string) bool {
	name = strings.TrimSuffix(name, ".")
	for part := range strings.SplitSeq(name, ".") {
		if !label.MatchString(part) {
			return false
		}
	}
	return true
}

// domainName tells whether a text is a DNS name; the last part of one is no number.
func domainName(name string) bool {
	_, err := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	return len(name) <= 255 && err != nil && labels(name)
}

func (j *judge) domain(path, name string) {
	if !labels(name) {
		j.fault(path, "must be labels of letters, digits and dashes with dots between them, got %q", name)
	}
}
