// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// The handlers that the agent can ask in the kubelet's place. A command runs in its own container and
// needs nobody.
const (
	httpGet   = "httpGet"
	tcpSocket = "tcpSocket"
	grpc      = "grpc"
)

// handler is the one that counts where a holder has several; nil where it has none.
func handler(p place) (string, map[string]any) {
	kinds := []string{httpGet, tcpSocket, grpc}
	if p.prefix == hookPrefix {
		kinds = kinds[:2] // a hook cannot call gRPC
	}
	for _, kind := range kinds {
		if action := pod.Object(p.holder, kind); action != nil {
			return kind, action
		}
	}
	return "", nil
}

// prober is what the agent reads of one handler. Its form is the agent's.
type prober struct {
	HTTPGet        *corev1.HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket      *corev1.TCPSocketAction `json:"tcpSocket,omitempty"`
	GRPC           *corev1.GRPCAction      `json:"grpc,omitempty"`
	TimeoutSeconds int32                   `json:"timeoutSeconds,omitempty"`
}

func newProber(p place, kind string, port int64) *prober {
	action := pod.Object(p.holder, kind)
	to := intstr.FromInt32(int32(port))
	out := &prober{}
	switch kind {
	case httpGet:
		out.HTTPGet = &corev1.HTTPGetAction{
			Path: pod.Text(action, "path"), Port: to, Host: pod.Text(action, "host"),
			Scheme: corev1.URIScheme(pod.Text(action, "scheme")), HTTPHeaders: headers(action),
		}
	case tcpSocket:
		out.TCPSocket = &corev1.TCPSocketAction{Port: to, Host: pod.Text(action, "host")}
	case grpc:
		out.GRPC = &corev1.GRPCAction{Port: int32(port)}
		if service, ok := action["service"].(string); ok {
			out.GRPC.Service = &service
		}
	}
	if seconds, ok := whole(p.holder["timeoutSeconds"]); ok && p.prefix == probePrefix && seconds == int64(int32(seconds)) {
		out.TimeoutSeconds = int32(seconds)
	}
	return out
}

func headers(action map[string]any) []corev1.HTTPHeader {
	var out []corev1.HTTPHeader
	for _, item := range pod.Items(action, "httpHeaders") {
		if h, ok := item.(map[string]any); ok {
			out = append(out, corev1.HTTPHeader{Name: pod.Text(h, "name"), Value: pod.Text(h, "value")})
		}
	}
	return out
}

// portOf is the number of a port: a number, the name of one of the container's own ports, or, as the
// kubelet reads it, a number as text. It is false for what is no port.
func portOf(container map[string]any, port any) (int64, bool) {
	n, ok := whole(port)
	if name, text := port.(string); text {
		n, ok = namedPort(container, name)
	}
	return n, ok && n >= 1 && n <= math.MaxUint16
}

func namedPort(container map[string]any, name string) (int64, bool) {
	if p := pod.Named(pod.Items(container, "ports"), name); p != nil {
		return whole(p["containerPort"])
	}
	n, err := strconv.ParseUint(name, 10, 16)
	return int64(n), err == nil
}

// whole is a whole number of a tree, in any of the forms in which trees hold one.
func whole(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}
