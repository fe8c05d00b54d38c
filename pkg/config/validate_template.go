// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxPattern bounds a parameter's pattern, in bytes: a match takes time with its size.
const maxPattern = 1 << 10

var parameterName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

func (v *checker) template(at *field.Path, t Template) {
	v.label(at.Child("name"), t.Name)
	if t.Text == "" {
		v.add(field.Required(at.Child("text"), "a template has a text"))
	}
	v.oneOf(at.Child("os"), t.OS, OSLinux, OSWindows, OSAny)
	v.oneOf(at.Child("jobs"), t.Jobs, JobsNative, JobsSkip, JobsInject)
	v.sidecars(at.Child("sidecars"), t.Sidecars)
	v.overridable(at.Child("overridable"), t.Overridable)
	v.order(at.Child("order"), t.Order)
	v.parameters(at.Child("parameters"), t.Parameters)
}

func (v *checker) sidecars(at *field.Path, list []string) {
	if !v.few(at, len(list), maxItems) {
		return
	}
	for i, name := range list {
		v.label(at.Index(i), name)
		if slices.Contains(list[:i], name) {
			v.add(field.Duplicate(at.Index(i), cut(name)))
		}
	}
}

func (v *checker) overridable(at *field.Path, fields []string) {
	if !v.few(at, len(fields), maxItems) {
		return
	}
	for i, name := range fields {
		if !slices.Contains(containerFields, name) {
			p := v.add(field.Invalid(at.Index(i), cut(name), "no field of a container that can be opened"))
			p.hint = "write * for all of them, or names such as env, resources.limits, securityContext.runAsUser"
			p.unknown, p.known = name, containerFields
		}
	}
}

func (v *checker) order(at *field.Path, list []Order) {
	if !v.few(at, len(list), maxItems) {
		return
	}
	before := len(v.problems)
	for i, o := range list {
		path := at.Index(i)
		v.label(path.Child("container"), o.Container)
		if slices.ContainsFunc(list[:i], func(other Order) bool { return other.Container == o.Container }) {
			v.add(field.Duplicate(path.Child("container"), cut(o.Container)))
		}
		if len(o.Before) == 0 && len(o.After) == 0 {
			v.add(field.Required(path, "before or after names another container"))
		}
		v.neighbours(path.Child("before"), o.Before)
		v.neighbours(path.Child("after"), o.After)
	}
	if len(v.problems) > before {
		return
	}
	edges := graph{}
	edges.order(list)
	if round := edges.cycle(); round != nil {
		v.add(field.Invalid(at, round[0], "the order contradicts itself: "+strings.Join(round, " before "))).
			hint = "remove one of the constraints"
	}
}

// neighbours are names of containers, or * for all of the pod's author.
func (v *checker) neighbours(at *field.Path, list []string) {
	if !v.few(at, len(list), maxItems) {
		return
	}
	for i, name := range list {
		if name != "*" {
			v.label(at.Index(i), name)
		}
	}
}

func (v *checker) parameters(at *field.Path, list []Parameter) {
	if !v.few(at, len(list), maxItems) {
		return
	}
	names, annotations := map[string]bool{}, map[string]bool{}
	for i, p := range list {
		path := at.Index(i)
		v.parameter(path, p)
		v.atMost(path.Child("atMost"), p, list)
		if names[p.Name] {
			v.add(field.Duplicate(path.Child("name"), cut(p.Name)))
		}
		if p.Annotation != "" && annotations[p.Annotation] {
			v.add(field.Duplicate(path.Child("annotation"), cut(p.Annotation)))
		}
		names[p.Name], annotations[p.Annotation] = true, true
	}
}

func (v *checker) parameter(at *field.Path, p Parameter) {
	switch {
	case p.Name == "":
		v.add(field.Required(at.Child("name"), ""))
	case len(p.Name) > 63 || !parameterName.MatchString(p.Name):
		v.add(field.Invalid(at.Child("name"), cut(p.Name), "want a letter, then letters, digits, - and _, at most 63 in all"))
	}
	if p.Annotation != "" {
		for _, fault := range validation.IsQualifiedName(strings.ToLower(p.Annotation)) {
			v.add(field.Invalid(at.Child("annotation"), cut(p.Annotation), fault))
		}
	}
	if p.Type == "" {
		v.add(field.Required(at.Child("type"), "one of "+strings.Join(parameterTypes, ", ")))
		return
	}
	v.oneOf(at.Child("type"), p.Type, parameterTypes...)
	v.pattern(at.Child("pattern"), p)
	bounded := []string{TypeString, TypeInt, TypeQuantity, TypeDuration, TypePort, TypePorts}
	v.only(at.Child("min"), p.Min != "", p.Type, bounded...)
	v.only(at.Child("max"), p.Max != "", p.Type, bounded...)
	v.values(at.Child("values"), p)
}

func (v *checker) values(at *field.Path, p Parameter) {
	v.only(at, p.Values != nil, p.Type, TypeEnum)
	if p.Type == TypeEnum && len(p.Values) == 0 {
		v.add(field.Required(at, "an enum has values"))
	}
	if !v.few(at, len(p.Values), maxItems) {
		return
	}
	for i, value := range p.Values {
		if slices.Contains(p.Values[:i], value) {
			v.add(field.Duplicate(at.Index(i), cut(value)))
		}
	}
}

// only refuses a field that means nothing for the parameter's type.
func (v *checker) only(at *field.Path, set bool, got string, types ...string) {
	if set && slices.Contains(parameterTypes, got) && !slices.Contains(types, got) {
		v.add(field.Forbidden(at, "means nothing for type "+got+", only for "+strings.Join(types, ", ")))
	}
}

func (v *checker) pattern(at *field.Path, p Parameter) {
	if p.Pattern == "" {
		return
	}
	v.only(at, true, p.Type, TypeString, TypeImage)
	if len(p.Pattern) > maxPattern {
		v.add(field.TooLong(at, "", maxPattern))
		return
	}
	if _, err := regexp.Compile(p.Pattern); err != nil {
		v.add(field.Invalid(at, cut(p.Pattern), strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
}

func (v *checker) atMost(at *field.Path, p Parameter, list []Parameter) {
	if p.AtMost == "" {
		return
	}
	v.only(at, true, p.Type, TypeQuantity, TypeInt, TypeDuration)
	i := slices.IndexFunc(list, func(other Parameter) bool { return other.Name == p.AtMost })
	switch {
	case i < 0:
		found := v.add(field.NotFound(at, cut(p.AtMost)))
		found.unknown = p.AtMost
		for _, other := range list {
			found.known = append(found.known, other.Name)
		}
	case p.AtMost == p.Name:
		v.add(field.Invalid(at, p.AtMost, "the parameter itself"))
	case list[i].Type != p.Type:
		v.add(field.Invalid(at, p.AtMost, "its type is "+cut(list[i].Type)+", and this one's is "+cut(p.Type)))
	}
}
