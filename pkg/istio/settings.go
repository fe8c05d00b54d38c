// SPDX-License-Identifier: Apache-2.0

package istio

import "github.com/pillion-dev/pillion/pkg/pod"

// settings are the values that the code reads, beside the templates.
type settings struct {
	hub, variant  string
	tag           string // numbers as text
	image         string // of the proxy
	initImage     string
	network       string
	cluster       string
	hold          bool // holdApplicationUntilProxyStarts
	rewriteProbes bool
}

// readSettings takes the settings out of the values.
func readSettings(values map[string]any) settings {
	global := pod.Object(values, "global")
	s := settings{
		hub: pod.Text(global, "hub"), variant: pod.Text(global, "variant"), tag: scalarText(global["tag"]),
		image: pod.Text(pod.Object(global, "proxy"), "image"), initImage: pod.Text(pod.Object(global, "proxy_init"), "image"),
		network: pod.Text(global, "network"), cluster: pod.Text(pod.Object(global, "multiCluster"), "clusterName"),
	}
	s.hold, _ = pod.Object(global, "proxy")["holdApplicationUntilProxyStarts"].(bool)
	s.rewriteProbes, _ = pod.Object(values, "sidecarInjectorWebhook")["rewriteAppHTTPProbe"].(bool)
	return s
}
