// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// variables gives the first container n environment variables.
func (s setup) variables(n int) setup {
	return s.with(func(spec, _ map[string]any) {
		env := make([]any, n)
		for i := range env {
			env[i] = map[string]any{"name": fmt.Sprintf("SETTING_%04d", i), "value": fmt.Sprintf("value-%04d", i)}
		}
		pod.Items(spec, "containers")[0].(map[string]any)["env"] = env
	})
}

// containers gives the pod n application containers.
func (s setup) containers(n int) setup {
	return s.with(func(spec, _ map[string]any) {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{
				"name": fmt.Sprintf("app-%02d", i), "image": "registry.example/app:1.4.2", "imagePullPolicy": "IfNotPresent",
				"ports": []any{map[string]any{"containerPort": int64(8000 + i), "protocol": "TCP"}},
				"env":   []any{map[string]any{"name": "LOG_LEVEL", "value": "info"}, map[string]any{"name": "REGION", "value": "north"}},
				"readinessProbe": map[string]any{
					"httpGet":       map[string]any{"path": "/readyz", "port": int64(8000 + i), "scheme": "HTTP"},
					"periodSeconds": int64(5), "timeoutSeconds": int64(1), "successThreshold": int64(1), "failureThreshold": int64(3),
				},
				"resources":              map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "64Mi"}},
				"volumeMounts":           []any{map[string]any{"name": token, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}},
				"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
			}
		}
		spec["containers"] = list
	})
}

// large makes the pod one and a half megabytes, which is about what etcd takes: the first container's
// variables hold scripts.
func (s setup) large() setup {
	const whole, each = 1_500_000, 10_000
	script := strings.Repeat("echo \"a line of a script, with quotes and an end\"\n", each/50)
	return s.with(func(spec, _ map[string]any) {
		var env []any
		for size := 0; size < whole; size += len(pod.Encode(map[string]any{"value": script})) {
			env = append(env, map[string]any{"name": fmt.Sprintf("SCRIPT_%04d", len(env)), "value": script})
		}
		pod.Items(spec, "containers")[0].(map[string]any)["env"] = env
	})
}

// annotations gives the pod n annotations, of which the API server takes 256 KiB.
func (s setup) annotations(n int) setup {
	return s.with(func(_, meta map[string]any) {
		notes := map[string]any{}
		for i := range n {
			notes[fmt.Sprintf("example.com/note-%05d", i)] = "on"
		}
		meta["annotations"] = notes
	})
}

// says gives the pod a label.
func (s setup) says(label [2]string) setup {
	return s.with(func(_, meta map[string]any) {
		meta["labels"] = pod.With(pod.Object(meta, "labels"), label[0], label[1])
	})
}
