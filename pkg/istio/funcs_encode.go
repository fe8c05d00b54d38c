// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/render"
)

// fromJSON is the value that a JSON text holds. A text that is no JSON gives the text {}, over which
// no template can range.
func fromJSON(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "{}"
	}
	return v
}

// structToJSON is any value as JSON, the API's objects with their fields in their own order.
func structToJSON(v any) (string, error) {
	if v == nil {
		return "{}", nil
	}
	raw, err := encoded(v)
	return string(raw), err
}

// protoToJSON is a part of the mesh configuration as JSON. A proxy's leaves out what is the default.
func protoToJSON(write func(proto.Message) (string, error)) func(any) (string, error) {
	return func(v any) (string, error) {
		if v == nil {
			return "{}", nil
		}
		m, ok := v.(proto.Message)
		if !ok {
			return "", fmt.Errorf("want a part of the mesh configuration, got %T", v)
		}
		if !m.ProtoReflect().IsValid() {
			return "{}", nil
		}
		return write(m)
	}
}

// toYAML is the value as YAML, with the end of its last line.
func toYAML(v any) (string, error) {
	if text, ok := plainYAML(v); ok {
		return text, nil
	}
	raw, err := encoded(v)
	if err != nil {
		return "", err
	}
	out, err := yaml.JSONToYAML(raw)
	return string(out), err
}

// encoded is a value as JSON.
func encoded(v any) ([]byte, error) {
	if apiObjects(v) > maxObjects {
		return nil, fmt.Errorf("more than %d objects of the API in one value", maxObjects)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > render.MaxForeignText {
		return nil, fmt.Errorf("the value takes %d bytes as JSON; at most %d can be written", len(raw), render.MaxForeignText)
	}
	return raw, nil
}

// maxObjects bounds the objects of the API in one value: the evaluator counts the lists and
// dictionaries that a template makes, but not what is in an object of the data, which a template may
// put into them many times over.
const maxObjects = 100

// apiObjects counts the objects of the API in a value, each list of them as one.
func apiObjects(v any) (n int) {
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64, json.Number, map[string]string, []string:
		return 0
	case []any:
		for _, item := range v {
			n += apiObjects(item)
		}
		return n
	case map[string]any:
		for _, item := range v {
			n += apiObjects(item)
		}
		return n
	}
	return 1
}

// indent puts so many spaces before each line of the text but the first, which stands where the
// template has put it.
func indent(spaces int, text string) (string, error) {
	if spaces < 0 || spaces > render.MaxForeignText {
		return "", fmt.Errorf("%d spaces; want 0 to %d", spaces, render.MaxForeignText)
	}
	if lines := strings.Count(text, "\n"); len(text)+spaces*lines > render.MaxForeignText {
		return "", fmt.Errorf("the result would take more than %d bytes", render.MaxForeignText)
	}
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces)), nil
}
