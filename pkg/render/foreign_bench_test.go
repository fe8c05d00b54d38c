// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// foreignSidecar is a template of 600 lines, with what such templates are made of.
func foreignSidecar() string {
	const part = `
{{- if or (isset .Labels "app") (isset .NoText "b") }}
  - name: {{ index .Labels "app" | default "none" | trunc 63 | quote }}
    image: "{{ .Values.text }}:{{ .Revision }}"
  {{- if .Values.yes }}
    imagePullPolicy: "{{ .Values.map.k }}"
  {{- end }}
    args:
    - proxy
    - --level={{ meta .Meta "level" .Values.map.k }}
  {{- if ne .Values.text "" }}
    - --paint={{ .Paint }}
  {{- end }}
  {{- with .Values.pilot.env }}
    env:
    {{- range $key, $value := . }}
    - name: {{ $key }}
      value: {{ $value | quote }}
    {{- end }}
  {{- end }}
  {{- if and (eq .Paint.String "GREEN") (not .Values.missing) }}
    ports:
    {{- range $i, $wheel := .Wheels }}
    - containerPort: {{ $wheel.Size }}
      protocol: TCP
    {{- end }}
  {{- end }}
    resources:
      requests:
        cpu: {{ .Values.n }}
{{- end }}
`
	return strings.Repeat(part, 20)
}

// The budget of a foreign template of 600 lines.
func TestForeignAllocations(t *testing.T) {
	const budget = 1000
	tmpl, data := foreignTemplate(t, foreignSidecar()), newBike()
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := tmpl.Text(data); err != nil {
			t.Fatal(err)
		}
	})
	if n > budget && !raced {
		t.Errorf("%.0f allocations, want at most %d", n, budget)
	}
	likeTheirs(t, foreignSidecar())
}

func BenchmarkForeign(b *testing.B) {
	tmpl, data := foreignTemplate(b, foreignSidecar()), newBike()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tmpl.Text(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForeignTheirs is text/template on the same.
func BenchmarkForeignTheirs(b *testing.B) {
	tmpl, err := template.New("main").Funcs(sprig.TxtFuncMap()).Funcs(ownFuncs()).Parse(foreignSidecar())
	if err != nil {
		b.Fatal(err)
	}
	data := newBike()
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		if err := tmpl.Execute(&out, data); err != nil {
			b.Fatal(err)
		}
	}
}
