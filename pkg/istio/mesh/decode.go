// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// decoder lays trees over messages: a field that is given is set, whole, be it to zero; the others
// stay. That, Go's form of a duration and numbers in quotes are istiod's rules and not those of
// protojson, which moreover tells no path.
type decoder struct {
	path     []string
	faults   []fault // wrong types
	warnings []fault // unknown fields, and alternatives of which one counts
}

func (d *decoder) wrong(want string, got any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, fault{path: slices.Clone(d.path), detail: fmt.Sprintf("want %s, got %s", want, pod.Describe(got))})
	}
}

// within does something one level below.
func (d *decoder) within(token string, do func()) {
	d.path = append(d.path, token)
	do()
	d.path = d.path[:len(d.path)-1]
}

// message lays a tree over a message.
func (d *decoder) message(m protoreflect.Message, tree any) {
	if tree == nil {
		return
	}
	if d.wellKnown(m, tree) {
		return
	}
	object, ok := tree.(map[string]any)
	if !ok {
		d.wrong("a map", tree)
		return
	}
	d.fields(m, object)
}

// fields sets the given fields in the order of their declaration, so that of alternatives the last
// one declared counts.
func (d *decoder) fields(m protoreflect.Message, object map[string]any) {
	known := m.Descriptor().Fields()
	for i := range known.Len() {
		field := known.Get(i)
		key := given(object, field)
		value := object[key]
		if value == nil {
			continue
		}
		d.within(key, func() {
			if one := field.ContainingOneof(); one != nil && m.WhichOneof(one) != nil {
				d.alternative(object, one, field)
			}
			if v, ok := d.field(m, field, value); ok {
				m.Set(field, v)
			}
		})
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if known.ByJSONName(key) == nil && known.ByName(protoreflect.Name(key)) == nil {
			d.within(key, func() { d.stranger(key, known) })
		}
	}
}

// given is the key that a field goes by in an object: its name in JSON before that of its declaration.
func given(object map[string]any, field protoreflect.FieldDescriptor) string {
	if _, ok := object[field.JSONName()]; ok {
		return field.JSONName()
	}
	return string(field.Name())
}

// stranger warns of a field that nothing reads.
func (d *decoder) stranger(key string, known protoreflect.FieldDescriptors) {
	if len(d.warnings) >= maxFaults {
		return
	}
	names := make([]string, known.Len())
	for i := range names {
		names[i] = known.Get(i).JSONName()
	}
	d.warnings = append(d.warnings, fault{path: slices.Clone(d.path), detail: "an unknown field, which nothing reads", unknown: key, known: names})
}

// alternative warns where the text itself gives two fields that exclude each other.
func (d *decoder) alternative(object map[string]any, one protoreflect.OneofDescriptor, counts protoreflect.FieldDescriptor) {
	for i := range one.Fields().Len() {
		other := one.Fields().Get(i)
		if key := given(object, other); other != counts && object[key] != nil && len(d.warnings) < maxFaults {
			d.warnings = append(d.warnings, fault{path: slices.Clone(d.path), detail: fmt.Sprintf("%s is given too, and only one of them counts", key)})
			return
		}
	}
}

// field reads the value of a field.
func (d *decoder) field(m protoreflect.Message, field protoreflect.FieldDescriptor, value any) (protoreflect.Value, bool) {
	fresh := m.NewField(field)
	switch {
	case field.IsList():
		return fresh, d.list(fresh.List(), field, value)
	case field.IsMap():
		return fresh, d.entries(fresh.Map(), field, value)
	case field.Message() != nil:
		d.message(fresh.Message(), value)
		return fresh, true
	}
	return d.scalar(field, value)
}

func (d *decoder) list(into protoreflect.List, field protoreflect.FieldDescriptor, value any) bool {
	items, ok := value.([]any)
	if !ok {
		d.wrong("a list", value)
		return false
	}
	for i, item := range items {
		d.within("["+strconv.Itoa(i)+"]", func() {
			if v, ok := d.element(field, into.NewElement(), item); ok {
				into.Append(v)
			}
		})
	}
	return true
}

// entries reads a map. Every map of these configurations has text for keys.
func (d *decoder) entries(into protoreflect.Map, field protoreflect.FieldDescriptor, value any) bool {
	object, ok := value.(map[string]any)
	if !ok || field.MapKey().Kind() != protoreflect.StringKind {
		d.wrong("a map", value)
		return false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		d.within("["+key+"]", func() {
			if v, ok := d.element(field.MapValue(), into.NewValue(), object[key]); ok {
				into.Set(protoreflect.ValueOfString(key).MapKey(), v)
			}
		})
	}
	return true
}

// element reads an item or the value of an entry. Null is the zero value.
func (d *decoder) element(field protoreflect.FieldDescriptor, fresh protoreflect.Value, value any) (protoreflect.Value, bool) {
	if field.Message() != nil {
		d.message(fresh.Message(), value)
		return fresh, true
	}
	if value == nil {
		return fresh, true
	}
	return d.scalar(field, value)
}
