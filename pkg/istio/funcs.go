// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/istio/mesh"
)

// functions are what Istio's templates call beside the language's own functions and Sprig's, some of
// which they replace. None of them reads anything but its arguments: env answers from the given list.
func functions(env map[string]string) map[string]any {
	return map[string]any{
		"annotation":     annotationOr,
		"isset":          isSet,
		"valueOrDefault": valueOrDefault,
		"env": func(key, fallback string) string {
			if v := env[key]; v != "" {
				return v
			}
			return fallback
		},

		"excludeInboundPort":  excludeInboundPort,
		"includeInboundPorts": includeInboundPorts,
		"applicationPorts":    applicationPorts,
		"kubevirtInterfaces":  same,
		"excludeInterfaces":   same,
		"appendMultusNetwork": appendMultusNetwork,

		"formatDuration": formatDuration,
		"directory":      directory,
		"contains":       func(part, text string) bool { return strings.Contains(text, part) },
		"toLower":        strings.ToLower,
		"indent":         indent,

		"strdict":   strdict,
		"omit":      omit,
		"mergeMaps": mergeMaps,
		"omitNil":   omitNil,

		"toJSON":       toJSON,
		"toJsonMap":    func(maps ...map[string]string) string { return toJSON(mergeMaps(maps...)) },
		"fromJSON":     fromJSON,
		"structToJSON": structToJSON,
		"protoToJSON":  protoToJSON(mesh.ProtoJSON),
		"toYaml":       toYAML,

		"otelResourceAttributes": func(m *meshconfig.MeshConfig, annotations, labels map[string]string, namespace string, containers []corev1.Container) string {
			return mesh.OTelPod{Annotations: annotations, Labels: labels, Namespace: namespace, Containers: containers}.Attributes(m)
		},
	}
}

// annotationOr is an annotation, or the fallback as Go prints it.
func annotationOr(meta *metav1.ObjectMeta, key string, fallback any) string {
	if meta != nil {
		if v, ok := meta.Annotations[key]; ok {
			return v
		}
	}
	if text, ok := fallback.(string); ok {
		return text
	}
	return fmt.Sprint(fallback)
}

func isSet(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// valueOrDefault is the value, or the fallback where it is null or an empty text. A zero and false
// are values.
func valueOrDefault(v, fallback any) any {
	if v == nil || v == "" {
		return fallback
	}
	return v
}

func same(text string) string { return text }

// formatDuration writes a duration as Go does. None is 0s.
func formatDuration(d *durationpb.Duration) string { return d.AsDuration().String() }

// directory is the path up to its last slash, with it.
func directory(file string) string {
	dir, _ := path.Split(file)
	return dir
}

// scalarText is a scalar as text; nothing is an empty one. A whole number has no exponent, which no
// tag may hold.
func scalarText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool, int, int64, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// narrow is what the functions read of a pod's metadata and containers, where that is not all of them.
func narrow() map[string]map[int][]string {
	return map[string]map[int][]string{
		"annotation":             {0: {"Annotations"}},
		"applicationPorts":       {0: {"Name", "Ports"}},
		"includeInboundPorts":    {0: {"Ports"}},
		"otelResourceAttributes": {2: {mesh.OTelVersionLabel}, 4: {"Name", "Image"}},
	}
}
