// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// layer is what a template renders, read as YAML 1.1 in the way of sigs.k8s.io/yaml: not strictly,
// the last of two equal keys counts.
type layer struct {
	tree    map[string]any // with the directives of a strategic merge
	alone   map[string]any // laid over nothing
	unknown []string       // the paths of fields that no pod has, which were left out
	err     *reason.Refusal
}

// The bounds of the layers that are kept: pods of one workload render the same text. A layer takes many
// times the memory of its text, which the annotations of a pod may make long.
const (
	maxLayers     = 64
	maxLayerBytes = 1 << 20 // of all texts together
)

// maxUnknown bounds the unknown fields of a layer that are told.
const maxUnknown = 100

// layers reads rendered texts, and keeps what came of them.
type layers struct {
	mu    sync.RWMutex
	known map[rendered]*layer
	bytes int
}

// rendered is a text and the template that rendered it, whom a fault names.
type rendered struct{ name, text string }

func (c *layers) read(name, text string) *layer {
	c.mu.RLock()
	l := c.known[rendered{name, text}]
	c.mu.RUnlock()
	if l != nil {
		return l
	}
	l = readLayer(name, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxLayers || c.bytes+len(text) > maxLayerBytes {
		c.known, c.bytes = make(map[rendered]*layer, maxLayers), 0
	}
	c.known[rendered{name, strings.Clone(text)}] = l
	c.bytes += len(text)
	return l
}

func readLayer(name, text string) *layer {
	refuse := func(path, format string, args ...any) *layer {
		return &layer{err: &reason.Refusal{
			Reason: reason.TemplateOutputInvalid, Path: path, Detail: fmt.Sprintf("template %q: ", name) + fmt.Sprintf(format, args...),
			Hint: "mend the template: what it renders must be a partial pod",
		}}
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return refuse("", "it renders no YAML: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	value, err := pod.Decode(raw)
	if err != nil {
		return refuse("", "it renders no partial pod: %v", err)
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
	l.alone = alone.(map[string]any)
	if faults := pod.Schema().Check(l.alone); len(faults) > 0 {
		return refuse(pod.Dotted(faults[0].Pointer), "%s", faults[0].Detail)
	}
	return l
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
