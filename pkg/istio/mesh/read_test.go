// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestScalars reads a value into each kind of scalar that protocol buffers have, by the messages
// that wrap one, and by those of the mesh.
func TestScalars(t *testing.T) {
	field := func(m proto.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
		return m.ProtoReflect().Descriptor().Fields().ByName(name)
	}
	port := field(&meshconfig.MeshConfig{}, "proxy_listen_port")
	tests := map[string]struct {
		reason string
		field  protoreflect.FieldDescriptor
		value  any
		want   string
	}{
		"integer":        {"as it is", port, int64(7), "7"},
		"in quotes":      {"protocol buffers allow it", port, "7", "7"},
		"with spaces":    {"JSON allows them around a number", port, " 7 ", "7"},
		"no number":      {"a word is none", port, "seven", ""},
		"empty":          {"nothing is none", port, "", ""},
		"null in quotes": {"a word is none", port, "null", ""},
		"boolean":        {"it is no number", port, true, ""},
		"seconds":        {"64 bits", field(&durationpb.Duration{}, "seconds"), int64(1) << 40, "1099511627776"},
		"float":          {"a number", field(&structpb.Value{}, "number_value"), "1e3", "1000"},
		"no float":       {"infinity has a name of its own", field(&structpb.Value{}, "number_value"), "Infinity", "+Inf"},
		"boolean text":   {"a boolean is not in quotes", field(&structpb.Value{}, "bool_value"), "true", ""},
		"number text":    {"a text is in quotes", field(&structpb.Value{}, "string_value"), int64(7), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if v, want := plain(tc.field, tc.value); v.IsValid() {
				got = fmt.Sprint(v.Interface())
			} else if want == "" {
				t.Error("it does not say what would have fitted")
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestKnownKinds shows that the decoder knows every kind of field that a mesh has.
func TestKnownKinds(t *testing.T) {
	seen := map[protoreflect.FullName]bool{}
	var visit func(protoreflect.MessageDescriptor)
	visit = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.IsMap() && f.MapKey().Kind() != protoreflect.StringKind {
				t.Errorf("%s has keys that are no texts", f.FullName())
			}
			if f.Message() != nil {
				visit(f.Message())
			}
		}
	}
	visit((&meshconfig.MeshConfig{}).ProtoReflect().Descriptor())
	if len(seen) < 50 {
		t.Errorf("only %d messages are seen", len(seen))
	}
}

func TestProtoJSON(t *testing.T) {
	var none *meshconfig.ProxyConfig
	var mesh *meshconfig.MeshConfig
	changed := overlay(defaultProxy(), proxyOf(t, `{"image":{"imageType":"debug"},"drainDuration":"0.500s","proxyMetadata":{"b":"<1>","a":"&"},"concurrency":0}`))
	tests := map[string]struct {
		reason string
		m      proto.Message
		want   string
	}{
		"nil":       {"nothing is an empty object", nil, "{}"},
		"nil proxy": {"nothing is an empty object", none, "{}"},
		"nil mesh":  {"nothing is an empty object", mesh, "{}"},
		"default":   {"what is the default is left out", defaultProxy(), "{}"},
		"changed":   {"the rest is in the order of its declaration, its keys sorted", changed, `{"drainDuration":"0.500s","concurrency":0,"proxyMetadata":{"a":"\u0026","b":"\u003c1\u003e"},"image":{"imageType":"debug"}}`},
		"other":     {"another message is whole", &meshconfig.MeshConfig{TrustDomain: "a b", ProxyListenPort: 1}, `{"proxyListenPort":1,"trustDomain":"a b"}`},
		"duration":  {"a part of one too", durationpb.New(5e9), `"5s"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ProtoJSON(tc.m)
			if err != nil || got != tc.want {
				t.Errorf("%s: %v\ngot  %s\nwant %s", tc.reason, err, got, tc.want)
			}
			if remembered, err := parse(t, "").JSON(tc.m); err != nil || remembered != tc.want {
				t.Errorf("a mesh writes it as %s: %v", remembered, err)
			}
		})
	}
	if _, err := ProtoJSON(&meshconfig.MeshConfig{TrustDomain: "\xff"}); err == nil {
		t.Error("what is no UTF-8 is no JSON")
	}
}

func TestOTelAttributes(t *testing.T) {
	const wanted = "extensionProviders: [{name: o, opentelemetry: {service: o, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}]"
	one := func(image string) []corev1.Container { return []corev1.Container{{Name: "web", Image: image}} }
	tests := map[string]struct {
		reason, mesh        string
		annotations, labels map[string]string
		containers          []corev1.Container
		want                string
	}{
		"not wanted":  {"the mesh must want it", "", nil, nil, one("a:1"), ""},
		"other kind":  {"so must the provider", "extensionProviders: [{name: o, opentelemetry: {service: o, port: 1}}]", nil, nil, one("a:1"), ""},
		"tag":         {"the tag is the version", wanted, nil, nil, one("registry.example:5000/web:1.2"), "service.namespace=shop,service.version=1.2,service.instance.id=shop.$(POD_NAME).web"},
		"digest":      {"else the digest", wanted, nil, nil, one("registry.example:5000/web@sha256:ab"), "service.namespace=shop,service.version=sha256:ab,service.instance.id=shop.$(POD_NAME).web"},
		"both":        {"or both", wanted, nil, nil, one("web:2@sha256:ab"), "service.namespace=shop,service.version=2@sha256:ab,service.instance.id=shop.$(POD_NAME).web"},
		"neither":     {"a version may be unknown", wanted, nil, nil, one("registry.example:5000/web"), "service.namespace=shop,service.instance.id=shop.$(POD_NAME).web"},
		"no image":    {"what no image can have stays out of YAML", wanted, nil, nil, one("a:1\"\n  privileged: true"), "service.namespace=shop,service.instance.id=shop.$(POD_NAME).web"},
		"label":       {"a label comes before the image", wanted, nil, map[string]string{OTelVersionLabel: "v3"}, one("a:1"), "service.namespace=shop,service.version=v3,service.instance.id=shop.$(POD_NAME).web"},
		"two":         {"two images have no one version", wanted, nil, nil, append(one("a:1"), one("b:2")...), "service.namespace=shop,service.instance.id=shop.$(POD_NAME).web"},
		"none":        {"without a container there is no instance", wanted, nil, nil, nil, "service.namespace=shop"},
		"annotations": {"the author has the last word", wanted, map[string]string{otelPrefix + "service.namespace": "n", otelPrefix + "service.version": "v", otelPrefix + "service.instance.id": "i"}, map[string]string{OTelVersionLabel: "v3"}, one("a:1"), "service.namespace=n,service.version=v,service.instance.id=i"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (OTelPod{tc.annotations, tc.labels, "shop", tc.containers}).Attributes(parse(t, tc.mesh).Mesh()); got != tc.want {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReadOnlyMethod goes through all methods of the types that stand in a template's data, and
// shows the few that may be called on those that are not messages.
func TestReadOnlyMethod(t *testing.T) {
	tests := map[string]struct {
		of   any
		want []string
	}{
		"proxy":         {&meshconfig.ProxyConfig{}, nil},
		"mode":          {new(meshconfig.ProxyConfig_InboundInterceptionMode), []string{"String"}},
		"duration":      {&durationpb.Duration{}, []string{"AsDuration", "GetNanos", "GetSeconds", "IsValid", "String"}},
		"timestamp":     {&timestamppb.Timestamp{}, []string{"AsTime", "GetNanos", "GetSeconds", "IsValid", "String"}},
		"struct":        {&structpb.Struct{}, []string{"AsMap", "GetFields", "String"}},
		"value":         {&structpb.Value{}, nil},
		"list":          {&structpb.ListValue{}, []string{"AsSlice", "GetValues", "String"}},
		"metadata":      {&metav1.ObjectMeta{}, slices.Sorted(slices.Values(metadata))},
		"type":          {&metav1.TypeMeta{}, nil},
		"pod":           {&corev1.Pod{}, nil},
		"container":     {&corev1.Container{}, nil},
		"quantity":      {&resource.Quantity{}, []string{"AsApproximateFloat64", "IsZero", "MilliValue", "Sign", "String", "Value"}},
		"resources":     {&corev1.ResourceList{}, []string{"Cpu", "Memory", "Pods", "Storage", "StorageEphemeral"}},
		"resource name": {new(corev1.ResourceName), []string{"String"}},
		"int or string": {&intstr.IntOrString{}, []string{"IntValue", "String"}},
		"time":          {&metav1.Time{}, slices.Sorted(slices.Values(moments))},
		"go time":       {&time.Time{}, slices.Sorted(slices.Values(moments))},
		"go duration":   {new(time.Duration), []string{"Hours", "Microseconds", "Milliseconds", "Minutes", "Nanoseconds", "Seconds", "String"}},
		"word":          {new(string), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			of := reflect.TypeOf(tc.of)
			var got []string
			for i := range of.NumMethod() {
				method := of.Method(i).Name
				if ReadOnlyMethod(of, method) != ReadOnlyMethod(of.Elem(), method) {
					t.Errorf("%s depends on a pointer", method)
				}
				if ReadOnlyMethod(of, method) {
					got = append(got, method)
				}
			}
			if tc.want == nil {
				for _, method := range got {
					if method != "String" && method != "AsInterface" && method[:3] != "Get" || method == "GetObjectKind" || method == "GetObjectMeta" {
						t.Errorf("%s may be called", method)
					}
				}
				return
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	if ReadOnlyMethod(nil, "String") {
		t.Error("nothing has no methods")
	}
}
