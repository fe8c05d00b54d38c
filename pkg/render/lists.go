// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// listFunctions make and read lists. A list never changes: what looks like a change makes another.
var listFunctions = []function{
	{name: "list tuple", least: 0, most: -1, call: func(in input) (any, error) { return slices.Clone(in.args), nil }, doc: "A list of the arguments."},
	{name: "len", least: 1, most: 1, light: true, plain: true, call: length, doc: "The number of items or bytes; 0 for null."},
	{name: "index", least: 1, most: -1, light: true, call: index, doc: "index x 1 \"k\" is item 1 of x, and of that the entry k. A missing entry is null, or empty where every entry is a text."},
	{name: "slice mustSlice", least: 1, most: 3, call: slice, doc: "slice x 1 3: the items, or bytes of a text, from one offset up to another."},
	{name: "first mustFirst", least: 1, most: 1, light: true, call: onList(func(l []any) any { return itemAt(l, 0) }), doc: "The first item, or null."},
	{name: "last mustLast", least: 1, most: 1, light: true, call: onList(func(l []any) any { return itemAt(l, len(l)-1) }), doc: "The last item, or null."},
	{name: "rest mustRest", least: 1, most: 1, call: onList(func(l []any) any { return slices.Clone(l[min(1, len(l)):]) }), doc: "All but the first item."},
	{name: "initial mustInitial", least: 1, most: 1, call: onList(func(l []any) any { return slices.Clone(l[:max(0, len(l)-1)]) }), doc: "All but the last item."},
	{name: "reverse mustReverse", least: 1, most: 1, call: onList(reversed), doc: "The items from last to first."},
	{name: "append push mustAppend mustPush", least: 2, most: 2, call: onListWith(func(l []any, v any) any { return append(slices.Clip(l), v) }), doc: "append x v: the list with one more item at its end."},
	{name: "prepend mustPrepend", least: 2, most: 2, call: onListWith(func(l []any, v any) any { return append([]any{v}, l...) }), doc: "prepend x v: the list with one more item at its start."},
	{name: "concat", least: 0, most: -1, call: concat, doc: "The items of all lists in one."},
	{name: "uniq mustUniq", least: 1, most: 1, call: uniq, doc: "Without the items that came before."},
	{name: "without mustWithout", least: 1, most: -1, call: without, doc: "without x v w: without the items that equal one of the values."},
	{name: "has mustHas", least: 2, most: 2, plain: true, call: has, doc: "has v x: true when the list holds the value."},
	{name: "compact mustCompact", least: 1, most: 1, call: onList(compact), doc: "Without the items that are false, null, zero or empty."},
	{name: "chunk mustChunk", least: 2, most: 2, call: chunk, doc: "chunk 3 x: a list of lists of so many items."},
	{name: "toStrings", least: 1, most: 1, call: toStrings, doc: "The items as texts. null is left out."},
	{name: "sortAlpha", least: 1, most: 1, call: sortAlpha, doc: "The items as texts, in order."},
	{name: "join", least: 2, most: 2, call: join, doc: "join \",\" x: the items as one text. null is left out."},
	{name: "splitList", least: 2, most: 2, call: splitList, doc: "splitList \",\" text: the parts as a list."},
	{name: "split", doc: "split \",\" text: the parts as a dictionary with the keys _0, _1 and so on."},
	{name: "splitn", doc: "splitn \",\" 2 text: as split, with at most so many parts."},
}

func onList(do func([]any) any) func(input) (any, error) {
	return func(in input) (any, error) {
		list, err := in.items(0)
		if err != nil {
			return nil, err
		}
		return do(list), nil
	}
}

func onListWith(do func([]any, any) any) func(input) (any, error) {
	return func(in input) (any, error) {
		list, err := in.items(0)
		if err != nil {
			return nil, err
		}
		return do(list, in.args[1]), nil
	}
}

