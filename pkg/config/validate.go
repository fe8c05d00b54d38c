// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The bounds of the lists.
const (
	maxTemplates = 200
	maxAliases   = 200
	maxSelectors = 100
	maxItems     = 100 // of every list in a template
)

// Validate checks what must hold between the fields of a configuration that is not read by Parse.
// Parse does the same, and adds the places.
func (c Config) Validate() field.ErrorList {
	var list field.ErrorList
	for _, p := range c.problems() {
		list = append(list, p.Error)
	}
	return list
}

type problem struct {
	*field.Error
	hint    string
	unknown string
	known   []string
}

type checker struct{ problems []problem }

func (c Config) problems() []problem {
	v := &checker{}
	v.enums(c)
	v.selectors(field.NewPath("neverInjectSelector"), c.NeverInjectSelector)
	v.selectors(field.NewPath("alwaysInjectSelector"), c.AlwaysInjectSelector)
	for i, ns := range c.IgnoredNamespaces {
		v.label(field.NewPath("ignoredNamespaces").Index(i), ns)
	}
	at := field.NewPath("templates")
	if v.few(at, len(c.Templates), maxTemplates) {
		v.templates(at, c.Templates)
	}
	if c.Dialect == DialectPillion { // another dialect has templates from elsewhere too
		v.aliases(c)
		v.defaultTemplates(c)
	}
	return v.problems
}

func (v *checker) templates(at *field.Path, list []Template) {
	seen := map[string]bool{}
	for i, t := range list {
		v.template(at.Index(i), t)
		if seen[t.Name] && t.Name != "" {
			v.add(field.Duplicate(at.Index(i).Child("name"), cut(t.Name)))
		}
		seen[t.Name] = true
	}
}

// add notes a problem; the pointer is good until the next one.
func (v *checker) add(err *field.Error) *problem {
	if len(v.problems) > maxErrors {
		return new(problem) // enough is told
	}
	v.problems = append(v.problems, problem{Error: err})
	return &v.problems[len(v.problems)-1]
}

func (v *checker) addAll(list field.ErrorList) {
	for _, err := range list {
		v.add(err)
	}
}

func (v *checker) enums(c Config) {
	root := func(name string) *field.Path { return field.NewPath(name) }
	if c.APIVersion != APIVersion {
		v.add(field.NotSupported(root("apiVersion"), c.APIVersion, []string{APIVersion}))
	}
	if c.Kind != Kind {
		v.add(field.NotSupported(root("kind"), c.Kind, []string{Kind}))
	}
	v.oneOf(root("dialect"), c.Dialect, DialectPillion, DialectIstio)
	if c.Dialect == DialectPillion && len(c.DialectOptions) > 0 {
		v.add(field.Forbidden(root("dialectOptions"), "dialect pillion has none")).hint = "set dialect: istio, or remove dialectOptions"
	}
	v.oneOf(root("policy"), c.Policy, PolicyEnabled, PolicyDisabled)
	v.oneOf(root("nativeSidecars"), c.NativeSidecars, NativeAuto, NativeOn, NativeOff)
	v.oneOf(root("proof"), c.Proof, ProofSampled, ProofAlways)
}

func (v *checker) oneOf(at *field.Path, value string, choices ...string) {
	if slices.Contains(choices, value) {
		return
	}
	p := v.add(field.NotSupported(at, cut(value), choices))
	p.unknown, p.known = value, choices
}

// few tells whether a list is short enough to look at its items, some of which are compared with
// all the others.
func (v *checker) few(at *field.Path, n, most int) bool {
	if n > most {
		v.add(field.TooMany(at, n, most))
	}
	return n <= most
}

// label checks a DNS-1123 label: the name of a namespace, a container or a template.
func (v *checker) label(at *field.Path, value string) {
	if value == "" {
		v.add(field.Required(at, ""))
		return
	}
	for _, fault := range validation.IsDNS1123Label(value) {
		v.add(field.Invalid(at, cut(value), fault))
	}
}

func (v *checker) selectors(at *field.Path, selectors []metav1.LabelSelector) {
	if !v.few(at, len(selectors), maxSelectors) {
		return
	}
	for i, s := range selectors {
		if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
			v.add(field.Required(at.Index(i), "an empty selector matches every pod")).hint = "set policy to decide for every pod"
			continue
		}
		list := metavalidation.ValidateLabelSelector(&s, metavalidation.LabelSelectorValidationOptions{}, at.Index(i))
		slices.SortStableFunc(list, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
		v.addAll(list)
	}
}

func (v *checker) aliases(c Config) {
	at := field.NewPath("aliases")
	if !v.few(at, len(c.Aliases), maxAliases) {
		return
	}
	for _, name := range sortedKeys(c.Aliases) {
		v.alias(at.Key(name), name, c)
	}
	edges := graph{}
	for name, targets := range c.Aliases {
		for _, target := range targets {
			if _, ok := c.Aliases[target]; ok {
				edges.add(name, target)
			}
		}
	}
	if round := edges.cycle(); round != nil {
		v.add(field.Invalid(at.Key(round[0]), round[0], "the alias stands for itself: "+strings.Join(round, ", which stands for ")))
	}
}

func (v *checker) alias(at *field.Path, name string, c Config) {
	v.label(at, name)
	if slices.Contains(c.templateNames(), name) {
		v.add(field.Invalid(at, name, "a template has this name already"))
	}
	targets := c.Aliases[name]
	if len(targets) == 0 {
		v.add(field.Required(at, "an alias stands for one template or more"))
	}
	if !v.few(at, len(targets), maxItems) {
		return
	}
	for i, target := range targets {
		v.known(at.Index(i), target, c)
	}
}

// known checks that a name is that of a template or an alias.
func (v *checker) known(at *field.Path, name string, c Config) {
	names := append(c.templateNames(), sortedKeys(c.Aliases)...)
	if !slices.Contains(names, name) {
		p := v.add(field.NotFound(at, cut(name)))
		p.unknown, p.known = name, names
	}
}

func (v *checker) defaultTemplates(c Config) {
	at := field.NewPath("defaultTemplates")
	if !v.few(at, len(c.DefaultTemplates), maxItems) {
		return
	}
	for i, name := range c.DefaultTemplates {
		v.known(at.Index(i), name, c)
		if slices.Contains(c.DefaultTemplates[:i], name) {
			v.add(field.Duplicate(at.Index(i), cut(name)))
		}
	}
	if len(v.problems) > 0 {
		return // what follows rests on all that came before
	}
	together, _ := c.Expand(c.DefaultTemplates)
	edges := graph{}
	for _, t := range c.Templates {
		if slices.Contains(together, t.Name) {
			edges.order(t.Order)
		}
	}
	if round := edges.cycle(); round != nil {
		v.add(field.Invalid(at, strings.Join(c.DefaultTemplates, ","), "the orders of these templates contradict each other: "+strings.Join(round, " before "))).
			hint = "remove one of the constraints from order"
	}
}
