// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The ways in which an operation does not apply. The text of the error names the operation too.
var (
	errMissing  = errors.New("there is nothing at the path")
	errParent   = errors.New("the parent is neither an object nor a list")
	errRoot     = errors.New("the whole document cannot be the target")
	errDiffers  = errors.New("the value is another one")
	errInside   = errors.New("a value cannot move into itself")
	errUnknown  = errors.New("unknown operation")
	errDocument = errors.New("a document is an object or a list")
)

// Apply carries a patch out as RFC 6902 says, and is at least as strict as the API server: a parent
// that is missing or null, an index past the end, a remove or replace of what is not there, or a
// path that is no pointer is an error that names the operation.
//
// Neither the document nor the operations are changed. The result shares with them whatever the
// patch did not touch.
func Apply(doc any, ops []Op) (any, error) {
	a := applier{root: doc, maps: map[uintptr]bool{}, lists: map[*any]bool{}}
	for i, op := range ops {
		if err := a.apply(op); err != nil {
			return nil, fmt.Errorf("operation %d: %s %s: %w", i, op.Op, op.Path, err)
		}
	}
	return a.root, nil
}

// applier holds a document of which the containers listed are its own, to be written to. Every other
// one is copied first.
type applier struct {
	root  any
	maps  map[uintptr]bool
	lists map[*any]bool // by the address of the first place
	path  []string      // room for the tokens of a path
}

func (a *applier) apply(op Op) error {
	switch op.Op {
	case opAdd, opRemove, opReplace:
		return a.change(op)
	case opTest:
		value, err := a.find(op.Path)
		if err == nil && !equal(value, op.Value) {
			err = errDiffers
		}
		return err
	case opMove, opCopy:
		return a.transfer(op)
	}
	return errUnknown
}

// transfer does a move or a copy.
func (a *applier) transfer(op Op) error {
	value, err := a.find(op.From)
	if err == nil && op.From == "" {
		err = errRoot
	}
	switch {
	case err != nil:
	case op.Op == opCopy:
		// The value will stand in two places, so nothing may be written to in place any more.
		clear(a.maps)
		clear(a.lists)
	case op.From == op.Path:
		return nil
	case strings.HasPrefix(op.Path, op.From+"/"):
		err = errInside
	default:
		err = a.change(Op{Op: opRemove, Path: op.From})
	}
	if err != nil {
		return fmt.Errorf("from %s: %w", op.From, err)
	}
	return a.change(Op{Op: opAdd, Path: op.Path, Value: value})
}

func (a *applier) change(op Op) error {
	path, err := a.parse(op.Path)
	if err != nil {
		return err
	}
	if len(path) == 0 {
		return a.document(op)
	}
	root, err := a.edit(a.root, path, op)
	if err == nil {
		a.root = root
	}
	return err
}

// document replaces the whole document.
func (a *applier) document(op Op) error {
	if op.Op != opReplace {
		return errRoot
	}
	if !composite(op.Value) {
		return errDocument
	}
	a.root = op.Value
	return nil
}

// edit is the node with the operation done at the path below it.
func (a *applier) edit(node any, path []string, op Op) (any, error) {
	token := path[0]
	switch n := node.(type) {
	case map[string]any:
		if len(path) == 1 {
			return a.member(n, token, op)
		}
		child, ok := n[token]
		if !ok {
			return nil, errMissing
		}
		child, err := a.edit(child, path[1:], op)
		if err != nil {
			return nil, err
		}
		n = a.ownMap(n)
		n[token] = child
		return n, nil
	case []any:
		if len(path) == 1 {
			return a.item(n, token, op)
		}
		i, err := index(token, len(n))
		if err != nil {
			return nil, err
		}
		child, err := a.edit(n[i], path[1:], op)
		if err != nil {
			return nil, err
		}
		n = a.ownList(n)
		n[i] = child
		return n, nil
	}
	return nil, errParent
}

func (a *applier) member(m map[string]any, key string, op Op) (any, error) {
	if _, ok := m[key]; !ok && op.Op != opAdd {
		return nil, errMissing
	}
	m = a.ownMap(m)
	if op.Op == opRemove {
		delete(m, key)
		return m, nil
	}
	m[key] = op.Value
	return m, nil
}

func (a *applier) item(list []any, token string, op Op) (any, error) {
	if op.Op == opAdd {
		i := len(list)
		if token != "-" {
			var err error
			if i, err = index(token, len(list)+1); err != nil {
				return nil, err
			}
		}
		list = slices.Insert(a.ownList(list), i, op.Value)
		a.lists[&list[0]] = true
		return list, nil
	}
	i, err := index(token, len(list))
	if err != nil {
		return nil, err
	}
	list = a.ownList(list)
	if op.Op == opRemove {
		return slices.Delete(list, i, i+1), nil
	}
	list[i] = op.Value
	return list, nil
}

func (a *applier) ownMap(m map[string]any) map[string]any {
	if a.maps[reflect.ValueOf(m).Pointer()] {
		return m
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	a.maps[reflect.ValueOf(m).Pointer()] = true
	return m
}

func (a *applier) ownList(list []any) []any {
	if cap(list) > 0 && a.lists[&list[:1][0]] {
		return list
	}
	own := make([]any, len(list), len(list)+1)
	copy(own, list)
	a.lists[&own[:1][0]] = true
	return own
}

// find is the value at a path.
func (a *applier) find(path string) (any, error) {
	tokens, err := a.parse(path)
	if err != nil {
		return nil, err
	}
	node := a.root
	for _, token := range tokens {
		switch n := node.(type) {
		case map[string]any:
			child, ok := n[token]
			if !ok {
				return nil, errMissing
			}
			node = child
		case []any:
			i, err := index(token, len(n))
			if err != nil {
				return nil, err
			}
			node = n[i]
		default:
			return nil, errParent
		}
	}
	return node, nil
}

func (a *applier) parse(path string) (tokens []string, err error) {
	a.path, err = split(a.path[:0], path)
	return a.path, err
}

// equal is what RFC 6902 asks of test, but that numbers are compared by their literal.
func equal(a, b any) bool {
	x, y := encoder{}, encoder{}
	x.value(a)
	y.value(b)
	return string(x.dst) == string(y.dst)
}
