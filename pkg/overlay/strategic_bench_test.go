// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// sidecar is a typical layer: a container with 25 variables that runs beside the application, one that
// prepares the network before it, and 15 volumes.
func sidecar() any {
	text := func(k string) map[string]any { return map[string]any{"name": k, "value": "value of " + k} }
	env, mounts, volumes := []any{}, []any{}, []any{}
	for i := range 25 {
		env = append(env, text(fmt.Sprint("SIDE_", i)))
	}
	for i := range 15 {
		name := fmt.Sprint("side-", i)
		mounts = append(mounts, map[string]any{"name": name, "mountPath": "/side/" + name})
		volumes = append(volumes, map[string]any{"name": name, "emptyDir": map[string]any{"medium": "Memory"}})
	}
	limits := map[string]any{"limits": map[string]any{"cpu": "2", "memory": "1Gi"}, "requests": map[string]any{"cpu": "100m", "memory": "128Mi"}}
	side := map[string]any{"name": "side", "image": "registry.example/side:1", "args": []any{"run", "--level=info"}, "env": env,
		"volumeMounts": mounts, "resources": limits, "ports": []any{map[string]any{"containerPort": int64(15090), "protocol": "TCP", "name": "metrics"}}}
	first := map[string]any{"name": "net", "image": "registry.example/side:1", "args": []any{"prepare"}, "resources": limits}
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"side/in": "true"}, "annotations": map[string]any{"side/rev": "1"}},
		"spec": map[string]any{"containers": []any{side}, "initContainers": []any{first}, "volumes": volumes,
			"imagePullSecrets": []any{map[string]any{"name": "side-pull"}}, "securityContext": map[string]any{"fsGroup": int64(1337)}},
	}
}

func BenchmarkStrategic(b *testing.B) {
	schema, layer := pod.Schema(), sidecar()
	bare := tree(b, podText)
	laid, err := Strategic(schema, bare, layer)
	if err != nil {
		b.Fatal(err)
	}
	for name, base := range map[string]any{"first": bare, "again": laid, "empty": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Strategic(schema, base, layer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a layer costs is bounded by what it changes, not by the pod: maps and lists on the way to it.
func TestStrategicAllocations(t *testing.T) {
	schema, layer, bare := pod.Schema(), sidecar(), tree(t, podText)
	laid, err := Strategic(schema, bare, layer)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(base any) float64 {
		return testing.AllocsPerRun(20, func() { _, err = Strategic(schema, base, layer) })
	}
	if n := measure(bare); n > 40 || err != nil {
		t.Errorf("%v allocations to lay a sidecar over a pod, error %v", n, err)
	}
	if n := measure(laid); n > 0 || err != nil {
		t.Errorf("%v allocations to change nothing, error %v", n, err)
	}
}
