// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
)

// dictFunctions make and read dictionaries. A dictionary never changes.
var dictFunctions = []function{
	{name: "dict", least: 0, most: -1, call: dict, doc: "dict \"k\" 1 \"l\" 2: a dictionary of keys and values."},
	{name: "get", least: 2, most: 2, light: true, call: get, doc: "get d \"k\": the entry, or an empty text."},
	{name: "hasKey", least: 2, most: 2, light: true, plain: true, call: hasKey, doc: "hasKey d \"k\": true when there is such an entry."},
	{name: "keys", least: 1, most: -1, call: keys, doc: "The keys of the dictionaries, each one's in order."},
	{name: "values", least: 1, most: 1, call: values, doc: "The values, in the order of their keys."},
	{name: "pluck", least: 1, most: -1, call: pluck, doc: "pluck \"k\" d e: the entries of that key in every dictionary that has one."},
	{name: "pick", least: 1, most: -1, call: pick(true), doc: "pick d \"k\" \"l\": the dictionary with these keys alone."},
	{name: "omit", least: 1, most: -1, call: pick(false), doc: "omit d \"k\" \"l\": the dictionary without these keys."},
	{name: "dig", least: 3, most: -1, call: dig, doc: "dig \"a\" \"b\" default d: the entry b of the entry a, or the default where there is none."},
}

func dict(in input) (any, error) {
	out := make(map[string]any, len(in.args)/2)
	for i := 0; i < len(in.args); i += 2 {
		key, err := in.anyText(i)
		if err != nil {
			return nil, err
		}
		out[key] = ""
		if i+1 < len(in.args) {
			out[key] = in.args[i+1]
		}
	}
	return out, nil
}

// lookup finds an entry without making a dictionary of the argument.
func (in input) lookup(d, key int) (v any, found bool, err error) {
	name, err := in.text(key)
	if err != nil {
		return nil, false, err
	}
	switch m := in.args[d].(type) {
	case map[string]any:
		v, found = m[name]
		return v, found, nil
	case map[string]string:
		v, found = m[name]
		return v, found, nil
	}
	m, err := in.dict(d)
	v, found = m[name]
	return v, found, err
}

func get(in input) (any, error) {
	v, found, err := in.lookup(0, 1)
	if !found {
		return "", err
	}
	return v, err
}

func hasKey(in input) (any, error) {
	_, found, err := in.lookup(0, 1)
	return found, err
}

func keys(in input) (any, error) {
	out := []any{}
	for i := range in.args {
		m, err := in.dict(i)
		if err != nil {
			return nil, err
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, k)
		}
	}
	return out, nil
}

func values(in input) (any, error) {
	m, err := in.dict(0)
	out := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out, err
}

func pluck(in input) (any, error) {
	out := []any{}
	for i := 1; i < len(in.args); i++ {
		v, found, err := in.lookup(i, 0)
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, v)
		}
	}
	return out, nil
}

func pick(keep bool) func(input) (any, error) {
	return func(in input) (any, error) {
		m, err := in.dict(0)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for i := 1; i < len(in.args); i++ {
			names, err := in.texts(i)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				named[name.(string)] = true
			}
		}
		out := map[string]any{}
		for k, v := range m {
			if named[k] == keep {
				out[k] = v
			}
		}
		return out, nil
	}
}

func dig(in input) (any, error) {
	last := len(in.args) - 1
	m, err := in.dict(last)
	if err != nil {
		return nil, err
	}
	var v any = m
	for i := range last - 1 {
		key, err := in.text(i)
		if err != nil {
			return nil, err
		}
		inner, ok := v.(map[string]any)
		if !ok {
			return nil, failed(in.from.at, "", "dig: %s cannot be looked up in %s", in.from.sources[i], describe(v))
		}
		if v, ok = inner[key]; !ok {
			return in.args[last-1], nil
		}
	}
	return v, nil
}
