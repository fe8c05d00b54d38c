// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"maps"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kind is the shape of a value in the schema.
type Kind uint8

// The kinds.
const (
	Any Kind = iota
	Struct
	Map
	List
	String
	Int
	Int32
	Bool
	Quantity
	IntOrString
	Time
)

// Type is the schema of one value of a pod.
type Type struct {
	Kind   Kind
	Fields map[string]*Type // of a Struct, by JSON name
	Elem   *Type            // of a Map or a List

	// Omitted names the fields of a Struct that the API server leaves out where they hold their zero
	// value.
	Omitted map[string]bool

	// MergeKeys names the fields that identify an item of a List of Structs; none for a list that is
	// replaced whole. Set tells that a List of strings is a set.
	MergeKeys []string
	Set       bool

	// Union names the fields of a Struct of which at most one may be set, such as the sources of a
	// volume.
	Union map[string]bool
}

// Schema is the schema of a pod, read from the struct tags of k8s.io/api: merge keys as in
// patchMergeKey, with the keys that the API's list-map markers add (the protocol of a port).
func Schema() *Type { return schema() }

var schema = sync.OnceValue(func() *Type {
	b := builder{known: map[reflect.Type]*Type{}}
	return b.of(reflect.TypeFor[corev1.Pod]())
})

// Field is the schema of a field, or nil where the type has none of that name.
func (t *Type) Field(name string) *Type {
	if t == nil {
		return nil
	}
	switch t.Kind {
	case Struct:
		return t.Fields[name]
	case Map:
		return t.Elem
	}
	return nil
}

// At is the schema at a path of field names; a list is stepped into by "*". It is nil where there
// is none.
func (t *Type) At(path ...string) *Type {
	for _, name := range path {
		if t != nil && t.Kind == List && name == "*" {
			t = t.Elem
			continue
		}
		t = t.Field(name)
	}
	return t
}

type builder struct{ known map[reflect.Type]*Type }

func (b builder) of(t reflect.Type) *Type {
	if t.Kind() == reflect.Pointer {
		return b.of(t.Elem())
	}
	if known := b.known[t]; known != nil {
		return known
	}
	out := &Type{}
	b.known[t] = out
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		out.Kind = Quantity
		return out
	case reflect.TypeFor[intstr.IntOrString]():
		out.Kind = IntOrString
		return out
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		out.Kind = Time
		return out
	case reflect.TypeFor[metav1.FieldsV1]():
		return out
	}
	switch t.Kind() {
	case reflect.Struct:
		out.Kind, out.Fields, out.Omitted = Struct, map[string]*Type{}, map[string]bool{}
		b.fields(t, out)
	case reflect.Map:
		out.Kind, out.Elem = Map, b.of(t.Elem())
	case reflect.Slice:
		out.Kind, out.Elem = List, b.of(t.Elem())
	case reflect.String:
		out.Kind = String
	case reflect.Bool:
		out.Kind = Bool
	case reflect.Int32:
		out.Kind = Int32
	default:
		out.Kind = Int
	}
	return out
}

func (b builder) fields(t reflect.Type, out *Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			b.embed(f, out)
			continue
		}
		field := b.of(f.Type)
		if field.Kind == List {
			own := *field // the merge keys belong to the field, not to the slice type
			own.MergeKeys, own.Set = mergeKeys(t, f)
			field = &own
		}
		out.Fields[name] = field
		if k := f.Type.Kind(); strings.Contains(flags, "omitempty") && k != reflect.Pointer && k != reflect.Struct {
			out.Omitted[name] = true
		}
	}
	switch t {
	case reflect.TypeFor[corev1.EnvVar]():
		out.Union = map[string]bool{"value": true, "valueFrom": true}
	case reflect.TypeFor[corev1.PodResourceClaim]():
		out.Union = map[string]bool{"resourceClaimName": true, "resourceClaimTemplateName": true}
	case reflect.TypeFor[corev1.EnvVarSource](), reflect.TypeFor[corev1.LifecycleHandler]():
		out.Union = names(out.Fields)
	}
}

// embed takes over the fields of an embedded struct. The API embeds its unions.
func (b builder) embed(f reflect.StructField, out *Type) {
	inner := b.of(f.Type)
	maps.Copy(out.Fields, inner.Fields)
	maps.Copy(out.Omitted, inner.Omitted)
	switch f.Type {
	case reflect.TypeFor[corev1.VolumeSource](), reflect.TypeFor[corev1.ProbeHandler]():
		out.Union = names(inner.Fields)
	}
}

func names(fields map[string]*Type) map[string]bool {
	set := make(map[string]bool, len(fields))
	for name := range fields {
		set[name] = true
	}
	return set
}

// mergeKeys reads the merge keys of a list field. Struct tags carry one key only, and none where
// strategic merge patch replaces the list; the second switch holds what the API's list-map markers
// say beyond them.
func mergeKeys(owner reflect.Type, f reflect.StructField) (keys []string, set bool) {
	strategy, key := f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")
	switch {
	case owner == reflect.TypeFor[corev1.Container]() && f.Name == "Ports",
		owner == reflect.TypeFor[corev1.EphemeralContainerCommon]() && f.Name == "Ports":
		return []string{"containerPort", "protocol"}, false
	case f.Name == "TopologySpreadConstraints":
		return []string{"topologyKey", "whenUnsatisfiable"}, false
	case owner == reflect.TypeFor[corev1.ResourceRequirements]() && f.Name == "Claims":
		return []string{"name"}, false
	}
	if !strings.Contains(strategy, "merge") {
		return nil, false
	}
	if key == "" {
		return nil, true
	}
	return []string{key}, false
}
