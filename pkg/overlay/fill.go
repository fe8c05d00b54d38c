// SPDX-License-Identifier: Apache-2.0

package overlay

import "github.com/pillion-dev/pillion/pkg/pod"

// Fill is base with what it lacks, taken from the layer. It merges as Merge does, but wherever both
// say something base wins: in a union that base has chosen from, and in the first item of a key. The
// second item of a key is base's own business too, so laying base over the merge would not do.
func Fill(t *pod.Type, base, layer any) any {
	out, _ := fill(t, base, layer)
	return out
}

func fill(t *pod.Type, base, layer any) (out any, changed bool) {
	if base == nil {
		return merge(t, nil, layer)
	}
	switch layer := layer.(type) {
	case map[string]any:
		if old, ok := base.(map[string]any); ok {
			return fillMaps(t, old, layer)
		}
	case []any:
		if old, ok := base.([]any); ok && keyed(t) {
			return mergeItems(t, old, layer, fill)
		}
	}
	return base, false
}

// fillMaps copies base when the first member comes.
func fillMaps(t *pod.Type, base, layer map[string]any) (map[string]any, bool) {
	out, copied := base, false
	chosen := t != nil && chooses(t, base)
	for k, v := range layer {
		if base[k] == nil && chosen && t.Union[k] {
			continue
		}
		value, changed := fill(t.Field(k), base[k], v)
		if !changed {
			continue
		}
		if !copied {
			out, copied = cloneRoom(base, len(layer)), true
		}
		out[k] = value
	}
	return out, copied
}
