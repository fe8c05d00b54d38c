// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// The directives of a strategic merge patch, and the values of the first.
const (
	markPatch  = "$patch"
	markRetain = "$retainKeys"
	markOrder  = "$setElementOrder"         // followed by a slash and the list's name
	markRemove = "$deleteFromPrimitiveList" // likewise

	patchReplace = "replace"
	patchDelete  = "delete"
)

func isDirective(k string) bool {
	return strings.HasPrefix(k, "$") &&
		(k == markPatch || k == markRetain || strings.HasPrefix(k, markOrder) || strings.HasPrefix(k, markRemove))
}

// directives are those of one map, all but $patch; nil where there are none.
type directives struct {
	retains       bool
	retain        []any
	order, remove map[string][]any // by the list's name
}

func directivesOf(layer map[string]any) (*directives, error) {
	var d *directives
	var first firstFault
	for k, v := range layer {
		if !isDirective(k) {
			continue
		}
		if d == nil {
			d = &directives{order: map[string][]any{}, remove: map[string][]any{}}
		}
		if err := d.note(k, v); err != nil {
			first.note(k, err)
		}
	}
	if first.err == nil && d != nil && d.retains {
		d.checkRetained(layer, &first)
	}
	return d, first.err
}

func (d *directives) note(k string, v any) error {
	list, ok := v.([]any)
	if !ok {
		return faultf("want a list, got %s", pod.Describe(v))
	}
	mark, name, named := strings.Cut(k, "/")
	switch {
	case k == markRetain:
		d.retains, d.retain = true, list
	case mark == markOrder && named:
		d.order[name] = list
	case mark == markRemove && named:
		d.remove[name] = list
	default:
		return faultf("want a slash and the name of a list after the directive")
	}
	return nil
}

// checkRetained finds a member that the layer sets and does not retain.
func (d *directives) checkRetained(layer map[string]any, first *firstFault) {
	var lost []string
	for k, v := range layer {
		if v != nil && !isDirective(k) && !slices.Contains(d.retain, any(k)) {
			lost = append(lost, k)
		}
	}
	if len(lost) > 0 {
		first.note(markRetain, faultf("%s is set beside it but not in it", slices.Min(lost)))
	}
}

// handle tells that a member is a directive, or a list that one takes care of.
func (d *directives) handle(k string) bool {
	if d == nil {
		return false
	}
	_, ordered := d.order[k]
	return ordered || isDirective(k)
}

func (d *directives) retainKeys(out *sheet) {
	if d == nil || !d.retains {
		return
	}
	for k := range out.m {
		if !slices.Contains(d.retain, any(k)) {
			out.drop(k)
		}
	}
}

// lists orders lists, and then takes items out of lists.
func (d *directives) lists(t *pod.Type, out *sheet, first *firstFault) {
	if d == nil {
		return
	}
	for name, order := range d.order {
		if err := rulesOf(t.Field(name), name).checkOrder(order); err != nil {
			first.note(markOrder+"/"+name, err)
		} else if err := setOrder(t.Field(name), name, out, order); err != nil {
			first.note(name, err)
		}
	}
	for name, items := range d.remove {
		if err := removeItems(out, name, items); err != nil {
			first.note(markRemove+"/"+name, err)
		}
	}
}

// setOrder merges a list as if there were no directive and then gives the result its order.
func setOrder(t *pod.Type, name string, out *sheet, order []any) error {
	old, here := out.m[name]
	now, comes := out.layer[name]
	base, ok := old.([]any)
	if here && !ok {
		return faultf("%s wants to order a list, the pod has %s", markOrder, pod.Describe(old))
	}
	layer, ok := now.([]any)
	if comes && !ok {
		return faultf("%s wants to order a list, got %s", markOrder, pod.Describe(now))
	}
	r := rulesOf(t, name)
	if err := r.follows(layer, order); err != nil {
		return err
	}
	merged := base
	if comes {
		value, err := patchMember(t, name, old, now)
		if err != nil {
			return err
		}
		merged, _ = value.([]any)
	}
	if !here && !comes {
		return nil
	}
	arranged, err := r.arrange(base, merged, order)
	if err != nil {
		return err
	}
	out.set(name, arranged)
	return nil
}

func removeItems(out *sheet, name string, items []any) error {
	for i, item := range items {
		if !isScalar(item) {
			return under(fmt.Sprint(i), faultf("want a text, a number, true or false, got %s", pod.Describe(item)))
		}
	}
	list, ok := out.m[name].([]any)
	if !ok {
		return nil
	}
	rest := make([]any, 0, len(list))
	for _, item := range list {
		if !isScalar(item) || !slices.Contains(items, item) {
			rest = append(rest, item)
		}
	}
	if len(rest) < len(list) {
		out.set(name, rest)
	}
	return nil
}

// clean is a value that comes new, without its nulls and directives, or false if it drops out.
func clean(value any) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		if v[markPatch] != nil {
			return nil, false
		}
		return cleanMap(v), true
	case []any:
		if out := cleanList(v); !sameList(v, out) {
			return out, true
		}
	}
	return value, true
}

func cleanMap(m map[string]any) map[string]any {
	out := sheet{m: m}
	for k, v := range m {
		value, ok := clean(v)
		if value == nil || !ok || isDirective(k) {
			out.drop(k)
			continue
		}
		out.set(k, value)
	}
	return out.m
}

func cleanList(list []any) []any {
	out, own := list, false
	for i, item := range list {
		value, ok := clean(item)
		if !own && (!ok || !settled(item, value)) {
			out, own = append(make([]any, 0, len(list)), list[:i]...), true
		}
		if own && ok {
			out = append(out, value)
		}
	}
	return out
}

// firstFault is the fault of the least key, so that the order of a map does not show.
type firstFault struct {
	key string
	err error
}

func (f *firstFault) note(key string, err error) {
	if f.err == nil || key < f.key {
		f.key, f.err = key, under(key, err)
	}
}

func faultf(format string, args ...any) error {
	return pod.Fault{Detail: fmt.Sprintf(format, args...)}
}

// under puts a member or an index before the place of a fault.
func under(token string, err error) error {
	fault, _ := err.(pod.Fault)
	fault.Pointer = string(pod.AppendToken(nil, token)) + fault.Pointer
	return fault
}
