// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// strange are the fields of list items of a pod's spec that its schema does not know, by where they
// stand: items by their names, fields joined by slashes.
func strange(tree map[string]any) map[string]any {
	out := map[string]any{}
	collect(walk{pod.Schema().Field("spec"), tree["spec"], ""}, false, out)
	return out
}

// walk is a place in a pod: its schema, its value and its path.
type walk struct {
	schema *pod.Type
	value  any
	path   string
}

// collect adds the unknown fields below a place that is inside a list's item.
func collect(w walk, listed bool, out map[string]any) {
	switch v := w.value.(type) {
	case map[string]any:
		for k, item := range v {
			field := w.schema.Field(k)
			if w.schema == nil || w.schema.Kind != pod.Struct || field != nil {
				collect(walk{field, item, w.path + "/" + k}, listed, out)
			} else if listed {
				out[w.path+"/"+k] = item
			}
		}
	case []any:
		if w.schema == nil || w.schema.Kind != pod.List {
			return
		}
		for i, item := range v {
			at := name(item)
			if at == "" {
				at = fmt.Sprint(i)
			}
			collect(walk{w.schema.Elem, item, w.path + "/" + at}, true, out)
		}
	}
}

// places are where the lists' items stand that hold such fields: list and name, with the index.
func places(spec map[string]any, fields map[string]any) map[string]int {
	out := map[string]int{}
	for path := range fields {
		parts := strings.Split(path, "/")
		out[parts[1]+"/"+parts[2]] = pod.Place(pod.Items(spec, parts[1]), parts[2])
	}
	return out
}

// unknownFieldsMove: a list item with a field that is unknown stands at another index afterwards.
func unknownFieldsMove(r *runner, in *input) bool {
	fields := strange(in.pod)
	if len(fields) == 0 {
		return false
	}
	got, _ := r.both(in)
	return got.kind == injected && !maps.Equal(places(pod.Object(in.pod, "spec"), fields), places(spec(got), fields))
}

// unknownFieldsStay: every such field is where its author put it, and nowhere else.
func unknownFieldsStay(_ *runner, p *pair) error {
	before := map[string]any{"spec": norm(p.in.pod["spec"], "")}
	got, _ := p.got.tree.(map[string]any)
	want, _ := p.want.tree.(map[string]any)
	if d := diff(any(strange(got)), any(strange(before)), ""); len(d) > 0 {
		return fmt.Errorf("an unknown field does not stay: %s", d[0])
	}
	for _, tree := range []map[string]any{got, want} {
		tree["spec"] = norm(plain(pod.Schema().Field("spec"), tree["spec"]), "")
	}
	return nil
}

// plain is a value without the fields that its schema does not know.
func plain(t *pod.Type, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			field := t.Field(k)
			if t != nil && t.Kind == pod.Struct && field == nil {
				continue
			}
			out[k] = plain(field, item)
		}
		return out
	case []any:
		if t == nil || t.Kind != pod.List {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(t.Elem, item)
		}
		return out
	}
	return value
}