func itemAt(list []any, i int) any {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

func reversed(list []any) any {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func compact(list []any) any {
	out := []any{}
	for _, v := range list {
		if truth(v) {
			out = append(out, v)
		}
	}
	return out
}

func length(in input) (any, error) {
	switch v := scalar(in.args[0]).(type) {
	case nil:
		return 0, nil
	case string:
		return len(v), nil
	}
	switch v := reflect.ValueOf(in.args[0]); v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len(), nil
	}
	return nil, in.want(0, "a text, a list or a dictionary")
}

func index(in input) (any, error) {
	v := in.args[0]
	for i := 1; i < len(in.args); i++ {
		if isNull(v) {
			return nil, nil
		}
		rv := reflect.ValueOf(v)
		switch {
		case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
			key, err := in.text(i)
			if err != nil {
				return nil, err
			}
			v = entry(rv, key)
		case rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array:
			n, err := in.offset(i, rv.Len()-1)
			if err != nil {
				return nil, err
			}
			v = view(rv.Index(n))
		default:
			return nil, failed(in.from.at, "", "index: %s is %s; want a list or a dictionary", in.from.sources[0], describe(v))
		}
	}
	return v, nil
}

// entry is an entry of a map; a missing one is the zero value of a map that holds no null.
func entry(m reflect.Value, key string) any {
	found := m.MapIndex(reflect.ValueOf(key).Convert(m.Type().Key()))
	if !found.IsValid() && m.Type().Elem().Kind() == reflect.String {
		return ""
	}
	return view(found)
}

func (in input) offset(i, most int) (int, error) {
	n, err := in.integer(i)
	if err == nil && (n < 0 || n > most) {
		err = failed(in.from.at, "", "%s: %s is %d, which is out of range", in.from.function.name, in.from.sources[i], n)
	}
	return n, err
}

func slice(in input) (any, error) {
	text, isText := scalar(in.args[0]).(string)
	var list []any
	n := len(text)
	if !isText {
		var err error
		if list, err = in.items(0); err != nil {
			return nil, err
		}
		n = len(list)
	}
	from, to, err := 0, n, error(nil)
	if len(in.args) > 2 {
		if to, err = in.offset(2, n); err != nil {
			return nil, err
		}
	}
	if len(in.args) > 1 {
		if from, err = in.offset(1, to); err != nil {
			return nil, err
		}
	}
	if isText {
		return text[from:to], nil
	}
	return slices.Clone(list[from:to]), nil
}

func concat(in input) (any, error) {
	var out []any
	for i := range in.args {
		list, err := in.items(i)
		if err != nil {
			return nil, err
		}
		if _, err := itemsSize(len(out) + len(list)); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func chunk(in input) (any, error) {
	n, err := in.integer(0)
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, in.want(0, "a number above 0")
	}
	list, err := in.items(1)
	out := []any{}
	for part := range slices.Chunk(list, n) {
		out = append(out, slices.Clone(part))
	}
	return out, err
}

// texts are the items of a list as texts, without nulls. A scalar is a list of one.
func (in input) texts(i int) ([]any, error) {
	if text, ok := scalarText(in.args[i]); ok {
		return []any{text}, nil
	}
	list, err := in.items(i)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(list))
	for j, v := range list {
		if isNull(v) {
			continue
		}
		text, ok := scalarText(v)
		if !ok {
			return nil, failed(in.from.at, "", "%s: item %s of %s is %s; want a text", in.from.function.name, strconv.Itoa(j), in.from.sources[i], describe(v))
		}
		out = append(out, text)
	}
	return out, nil
}

func toStrings(in input) (any, error) { return in.texts(0) }

func sortAlpha(in input) (any, error) {
	out, err := in.texts(0)
	slices.SortFunc(out, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	return out, err
}

func join(in input) (any, error) {
	separator, err := in.text(0)
	if err != nil {
		return nil, err
	}
	texts, err := in.texts(1)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteString(separator)
		}
		if b.WriteString(text.(string)); b.Len() > MaxText {
			return nil, in.tooMuch(b.Len())
		}
	}
	return b.String(), nil
}

func splitList(in input) (any, error) {
	w, err := in.words(0)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(w[1], w[0])
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out, nil
}
