// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"maps"
)

// strdict is a dictionary of texts out of keys and values; a last key without a value has an empty one.
func strdict(words ...string) map[string]string {
	out := make(map[string]string, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		out[words[i]] = ""
		if i+1 < len(words) {
			out[words[i]] = words[i+1]
		}
	}
	return out
}

// omit is the dictionary without the keys.
func omit(m map[string]string, keys ...string) map[string]string {
	out := make(map[string]string, len(m))
	maps.Copy(out, m)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// mergeMaps is all the dictionaries as one; of two entries with one key the last counts.
func mergeMaps(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// toJSON is a dictionary of texts as JSON, its keys in order.
func toJSON(m map[string]string) string {
	if len(m) == 0 {
		return "{}"
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "{}"
	}
	return string(raw)
}

// omitNil is the value without nulls, and without what is empty then. A value that has none of them
// is returned as it is.
func omitNil(v any) any {
	if lean(v) {
		return v
	}
	return drop(v)
}

// lean tells whether there is nothing to leave out.
func lean(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case map[string]any:
		for _, item := range v {
			if !lean(item) {
				return false
			}
		}
		return len(v) > 0
	case []any:
		for _, item := range v {
			if !lean(item) {
				return false
			}
		}
		return len(v) > 0
	}
	return true
}

func drop(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if item = drop(item); item != nil {
				out[key] = item
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			if item = drop(item); item != nil {
				out = append(out, item)
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return v
}
