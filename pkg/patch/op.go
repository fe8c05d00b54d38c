// SPDX-License-Identifier: Apache-2.0

// Package patch is RFC 6902 between two trees: Between makes the shortest honest patch, comparing
// named lists by name, and Apply carries one out. A tree is a JSON document in Go values:
// map[string]any, []any, string, bool, nil, int64 and json.Number.
package patch

// Op is one operation of a JSON Patch. Between makes add, remove and replace only.
type Op struct {
	Op    string // add, remove or replace; Apply knows test, move and copy too
	Path  string // RFC 6901 pointer
	From  string // RFC 6901 pointer: the source of move and copy, unused by the others
	Value any    // a tree value; unused by remove, move and copy
}

// The operations.
const (
	opAdd     = "add"
	opRemove  = "remove"
	opReplace = "replace"
	opTest    = "test"
	opMove    = "move"
	opCopy    = "copy"
)
