// SPDX-License-Identifier: Apache-2.0

package patch

import "fmt"

// Of is the patch that a tree holds: a list of objects with op, path, and from or value. The error names
// the operation that is none.
func Of(tree any) ([]Op, error) {
	items, ok := tree.([]any)
	if !ok {
		return nil, fmt.Errorf("a patch is a list, not a %T", tree)
	}
	ops := make([]Op, len(items))
	for i, item := range items {
		m, _ := item.(map[string]any)
		op, isOp := m["op"].(string)
		path, isPath := m["path"].(string)
		if !isOp || !isPath {
			return nil, fmt.Errorf("operation %d has no op or no path", i)
		}
		from, _ := m["from"].(string)
		ops[i] = Op{Op: op, Path: path, From: from, Value: m["value"]}
	}
	return ops, nil
}
