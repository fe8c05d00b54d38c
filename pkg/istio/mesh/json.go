// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// JSON is ProtoJSON, remembered for what Proxy returned.
func (c *Config) JSON(m proto.Message) (string, error) {
	p, ok := m.(*meshconfig.ProxyConfig)
	if !ok {
		return ProtoJSON(m)
	}
	if p == c.base && c.baseJSON != "" {
		return c.baseJSON, nil
	}
	if text, ok := c.rendered.get(p); ok {
		return text, nil
	}
	return ProxyJSON(p)
}

// ProtoJSON is the JSON of a message: fields in the order of their declaration, keys of maps sorted,
// without spaces, and with <, > and & escaped. A ProxyConfig is written as by ProxyJSON; nil is {}.
func ProtoJSON(m proto.Message) (string, error) {
	if p, ok := m.(*meshconfig.ProxyConfig); ok {
		return ProxyJSON(p)
	}
	if m == nil || reflect.ValueOf(m).Kind() == reflect.Pointer && reflect.ValueOf(m).IsNil() {
		return "{}", nil
	}
	return marshal(m)
}

func marshal(m proto.Message) (string, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("write %s as JSON: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	var compact, escaped bytes.Buffer // protojson puts spaces where it likes
	if err := json.Compact(&compact, text); err != nil {
		return "", fmt.Errorf("write %s as JSON: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return escaped.String(), nil
}

// ProxyJSON is the JSON of a ProxyConfig without the fields that equal the built-in one, which the
// proxy knows by itself.
func ProxyJSON(p *meshconfig.ProxyConfig) (string, error) {
	var own meshconfig.ProxyConfig
	m, known := own.ProtoReflect(), builtin().ProtoReflect()
	p.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !known.Has(field) || !known.Get(field).Equal(v) {
			m.Set(field, v)
		}
		return true
	})
	return marshal(m.Interface())
}
