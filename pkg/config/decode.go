// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// decoder fills Go values from YAML nodes, by the names in the json tags. Every key must be known
// and have the field's type, and it keeps the place of each. Texts are never guessed from other
// scalars, but for fields with the tag scalar:"any".
type decoder struct {
	src    *source
	faults Errors
	places map[string]Position
}

func (d *decoder) fail(n *yaml.Node, at *field.Path, detail string) *Error {
	if len(d.faults) > maxErrors {
		return new(Error) // enough is told
	}
	name := ""
	if at != nil {
		name = at.String()
	}
	d.faults = append(d.faults, d.src.fault(n.Line, name, detail))
	return &d.faults[len(d.faults)-1]
}

func (d *decoder) mismatch(n *yaml.Node, at *field.Path, want string) {
	fault := d.fail(n, at, fmt.Sprintf("want %s, got %s", want, describe(n)))
	if strings.HasPrefix(want, "a string") && n.Kind == yaml.ScalarNode && !isNull(n) {
		fault.Hint = "quote it: " + strconv.Quote(cut(n.Value))
	}
}

func (d *decoder) value(n *yaml.Node, into reflect.Value, at *field.Path) {
	switch into.Kind() {
	case reflect.Struct:
		d.object(n, into, at)
	case reflect.Slice:
		d.list(n, into, at)
	case reflect.Map:
		d.mapping(n, into, at)
	case reflect.Interface:
		if v, ok := d.free(n, at); ok && v != nil {
			into.Set(reflect.ValueOf(v))
		}
	case reflect.Bool:
		var b bool
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
			d.mismatch(n, at, "true or false")
			return
		}
		into.SetBool(b)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.ShortTag() != "!!timestamp" {
			d.mismatch(n, at, "a string")
			return
		}
		into.SetString(n.Value)
	default:
		panic(fmt.Sprintf("config: no decoding into %s", into.Type()))
	}
}

func (d *decoder) object(n *yaml.Node, into reflect.Value, at *field.Path) {
	if def, ok := into.Addr().Interface().(defaulter); ok {
		def.setDefaults()
	}
	fields := fieldsOf(into.Type())
	d.each(n, at, func(key, value *yaml.Node) {
		path := at.Child(key.Value)
		f, ok := fields[key.Value]
		if !ok {
			fault := d.fail(key, at.Child(cut(key.Value)), "unknown field")
			fault.Unknown, fault.Known = key.Value, slices.Sorted(maps.Keys(fields))
			return
		}
		d.places[path.String()] = d.src.origin.At(key.Line)
		switch {
		case isNull(value): // as if it were absent
		case f.Tag.Get("scalar") == "any":
			d.scalar(value, into.FieldByIndex(f.Index), path)
		default:
			d.value(value, into.FieldByIndex(f.Index), path)
		}
	})
}

// each calls do with the keys of a map, which must be strings and there once, and their values.
func (d *decoder) each(n *yaml.Node, at *field.Path, do func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.mismatch(n, at, "a map")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.ShortTag() == "!!merge" {
			d.fail(key, at, "a merge key: they are not read here").Hint = "write the keys out"
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			d.mismatch(key, at, "a string as key")
			continue
		}
		if first, ok := seen[key.Value]; ok {
			line := d.src.origin.At(first).Line
			d.fail(key, at, fmt.Sprintf("the key %s is there twice, first on line %d", cut(key.Value), line))
			continue
		}
		seen[key.Value] = key.Line
		do(key, n.Content[i+1])
	}
}

func (d *decoder) list(n *yaml.Node, into reflect.Value, at *field.Path) {
	if n.Kind != yaml.SequenceNode {
		d.mismatch(n, at, "a list")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		path := at.Index(i)
		d.places[path.String()] = d.src.origin.At(item.Line)
		d.value(item, into.Index(i), path)
	}
}

func (d *decoder) mapping(n *yaml.Node, into reflect.Value, at *field.Path) {
	into.Set(reflect.MakeMap(into.Type()))
	d.each(n, at, func(key, value *yaml.Node) {
		path := at.Key(key.Value)
		d.places[path.String()] = d.src.origin.At(key.Line)
		item := reflect.New(into.Type().Elem()).Elem()
		d.value(value, item, path)
		into.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

// scalar takes the text of any scalar, into a string, a pointer to one or a list of them.
func (d *decoder) scalar(n *yaml.Node, into reflect.Value, at *field.Path) {
	if into.Kind() == reflect.Slice {
		if n.Kind != yaml.SequenceNode {
			d.mismatch(n, at, "a list")
			return
		}
		into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			d.places[at.Index(i).String()] = d.src.origin.At(item.Line)
			d.scalar(item, into.Index(i), at.Index(i))
		}
		return
	}
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.mismatch(n, at, "a single value")
		return
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.ValueOf(&n.Value))
		return
	}
	into.SetString(n.Value)
}

// fieldsOf is the fields of a struct by the names in their json tags.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			fields[name] = f
		}
	}
	return fields
}
