// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"github.com/pillion-dev/pillion/pkg/pod"
)

// Strategic is base with layer laid over it as a strategic merge patch of the Kubernetes API lays it
// over a pod; t is their schema.
//
//   - Structs and maps merge member by member; what stands in the layer wins. null deletes, and means
//     nothing where base has nothing to delete. Values of two kinds do not mix: the layer's stands.
//   - A list with a merge key is merged item by item, by that one key: a port is its containerPort
//     alone. A set gains what it lacks. Any other list is replaced whole.
//   - The layer's items keep its order and base's other items theirs. An item that only base has comes
//     before the layer's next one where it stood before that one in base; so the items that are new
//     come first.
//   - The directives are $patch: replace and delete, in a map and in an item of a list with a merge
//     key, $retainKeys, $setElementOrder and $deleteFromPrimitiveList, which counts last. A map or an
//     item that comes new drops out if it says $patch, and is taken without its nulls and directives.
//
// Beyond that, whatever the schema does not know merges too, maps by member and lists whole. A member
// of a union that the layer sets, such as another source of a volume, drops the others of base. A null
// of base, and an item of base without its key, stays as it is.
//
// A layer without nulls and directives, all of whose items have their key, changes nothing the second
// time: the result is its base. So items that share a key, as variables may, are laid like this:
//
//   - Where base and layer both have several, the layer's n-th merges into base's n-th and takes its place
//     in the order as if it had a key of its own. What the layer has more is new; what base has more stands
//     right behind the layer's last. The API merges all into base's first.
//   - Where base has several and the layer one, it merges into the first. Base's come to stand together,
//     as they do where the layer has none.
//   - Where base has one or none and the layer several, these merge into one, if need be again and again
//     until that changes nothing. Containers that each want another order of the same variables may never
//     come to an end: those stand apart like new ones, the first merged into base's one.
//   - A list that comes new keeps what it has.
//
// Neither argument is changed. The result shares with base all that does not change, and is base
// itself where nothing does; what comes new it shares with the layer. So from here on all three are
// read only. The error is a pod.Fault at its place in the layer: an item without its merge key, or a
// directive that makes no sense.
func Strategic(t *pod.Type, base, layer any) (any, error) {
	if layer == nil {
		return base, nil
	}
	if _, ok := layer.(map[string]any); ok && base == nil {
		base = map[string]any{}
	}
	return patchMember(t, "", base, layer)
}

// patchMember is what becomes of a member of a map; nil stands for none.
func patchMember(t *pod.Type, name string, base, layer any) (any, error) {
	switch layer := layer.(type) {
	case map[string]any:
		if old, ok := base.(map[string]any); ok {
			return patchMap(t, old, layer)
		}
	case []any:
		if old, ok := base.([]any); ok {
			merged, err := rulesOf(t, name).merge(old, layer)
			if err != nil {
				return nil, err
			}
			if sameList(old, merged) {
				return base, nil // it is in an interface already
			}
			return merged, nil
		}
	}
	value, _ := clean(layer)
	return value, nil
}

func patchMap(t *pod.Type, base, layer map[string]any) (any, error) {
	if mark, ok := layer[markPatch]; ok {
		return patchWhole(base, layer, mark)
	}
	d, err := directivesOf(layer)
	if err != nil {
		return nil, err
	}
	out := sheet{m: base, layer: layer}
	var first firstFault
	d.retainKeys(&out)
	for k, v := range layer {
		if d.handle(k) {
			continue
		}
		value, err := patchMember(t.Field(k), k, out.m[k], v)
		if err != nil {
			first.note(k, err)
			continue
		}
		out.set(k, value)
	}
	d.lists(t, &out, &first)
	if first.err != nil {
		return nil, first.err
	}
	out.choose(t)
	return out.m, nil
}

// patchWhole obeys a $patch that speaks of the whole map.
func patchWhole(base, layer map[string]any, mark any) (any, error) {
	switch mark {
	case patchReplace:
		value := cleanMap(layer)
		if pod.Equal(base, value) {
			return base, nil
		}
		return value, nil
	case patchDelete: // what is in it: the map stays
		if len(base) == 0 {
			return base, nil
		}
		return map[string]any{}, nil
	}
	return nil, under(markPatch, faultf("want %s or %s, got %s", patchReplace, patchDelete, pod.Describe(mark)))
}

// sheet is a map that is copied when it first changes.
type sheet struct {
	m     map[string]any
	layer map[string]any // whence new members come
	own   bool
}

// set sets a member; nil drops it.
func (s *sheet) set(k string, value any) {
	if settled(s.m[k], value) {
		return
	}
	if value == nil {
		s.drop(k)
		return
	}
	s.copy()
	s.m[k] = value
}

func (s *sheet) drop(k string) {
	s.copy()
	delete(s.m, k)
}

func (s *sheet) copy() {
	if s.own {
		return
	}
	more := 0
	for k := range s.layer {
		if _, ok := s.m[k]; !ok {
			more++
		}
	}
	s.m, s.own = cloneRoom(s.m, more), true
}

// choose drops the other members of a union if the layer set one.
func (s *sheet) choose(t *pod.Type) {
	if t == nil || t.Union == nil {
		return
	}
	chosen := false
	for k, v := range s.layer {
		chosen = chosen || v != nil && t.Union[k] && s.m[k] != nil
	}
	if !chosen {
		return
	}
	for k := range s.m {
		if t.Union[k] && s.layer[k] == nil {
			s.drop(k)
		}
	}
}
