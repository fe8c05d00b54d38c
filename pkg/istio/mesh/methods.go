// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"reflect"
	"slices"
	"strings"
)

// readers are the methods, beside getters of messages, that change nothing and read nothing but
// their receiver: not the clock, and not the time zone of the machine.
var readers = map[string][]string{
	"google.golang.org/protobuf/types/known/durationpb.Duration":   {"AsDuration", "IsValid"},
	"google.golang.org/protobuf/types/known/timestamppb.Timestamp": {"AsTime", "IsValid"},
	"google.golang.org/protobuf/types/known/structpb.Struct":       {"AsMap"},
	"google.golang.org/protobuf/types/known/structpb.Value":        {"AsInterface"},
	"google.golang.org/protobuf/types/known/structpb.ListValue":    {"AsSlice"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                {"String", "Value", "MilliValue", "IsZero", "Sign", "AsApproximateFloat64"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":              {"String", "IntValue"},
	"k8s.io/api/core/v1.ResourceList":                              {"Cpu", "Memory", "Pods", "Storage", "StorageEphemeral"},
	"k8s.io/api/core/v1.ResourceName":                              {"String"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                    moments,
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":               moments,
	"time.Time":     moments,
	"time.Duration": {"String", "Seconds", "Minutes", "Hours", "Milliseconds", "Microseconds", "Nanoseconds"},
	"time.Month":    {"String"},
	"time.Weekday":  {"String"},
}

var moments = []string{"String", "IsZero", "UTC", "Unix", "UnixMilli", "UnixNano", "Year", "Month", "Day", "Hour", "Minute", "Second", "Weekday", "YearDay"}

// metadata are the getters of object metadata. GetObjectMeta is none: what it gives has setters.
var metadata = []string{
	"GetName", "GetGenerateName", "GetNamespace", "GetUID", "GetResourceVersion", "GetGeneration", "GetSelfLink", "GetLabels", "GetAnnotations",
	"GetCreationTimestamp", "GetDeletionTimestamp", "GetDeletionGracePeriodSeconds", "GetFinalizers", "GetOwnerReferences",
}

// ReadOnlyMethod tells whether a template may call a method of a type that stands in its data, with or
// without pointers: one that changes nothing and gives nothing that could. Everything that it does
// not know is refused.
func ReadOnlyMethod(t reflect.Type, name string) bool {
	if t == nil {
		return false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	from := t.PkgPath()
	switch {
	case slices.Contains(readers[from+"."+t.Name()], name):
		return true
	case from == "k8s.io/apimachinery/pkg/apis/meta/v1" && t.Name() == "ObjectMeta":
		return slices.Contains(metadata, name)
	case strings.HasPrefix(from, "istio.io/api/"), strings.HasPrefix(from, "google.golang.org/protobuf/types/known/"):
		return strings.HasPrefix(name, "Get") || name == "String"
	}
	return false
}
