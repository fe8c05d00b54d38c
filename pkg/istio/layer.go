// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// layer is what a template renders, read as YAML 1.1 in the way of sigs.k8s.io/yaml: not strictly,
// the last of two equal keys counts.
type layer struct {
	tree    map[string]any // with the directives of a strategic merge
	directs bool           // it has such directives
	unknown []string       // the paths of fields that no pod has, which were left out
	err     *reason.Refusal
}

// maxUnknown bounds the unknown fields of a layer that are told.
const maxUnknown = 100

func readLayer(name, text string) *layer {
	refuse := func(path, format string, args ...any) *layer {
		return &layer{err: &reason.Refusal{
			Reason: reason.TemplateOutputInvalid, Path: path, Detail: fmt.Sprintf("template %q: ", name) + fmt.Sprintf(format, args...),
			Hint: "mend the template: what it renders must be a partial pod",
		}}
	}
	value, err := readYAML(text)
	if err != nil {
		return refuse("", "it renders no %v", err)
	}
	tree, ok := value.(map[string]any)
	if !ok && value != nil {
		return refuse("", "it renders %s, want a partial pod with metadata and spec", pod.Describe(value))
	}
	l := &layer{}
	l.tree, _ = l.settle(pod.Schema(), tree, "").(map[string]any)
	alone, err := overlay.Strategic(pod.Schema(), map[string]any{}, l.tree)
	if err != nil {
		return refuse("", "%v", err)
	}
	if faults := pod.Schema().Check(alone); len(faults) > 0 {
		return refuse(pod.Dotted(faults[0].Pointer), "%s", faults[0].Detail)
	}
	return l
}

// readYAML is the tree of a text. The error begins with what the text is not.
func readYAML(text string) (any, error) {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("YAML: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	value, err := pod.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("partial pod: %w", err)
	}
	return value, nil
}

// settle gives a layer the form that it would have after a way through the API's own types: fields
// that no pod has are left out, quantities are in their shortest form, and a zero that is not written
// means that the field is not there. An empty list that would be merged, or an empty object, says nothing.
func (l *layer) settle(t *pod.Type, value any, path string) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if settled, kept := l.member(t, path, key, v[key]); kept {
				out[key] = settled
			}
		}
		return out
	case []any:
		if t == nil || t.Kind != pod.List {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = l.settle(t.Elem, item, path)
		}
		return out
	}
	if t != nil && t.Kind == pod.Quantity && value != nil {
		return pod.Canonical(t, value)
	}
	return value
}

// member settles one member of an object, which may be left out.
func (l *layer) member(t *pod.Type, path, key string, item any) (settled any, kept bool) {
	field := t.Field(key)
	switch {
	case strings.HasPrefix(key, "$"):
		l.directs = true
		return item, true
	case field == nil && t != nil && t.Kind == pod.Struct:
		if at := path + key; len(l.unknown) < maxUnknown && !slices.Contains(l.unknown, at) {
			l.unknown = append(l.unknown, at)
		}
		return nil, false
	case item == nil:
		// A list of the pod's that the template leaves without a value adds nothing. The original deletes
		// the author's.
		return nil, path != "spec." || !merged(field)
	case t != nil && t.Omitted[key] && pod.Zero(item):
		return nil, !sayNothing(field, item)
	}
	return l.settle(field, item, path+key+"."), true
}

// sayNothing tells that an empty value of the type changes nothing where it is merged.
func sayNothing(t *pod.Type, value any) bool {
	switch value.(type) {
	case map[string]any:
		return true
	case []any:
		return merged(t)
	}
	return false
}

// merged tells the lists whose items are merged, by key or as a set.
func merged(t *pod.Type) bool {
	return t != nil && t.Kind == pod.List && (len(t.MergeKeys) > 0 || t.Set)
}
