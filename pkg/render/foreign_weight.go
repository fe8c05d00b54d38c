// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// weight tells how much of its arguments a function looks at, and so what they cost. A template can
// make a list that holds another one many times, or a dictionary that holds itself: what walks
// through a value must know before that it comes to an end.
type weight uint8

const (
	weightNone    weight = iota // nothing: the call costs the same whatever the arguments
	weightOuter                 // texts, and the items of a list but not what is in them
	weightMade                  // all the lists and dictionaries that a template may have made
	weightTree                  // everything, as JSON has it
	weightPrinted               // everything, as fmt prints it
)

// opaque is the price of a type's own method that makes a text of a value.
const opaque = 50

// weigh charges for all that is in a value.
func (r *run) weigh(v reflect.Value, how weight) error {
	switch v.Kind() {
	case reflect.Invalid, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return nil
	case reflect.String:
		return nil // the size of an argument is charged for in any case
	}
	return scales{r, how}.weigh(v, 0)
}

type scales struct {
	run *run
	how weight
}

func (s scales) weigh(v reflect.Value, depth int) error {
	if depth > MaxDepth {
		return tooMuch("lists and dictionaries are nested more than %d deep", MaxDepth)
	}
	if err := s.run.charge(1); err != nil {
		return err
	}
	v = inside(v)
	if !v.IsValid() {
		return nil
	}
	if s.how >= weightTree && s.speaks(v) {
		if k := v.Kind(); k == reflect.Pointer || k == reflect.Struct {
			return s.run.charge(opaque)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		return s.run.charge(v.Len() / bytesPerTick)
	case reflect.Slice, reflect.Array:
		return s.list(v, depth)
	case reflect.Map:
		return s.entries(v, depth)
	case reflect.Struct:
		return s.fields(v, depth)
	case reflect.Pointer:
		return s.pointer(v, depth)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return s.address(v)
	}
	return nil
}

// speaks tells whether the value's type makes its own text.
func (s scales) speaks(v reflect.Value) bool {
	if !v.CanInterface() {
		return false
	}
	t := v.Type()
	if s.how == weightPrinted {
		return spoken(t) || t.Implements(reflect.TypeFor[fmt.Formatter]())
	}
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func (s scales) list(v reflect.Value, depth int) error {
	if !compound(v.Type().Elem()) {
		return s.run.charge(v.Len() / 8)
	}
	for i := range v.Len() {
		if err := s.weigh(v.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s scales) entries(v reflect.Value, depth int) error {
	if m, ok := textsOf(v); ok {
		bytes := 0
		for key, text := range m {
			bytes += len(key) + len(text) + bytesPerTick
		}
		return s.run.charge(bytes / bytesPerTick)
	}
	if m, ok := dictionary(v); ok {
		for key, x := range m {
			if err := s.run.charge(1 + len(key)/bytesPerTick); err != nil {
				return err
			}
			if err := s.weigh(reflect.ValueOf(x), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for entry := v.MapRange(); entry.Next(); {
		if err := s.weigh(entry.Key(), depth+1); err != nil {
			return err
		}
		if err := s.weigh(entry.Value(), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// compound tells whether a value of a type takes more than a few bytes.
func compound(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

// fields weighs what fmt prints of a struct, or what JSON has of it. No template makes one.
func (s scales) fields(v reflect.Value, depth int) error {
	if s.how == weightMade {
		return nil
	}
	t := v.Type()
	for i := range t.NumField() {
		if s.how == weightTree && !t.Field(i).IsExported() && !t.Field(i).Anonymous {
			continue
		}
		if err := s.weigh(v.Field(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// pointer weighs what a pointer points to. fmt follows a pointer to a struct, a list or a map where
// it stands alone, and prints the address of any other.
func (s scales) pointer(v reflect.Value, depth int) error {
	if v.IsNil() || s.how == weightMade {
		return nil
	}
	if s.how == weightPrinted {
		switch v.Elem().Kind() {
		case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
			if depth == 0 {
				break
			}
			return s.address(v)
		default:
			return s.address(v)
		}
	}
	return s.weigh(v.Elem(), depth+1)
}

// address refuses what prints as an address of memory, which is another one each time.
func (s scales) address(v reflect.Value) error {
	if s.how != weightPrinted || v.IsNil() {
		return nil
	}
	return failed(-1, "place a field of it, or pipe it through toJson", "it holds a pointer of type %s, which prints as an address", v.Type())
}
