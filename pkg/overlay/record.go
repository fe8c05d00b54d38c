// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// maxChanges bounds a record, which a stranger may have written.
const maxChanges = 5000

// The members of a record and of an entry of its last list.
const (
	keyAdded   = "added"
	keyCreated = "created"
	keyRestore = "restore"
	keyPath    = "path"
	keyOld     = "old"
	keyIndex   = "index"
)

// Encode is the tree by which changes are kept in a record:
//
//	{"added": [path], "created": [path], "restore": [{"path": path, "old": value, "index": place}]}
//
// Empty lists are left out, and only a removed item has an index. The old values are shared.
func Encode(changes []Change) any {
	var added, created, restore []any
	for _, c := range changes {
		switch c.Kind {
		case Added:
			added = append(added, c.Path)
		case Created:
			created = append(created, c.Path)
		case Replaced:
			restore = append(restore, map[string]any{keyPath: c.Path, keyOld: c.Old})
		case Removed:
			restore = append(restore, map[string]any{keyPath: c.Path, keyOld: c.Old, keyIndex: int64(c.Index)})
		}
	}
	record := map[string]any{}
	for key, list := range map[string][]any{keyAdded: added, keyCreated: created, keyRestore: restore} {
		if len(list) > 0 {
			record[key] = list
		}
	}
	return record
}

// Decode reads Encode's tree; null is a record of nothing. It refuses whatever Encode does not write,
// the path of the whole document, and more than 5,000 changes. The changes come kind by kind; their
// old values are shared with the record.
func Decode(record any) ([]Change, error) {
	if record == nil {
		return nil, nil
	}
	members, ok := record.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("decode changes: want an object, got %s", pod.Describe(record))
	}
	var changes []Change
	for _, key := range slices.Sorted(maps.Keys(members)) { // added, created, restore
		if key != keyAdded && key != keyCreated && key != keyRestore {
			return nil, fmt.Errorf("decode changes: %q is no list of a record", key)
		}
		list, ok := members[key].([]any)
		if !ok {
			return nil, fmt.Errorf("decode changes: %s: want a list, got %s", key, pod.Describe(members[key]))
		}
		if len(changes)+len(list) > maxChanges {
			return nil, fmt.Errorf("decode changes: there are more than %d", maxChanges)
		}
		for i, item := range list {
			c, err := decodeChange(key, item)
			if err != nil {
				return nil, fmt.Errorf("decode changes: %s[%d]: %w", key, i, err)
			}
			changes = append(changes, c)
		}
	}
	return changes, nil
}

func decodeChange(key string, item any) (Change, error) {
	c, path := Change{}, item
	switch key {
	case keyCreated:
		c.Kind = Created
	case keyRestore:
		entry, ok := item.(map[string]any)
		if !ok {
			return Change{}, fmt.Errorf("want an object, got %s", pod.Describe(item))
		}
		var err error
		if c, err = decodeOld(entry); err != nil {
			return Change{}, err
		}
		path = entry[keyPath]
	}
	text, ok := path.(string)
	if !ok || text == "" || !jsontext.Pointer(text).IsValid() {
		return Change{}, fmt.Errorf("want a JSON pointer, got %s", pod.Describe(path))
	}
	c.Path = text
	return c, nil
}

// decodeOld reads an entry of the restore list, all but its path.
func decodeOld(entry map[string]any) (Change, error) {
	c, known := Change{Kind: Replaced, Old: entry[keyOld]}, 2
	if c.Old == nil {
		return c, fmt.Errorf("%s is missing", keyOld)
	}
	if value, ok := entry[keyIndex]; ok {
		index, ok := value.(int64)
		if !ok || index < 0 || index > math.MaxInt32 {
			return c, fmt.Errorf("%s: want a place in a list, got %s", keyIndex, pod.Describe(value))
		}
		c.Kind, c.Index, known = Removed, int(index), 3
	}
	if _, ok := entry[keyPath]; !ok || len(entry) != known {
		return c, fmt.Errorf("want %s, %s and at most %s, got %q", keyPath, keyOld, keyIndex, slices.Sorted(maps.Keys(entry)))
	}
	return c, nil
}
