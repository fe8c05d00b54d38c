// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// scalar reads a single value that is no message.
func (d *decoder) scalar(field protoreflect.FieldDescriptor, value any) (protoreflect.Value, bool) {
	v, want := plain(field, value)
	if !v.IsValid() {
		d.wrong(want, value)
	}
	return v, v.IsValid()
}

// plain is the value that a field of no message takes, invalid when it does not fit, and what would
// have fitted.
func plain(field protoreflect.FieldDescriptor, value any) (protoreflect.Value, string) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		v, ok := value.(bool)
		return valid(v, ok), "true or false"
	case protoreflect.StringKind:
		v, ok := value.(string)
		return valid(v, ok), "a string"
	case protoreflect.BytesKind:
		text, ok := value.(string)
		v, err := base64.StdEncoding.DecodeString(text)
		return valid(v, ok && err == nil), "bytes in base64"
	case protoreflect.EnumKind:
		return enum(field.Enum(), value)
	case protoreflect.FloatKind:
		v, ok := number[float64](value)
		return valid(float32(v), ok && (math.Abs(v) <= math.MaxFloat32 || math.IsNaN(v) || math.IsInf(v, 0))), "a number"
	case protoreflect.DoubleKind:
		v, ok := number[float64](value)
		return valid(v, ok), "a number"
	}
	return integer(field.Kind(), value)
}

func integer(kind protoreflect.Kind, value any) (protoreflect.Value, string) {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		v, ok := number[int32](value)
		return valid(v, ok), "an integer of 32 bits"
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		v, ok := number[uint32](value)
		return valid(v, ok), "an integer of 32 bits that is not negative"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		v, ok := number[uint64](value)
		return valid(v, ok), "an integer that is not negative"
	}
	v, ok := number[int64](value)
	return valid(v, ok), "an integer"
}

func valid[T any](v T, ok bool) protoreflect.Value {
	if !ok {
		return protoreflect.Value{}
	}
	return protoreflect.ValueOf(v)
}

// number reads a number, be it in quotes.
func number[T int32 | uint32 | int64 | uint64 | float64](value any) (T, bool) {
	var out T
	text, ok := literal(value)
	if _, float := any(out).(float64); float {
		switch text {
		case "NaN", "Infinity", "-Infinity":
			f, err := strconv.ParseFloat(text, 64)
			return T(f), ok && err == nil
		}
	}
	return out, ok && text != "null" && json.Unmarshal([]byte(text), &out) == nil
}

func literal(value any) (string, bool) {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case json.Number:
		return v.String(), true
	case string:
		return v, true
	}
	return "", false
}

// enum reads a name of an enumeration, or its number.
func enum(kind protoreflect.EnumDescriptor, value any) (protoreflect.Value, string) {
	values := kind.Values()
	if name, ok := value.(string); ok {
		if found := values.ByName(protoreflect.Name(name)); found != nil {
			return protoreflect.ValueOfEnum(found.Number()), ""
		}
	} else if n, ok := number[int32](value); ok {
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), ""
	}
	names := make([]string, values.Len())
	for i := range names {
		names[i] = string(values.Get(i).Name())
	}
	return protoreflect.Value{}, "one of " + strings.Join(names, ", ")
}

// wellKnown reads the messages that have a form of their own in JSON.
func (d *decoder) wellKnown(m protoreflect.Message, tree any) bool {
	kind := m.Descriptor()
	if kind.ParentFile().Package() != "google.protobuf" {
		return false
	}
	switch kind.Name() {
	case "Duration":
		d.duration(m, tree)
	case "BoolValue", "StringValue", "BytesValue", "Int32Value", "UInt32Value", "Int64Value", "UInt64Value", "FloatValue", "DoubleValue":
		field := kind.Fields().ByNumber(1)
		if v, ok := d.scalar(field, tree); ok {
			m.Set(field, v)
		}
	default:
		options := protojson.UnmarshalOptions{DiscardUnknown: true}
		if options.Unmarshal(pod.Encode(tree), m.Interface()) != nil {
			d.wrong("the JSON form of "+string(kind.FullName()), tree)
		}
	}
	return true
}

// duration reads a duration as Go writes it, such as 1m30s; the form of proto3 JSON is one of those.
func (d *decoder) duration(m protoreflect.Message, tree any) {
	text, ok := tree.(string)
	v, err := time.ParseDuration(text)
	if !ok || err != nil {
		d.wrong("a duration such as 45s", tree)
		return
	}
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(int64(v/time.Second)))
	m.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(int32(v%time.Second)))
}
