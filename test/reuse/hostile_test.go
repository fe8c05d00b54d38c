// SPDX-License-Identifier: Apache-2.0

package reuse

// hostile are values with which every walk begins: what templates bring, what looks like a hidden value
// without being one, and what JSON writes in several ways.
func hostile() []any {
	return []any{
		"web-0", "web-1", "data-web-0", "data", "1", "", "a", "app", "istio-proxy", "istio-envoy", "fluent-bit", "true", "node-1", "x7k2p",
		"kube-api-access-x7k2p", "kube-api-access-aaaaa", "kube-api-access-00000", "kube-api-access-", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5Z",
		"2026-13-02T03:04:05Z", "yesterday", "\u00e9\u2028<&>\"\\", "\x00", "auto", "registry.example/own:1", `{"containers":["app"]}`,
		`{"undo":{"added":["/spec/containers/app"]}}`, `{"data":{"mountPath":"/data"}}`, `{"kube-api-access-x7k2p":{"mountPath":"/t"}}`,
		`{"data":{"persistentVolumeClaim":{"claimName":"data-web-0"}}}`,
	}
}

// readKeys are labels and annotations that rules and templates read.
func readKeys() []string {
	return []string{
		"example.com/note", "app", "team",
		"pillion.dev/inject", "pillion.dev/templates", "pillion.dev/status", "logs.pillion.dev/path", "logs.pillion.dev/files", "vault.pillion.dev/role",
		"vault.pillion.dev/secrets", "sidecar.istio.io/inject", "sidecar.istio.io/status", "sidecar.istio.io/userVolume", "sidecar.istio.io/userVolumeMount",
		"inject.istio.io/templates", "proxy.istio.io/config", "proxy.istio.io/overrides", "sidecar.istio.io/proxyImage", "istio.io/rev",
		"service.istio.io/canonical-name", "sidecar.istio.io/rewriteAppHTTPProbers", "prometheus.io/port", "kubectl.kubernetes.io/default-container",
	}
}
