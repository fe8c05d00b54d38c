// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/config"
)

// sidecar is a template of the usual size: parameters, resources, probes and a volume.
const sidecar = `metadata:
  labels:
    app.kubernetes.io/part-of: {{ .DeploymentMeta.Name | labelValue | quote }}
  annotations:
    example.com/scrape: "true"
spec:
  containers:
  - name: agent
    image: {{ .Params.image }}
    args: ["--config=/etc/agent/config.yaml"]
    env:
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    - {name: WORKLOAD, value: {{ .DeploymentMeta.Name | quote }}}
    - {name: LEVEL, value: {{ .Params.level | quote }}}
    {{- with .Values.endpoint }}
    - {name: ENDPOINT, value: {{ . | quote }}}
    {{- end }}
    ports:
    - {containerPort: 8888, name: metrics, protocol: TCP}
    resources:
      requests: {cpu: {{ .Params.cpu }}, memory: {{ .Params.memory }}}
      limits: {memory: {{ .Params.memory }}}
    readinessProbe:
      httpGet: {path: /ready, port: 13133}
      periodSeconds: 10
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      runAsNonRoot: true
      runAsUser: 10001
      capabilities: {drop: [ALL]}
      seccompProfile: {type: RuntimeDefault}
    volumeMounts:
    - {name: agent-config, mountPath: /etc/agent, readOnly: true}
    {{- if .NativeSidecars }}
    restartPolicy: Always
    {{- end }}
  volumes:
  - name: agent-config
    configMap: {name: agent-config}
`

func sidecarTemplate(tb testing.TB) (*Template, *Data) {
	tmpl := compiled(tb, sidecar, []config.Parameter{
		{Name: "image", Type: "image"}, {Name: "level", Type: "string"}, {Name: "cpu", Type: "quantity"}, {Name: "memory", Type: "quantity"},
	}...)
	d := shop()
	d.NativeSidecars = false
	d.Values = map[string]any{"endpoint": "https://collector.example:4317"}
	d.Params = map[string]any{"image": "registry.example/agent:1.2", "level": "info", "cpu": "50m", "memory": "64Mi"}
	return tmpl, d
}

// The budget of a typical template, the YAML parser included where it has seen the text before.
func TestRenderAllocations(t *testing.T) {
	const budget = 200
	tmpl, d := sidecarTemplate(t)
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := tmpl.Render(d); err != nil {
			t.Fatal(err)
		}
	})
	if n > budget && !raced {
		t.Errorf("%.0f allocations, want at most %d", n, budget)
	}
}

func BenchmarkRender(b *testing.B) {
	tmpl, d := sidecarTemplate(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tmpl.Render(d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRenderUnseen has the YAML parser read the text each time.
func BenchmarkRenderUnseen(b *testing.B) {
	tmpl, d := sidecarTemplate(b)
	b.ReportAllocs()
	for b.Loop() {
		tmpl.shelf = shelf{}
		if _, _, err := tmpl.Render(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	tmpl, d := sidecarTemplate(b)
	b.ReportAllocs()
	for b.Loop() {
		r := tmpl.begin()
		if err := tmpl.main.exec(r, d); err != nil {
			b.Fatal(err)
		}
		tmpl.end(r)
	}
}
