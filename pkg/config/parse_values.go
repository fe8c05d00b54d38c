// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ParseValues reads a file of values on its own, in the form of Config.Values and as strictly as
// Parse. An empty file is no values. The error is Errors.
func ParseValues(name string, text []byte) (map[string]any, error) {
	src := &source{name: name, text: text, origin: Origin{File: name, First: 1, Exact: true}}
	doc, fault := src.document()
	if fault != nil {
		return nil, Errors{*fault}
	}
	if doc == nil || isNull(doc) {
		return map[string]any{}, nil
	}
	if doc.Kind != yaml.MappingNode {
		return nil, Errors{src.fault(doc.Line, "", fmt.Sprintf("want a map of values, got %q", doc.Value))}
	}
	d := decoder{src: src, places: map[string]Position{}}
	value, _ := d.free(doc, nil)
	if len(d.faults) > 0 {
		return nil, d.faults.sorted()
	}
	values, _ := value.(map[string]any)
	return values, nil
}

// MergeValues lays one tree of values over another; maps are merged, everything else is replaced.
func MergeValues(under, over map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range under {
		out[k] = v
	}
	for k, v := range over {
		inner, isMap := v.(map[string]any)
		below, wasMap := out[k].(map[string]any)
		if isMap && wasMap {
			v = MergeValues(below, inner)
		}
		out[k] = v
	}
	return out
}
