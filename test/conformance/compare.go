// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// asJSON is the value of an environment variable that is itself JSON, in one canonical text.
type asJSON string

// openKeys are the members whose names the author chose: an empty value in them says something.
var openKeys = []string{"annotations", "labels", "matchLabels", "nodeSelector"}

// norm is a document without what says nothing: members that are null, or an empty object, list or
// text, but for those that mean something by being there. Numbers are compared by their value, and
// the value of an environment variable that is JSON as JSON. The order of lists stays.
func norm(value any, key string) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			n := norm(item, k)
			kept := k == "value" || k == "emptyDir" || slices.Contains(openKeys, key)
			if blank(n) && !kept || k == "value" && n == "" {
				continue
			}
			out[k] = n
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = norm(item, "")
		}
		return out
	case string:
		if key == "value" && strings.ContainsAny(first(v), "{[") {
			if inner, err := decode([]byte(v)); err == nil {
				return asJSON(text(inner))
			}
		}
		return v
	}
	return number(value)
}

// first is the first character of a text that is no space.
func first(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(1, len(text))]
}

func blank(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}

// number gives whole numbers one type, whatever their literal.
func number(value any) any {
	var f float64
	switch v := value.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ = v.Float64()
	case float64:
		f = v
	case int:
		return int64(v)
	default:
		return value
	}
	if f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

// diff tells each place in which got is not what is wanted. Both are normal forms.
func diff(got, want any, path string) []string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return diffMaps(g, w, path)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return diffLists(g, w, path)
		}
	default:
		if _, isMap := got.(map[string]any); !isMap && !isList(got) && got == want {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: want %s got %s", path, brief(want), brief(got))}
}

func isList(value any) bool {
	_, ok := value.([]any)
	return ok
}

func diffMaps(got, want map[string]any, path string) []string {
	var out []string
	keys := slices.Collect(maps.Keys(got))
	for k := range want {
		if _, ok := got[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		g, have := got[k]
		w, wanted := want[k]
		switch {
		case !have:
			out = append(out, fmt.Sprintf("%s/%s: missing (want %s)", path, k, brief(w)))
		case !wanted:
			out = append(out, fmt.Sprintf("%s/%s: unexpected %s", path, k, brief(g)))
		default:
			out = append(out, diff(g, w, path+"/"+k)...)
		}
	}
	return out
}

func diffLists(got, want []any, path string) []string {
	var out []string
	if len(got) != len(want) {
		out = append(out, fmt.Sprintf("%s: length want %d got %d", path, len(want), len(got)))
	}
	for i := range min(len(got), len(want)) {
		out = append(out, diff(got[i], want[i], path+"/"+strconv.Itoa(i))...)
	}
	return out
}

// brief is a value for a person, cut short.
func brief(value any) string {
	out := text(value)
	if j, ok := value.(asJSON); ok {
		out = string(j)
	}
	if len(out) > 160 {
		out = out[:157] + "..."
	}
	return out
}

// text is a value's JSON, with the keys sorted.
func text(value any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// decode reads one JSON document; numbers keep their literal.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the document")
	}
	return out, nil
}

// object decodes a JSON object.
func object(raw []byte) (map[string]any, error) {
	value, err := decode(raw)
	if err != nil {
		return nil, err
	}
	out, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want an object, got %s", brief(value))
	}
	return out, nil
}
