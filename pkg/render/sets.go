// SPDX-License-Identifier: Apache-2.0

package render

// key is what two equal values have in common.
func (in input) key(v any) (any, error) {
	switch s := scalar(v).(type) {
	case nil, bool, string, int64, float64:
		return s, in.run.charge(1)
	}
	raw, err := in.json(v)
	return string(raw), err
}

func uniq(in input) (any, error) {
	list, err := in.items(0)
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	out := []any{}
	for _, v := range list {
		key, err := in.key(v)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			out = append(out, v)
		}
		seen[key] = true
	}
	return out, nil
}

func without(in input) (any, error) {
	list, err := in.items(0)
	if err != nil {
		return nil, err
	}
	drop := map[any]bool{}
	for _, v := range in.args[1:] {
		key, err := in.key(v)
		if err != nil {
			return nil, err
		}
		drop[key] = true
	}
	out := []any{}
	for _, v := range list {
		key, err := in.key(v)
		if err != nil {
			return nil, err
		}
		if !drop[key] {
			out = append(out, v)
		}
	}
	return out, nil
}

func has(in input) (any, error) {
	list, err := in.items(1)
	if err != nil {
		return nil, err
	}
	want, err := in.key(in.args[0])
	for i := 0; i < len(list) && err == nil; i++ {
		var key any
		if key, err = in.key(list[i]); err == nil && key == want {
			return true, nil
		}
	}
	return false, err
}
