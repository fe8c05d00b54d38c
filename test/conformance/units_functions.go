// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
)

func appendMultusNetwork(one row) verdict {
	return each(one, func(in struct{ In, Network, Want string }) []string {
		return trial{
			template: says("appendMultusNetwork .Values.in .Values.network"),
			values:   map[string]any{"in": in.In, "network": in.Network},
		}.wants(in.Want)
	})
}

func omitNil(one row) verdict {
	return each(one, func(in struct{ In, Want any }) []string {
		return trial{template: says("omitNil .Values.in"), values: map[string]any{"in": in.In}}.wants(in.Want)
	})
}

// The containers stand in initContainers: a pod without containers is none.
func otelAttributes(one row) verdict {
	return each(one, func(in struct {
		Annotations, Labels map[string]string
		Containers          []any
		Namespace           string
		SemconvProvider     bool
		Want                string
	}) []string {
		p := metadata(in.Labels, in.Annotations)
		p["spec"] = map[string]any{"initContainers": in.Containers}
		t := trial{
			template: says("otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .Values.namespace .Spec.InitContainers"),
			values:   map[string]any{"namespace": in.Namespace}, pod: p,
		}
		if in.SemconvProvider {
			t.mesh = map[string]any{"extensionProviders": []any{map[string]any{"name": "otel", "opentelemetry": map[string]any{
				"service": "otel.example", "port": 4317, "serviceAttributeEnrichment": "OTEL_SEMANTIC_CONVENTIONS",
			}}}}
		}
		return t.wants(in.Want)
	})
}

func proxyImage(one row) verdict {
	return each(one, func(in struct {
		Annotations                        map[string]string
		Hub, Variant, ProxyConfigImageType string
		Tag                                any
		Want                               string
	}) []string {
		t := trial{
			template: says(".ProxyImage"), pod: metadata(nil, in.Annotations),
			values: map[string]any{"global": map[string]any{"hub": in.Hub, "tag": in.Tag, "variant": in.Variant}},
		}
		if in.ProxyConfigImageType != "" {
			t.mesh = map[string]any{"defaultConfig": map[string]any{"image": map[string]any{"imageType": in.ProxyConfigImageType}}}
		}
		return t.wants(in.Want)
	})
}

// The rows tell the outcome only: it is also the configuration that gives it.
func protoToJSON(one row) verdict {
	return each(one, func(in struct{ Want string }) []string {
		t := trial{template: says("protoToJSON .ProxyConfig")}
		if in.Want != "{}" {
			t.mesh = map[string]any{"defaultConfig": json.RawMessage(in.Want)}
		}
		return t.wants(in.Want)
	})
}

func parsePath(one row) verdict {
	return each(one, func(in struct {
		Path string
		Want map[string]string
	}) []string {
		got := istio.ParsePath(strings.TrimPrefix(in.Path, "/inject"))
		if !maps.Equal(got, in.Want) {
			return []string{"want " + brief(in.Want) + " got " + brief(got)}
		}
		return nil
	})
}

func effectiveProxyConfig(one row) verdict {
	return each(one, func(in struct {
		Annotations, Labels      map[string]string
		MeshDefaultConfig        any
		Namespace, RootNamespace string
		ProxyConfigs             []struct {
			Name, Namespace string
			Spec            map[string]any
		}
		Want any
	}) []string {
		m := map[string]any{"rootNamespace": in.RootNamespace}
		if in.MeshDefaultConfig != nil {
			m["defaultConfig"] = in.MeshDefaultConfig
		}
		c, err := mesh.Parse([]byte(text(m)), config.Origin{})
		if err != nil {
			return []string{err.Error()}
		}
		var objects []map[string]any
		for _, p := range in.ProxyConfigs {
			objects = append(objects, map[string]any{
				"apiVersion": "networking.istio.io/v1beta1", "kind": "ProxyConfig", "spec": p.Spec,
				"metadata": map[string]any{"name": p.Name, "namespace": p.Namespace},
			})
		}
		resources, err := resourcesOf(objects)
		if err != nil {
			return []string{err.Error()}
		}
		raw, err := protojson.Marshal(c.Proxy(resources, in.Namespace, in.Labels, in.Annotations))
		if err != nil {
			return []string{err.Error()}
		}
		got, err := decode(raw)
		if err != nil {
			return []string{err.Error()}
		}
		return diff(norm(got, ""), norm(in.Want, ""), "")
	})
}

// owner is what a pod's owner comes out as.
type owner struct {
	WantName     struct{ Namespace, Name string }
	WantTypeMeta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
}

func (o owner) of(p map[string]any) []string {
	return trial{
		template: says("list .DeploymentMeta.Name .DeploymentMeta.Namespace .TypeMeta.Kind .TypeMeta.APIVersion"), pod: p,
	}.wants([]any{o.WantName.Name, o.WantName.Namespace, o.WantTypeMeta.Kind, o.WantTypeMeta.APIVersion})
}

func deployMeta(one row) verdict {
	return each(one, func(in struct {
		owner
		Pod map[string]any
	}) []string {
		return in.of(in.Pod)
	})
}

func deployMetaCronJob(one row) verdict {
	return each(one, func(in struct {
		owner
		JobName string
	}) []string {
		version := "batch/v1"
		if in.WantTypeMeta.Kind == "Job" {
			version = in.WantTypeMeta.APIVersion // a Job that stays one keeps it
		}
		return in.of(map[string]any{"metadata": map[string]any{
			"generateName":    in.JobName + "-",
			"ownerReferences": []any{map[string]any{"apiVersion": version, "kind": "Job", "name": in.JobName, "uid": "u", "controller": true}},
		}})
	})
}

// A container that is named in the record is no part of the pod that templates read; a record is only
// believed on containers that a template brings.
func parseStatus(one row) verdict {
	return each(one, func(in struct {
		Status string
		Want   map[string][]struct{ Name string }
	}) []string {
		s, brought, want := map[string]any{}, map[string]any{}, map[string]any{}
		for _, list := range pod.ContainerLists {
			items := []any{map[string]any{"name": "own-" + strings.ToLower(list), "image": "registry.example/own:1"}}
			for _, c := range in.Want[list] {
				items = append(items, map[string]any{"name": c.Name, "image": "registry.example/brought:1"})
			}
			s[list], brought[list] = items, items[1:]
			want[list] = "own-" + strings.ToLower(list)
		}
		p := metadata(nil, map[string]string{"sidecar.istio.io/status": in.Status})
		p["spec"] = s
		left := func(list string) string {
			return `{{ range .Spec.` + list + ` }}{{ .Name }}{{ end }}`
		}
		t := trial{pod: p, template: "metadata:\n  annotations:\n    out: '{\"containers\":\"" + left("Containers") + "\",\"initContainers\":\"" + left("InitContainers") + "\"}'\nspec: " + text(brought) + "\n"}
		return t.wants(want)
	})
}

// equalLists compares two lists in their normal forms.
func equalLists(got, want []any) []string {
	g, w := norm(slices.Clip(got), ""), norm(slices.Clip(want), "")
	if reflect.DeepEqual(g, w) {
		return nil
	}
	return diff(g, w, "")
}
