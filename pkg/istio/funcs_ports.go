// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// excludeInboundPort adds a port to a list of ports, unless it is there, none, or 0, which turns the
// port off.
func excludeInboundPort(port any, list string) string {
	if port == nil {
		return list
	}
	add := strings.TrimSpace(fmt.Sprint(port))
	if add == "" || add == "0" {
		return list
	}
	var ports []string
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == add {
			return list
		}
		if item != "" {
			ports = append(ports, item)
		}
	}
	return strings.Join(append(ports, add), ",")
}

// includeInboundPorts are the ports on which any container can be reached through the proxy.
func includeInboundPorts(containers []corev1.Container) string {
	return tcpPorts(containers, "")
}

// applicationPorts are the same, less the proxy's own.
func applicationPorts(containers []corev1.Container) string {
	return tcpPorts(containers, proxyName)
}

func tcpPorts(containers []corev1.Container, but string) string {
	var ports []string
	for i := range containers {
		if but != "" && containers[i].Name == but {
			continue
		}
		for _, p := range containers[i].Ports {
			if p.Protocol != corev1.ProtocolUDP && p.Protocol != corev1.ProtocolSCTP {
				ports = append(ports, strconv.Itoa(int(p.ContainerPort)))
			}
		}
	}
	return strings.Join(ports, ",")
}
