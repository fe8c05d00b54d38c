// SPDX-License-Identifier: Apache-2.0

package param

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/config"
)

func BenchmarkResolve(b *testing.B) {
	set, faults := New(config.Template{Name: "t", Parameters: []config.Parameter{
		{Name: "cpu", Type: "quantity", Default: text("50m"), Annotation: "x/cpu", AtMost: "cpuLimit"},
		{Name: "cpuLimit", Type: "quantity", Default: text("1"), Max: "4", Annotation: "x/cpu-limit"},
		{Name: "level", Type: "enum", Default: text("info"), Values: []string{"info", "debug"}, Annotation: "x/level"},
		{Name: "path", Type: "string", Default: text("/var/log"), Pattern: "/[a-z/]*", Annotation: "x/path"},
	}})
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	for name, pod := range map[string]map[string]string{
		"defaults":    {},
		"annotations": {"x/cpu": "100m", "x/cpu-limit": "2", "x/level": "debug", "x/path": "/logs"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := set.Resolve(pod, nil); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}
