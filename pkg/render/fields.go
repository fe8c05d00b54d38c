// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// cleanFields are the parts of the data that no pod controls.
var cleanFields = map[string]bool{"Values": true, "Revision": true, "NativeSidecars": true}

// cleanParams are the types of parameters whose values, once checked, are one YAML scalar of that
// type or a word without special characters.
var cleanParams = map[string]bool{
	"bool": true, "int": true, "port": true, "quantity": true, "duration": true, "enum": true, "image": true,
}

// field follows the names through the types of the data, as far as they are known.
func (a *analysis) field(f *field, s shape) shape {
	for _, name := range f.names {
		next, ok := a.member(f, s, name)
		if !ok {
			return shape{} // one finding is enough
		}
		s = next
	}
	return s
}

func (a *analysis) member(f *field, s shape, name string) (shape, bool) {
	switch {
	case s.params:
		t, declared := a.params[name]
		if !declared {
			a.missing(f, name, "declare it under parameters", slices.Sorted(maps.Keys(a.params)))
		}
		return shape{tainted: !cleanParams[t]}, declared
	case s.typ == nil:
		return shape{tainted: s.tainted}, true
	case s.typ == reflect.TypeFor[Data]():
		return a.root(f, name)
	}
	switch s.typ.Kind() {
	case reflect.Map:
		return typed(s.tainted, s.typ.Elem()), true
	case reflect.Struct:
		if inner, ok := s.typ.FieldByName(name); ok && inner.IsExported() && !scalarStruct(s.typ) {
			return typed(s.tainted, inner.Type), true
		}
		a.missing(f, name, versionHint, exported(s.typ))
		return shape{}, false
	}
	a.missing(f, name, "", nil)
	return shape{}, false
}

func (a *analysis) root(f *field, name string) (shape, bool) {
	inner, ok := reflect.TypeFor[Data]().FieldByName(name)
	if !ok {
		a.missing(f, name, versionHint, exported(reflect.TypeFor[Data]()))
		return shape{}, false
	}
	if name == "Params" {
		return shape{tainted: true, params: true}, true
	}
	return typed(!cleanFields[name], inner.Type), true
}

// scalarStruct tells the structs that templates meet as a scalar.
func scalarStruct(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[metav1.Time]():
		return true
	}
	return false
}

func exported(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *analysis) missing(f *field, name, hint string, known []string) {
	if !a.report {
		return
	}
	if near := reason.Nearest(name, known); near != "" {
		hint = strings.TrimSuffix("did you mean "+near+"? Otherwise: "+hint, " Otherwise: ")
	}
	a.c.find(reason.TemplateFieldUnknown, f.at, hint, fmt.Sprintf("%s: there is no field %s", f.source, name))
}
