// SPDX-License-Identifier: Apache-2.0

// Package param is what a pod may set of a template: typed parameters, their bounds, and the value
// that each has for one pod. It knows what a parameter's text means; the configuration knows only
// that there is one.
package param

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Where a value comes from.
const (
	FromPod       = "pod"
	FromNamespace = "namespace"
	FromDefault   = "default"
)

// Value is a parameter's value for one pod.
type Value struct {
	Name       string
	Value      any    // string, bool, int64, []any of int64 or of string; nil when nothing sets it
	Text       string // as its author wrote it
	Source     string // pod, namespace or default
	Annotation string // that sets it; may be empty
}

// Set is the compiled parameters of one template. It does not change, and many may use it at once.
type Set struct {
	template string
	params   []param
}

type param struct {
	config.Parameter
	pattern  *regexp.Regexp
	min, max *limit
	fallback *reading // the default
	atMost   int      // the parameter that bounds this one; -1 without
}

// reading is a text that was read: its value, and the amounts in it that the bounds hold for.
type reading struct {
	text    string
	value   any
	amounts []resource.Quantity
}

// limit is a bound and how its author wrote it.
type limit struct {
	amount resource.Quantity
	text   string
}

// Resolve gives every parameter its value: the pod's annotation wins over its namespace's, and that
// over the default. A value that its parameter does not allow is refused, whoever set it.
func (s Set) Resolve(pod, namespace map[string]string) ([]Value, *reason.Refusal) {
	if len(s.params) == 0 {
		return nil, nil
	}
	values, readings := make([]Value, len(s.params)), make([]*reading, len(s.params))
	for i := range s.params {
		p := &s.params[i]
		text, source := p.find(pod, namespace)
		r := p.fallback
		if source != FromDefault {
			var err error
			if r, err = p.accept(text); err != nil {
				return nil, &reason.Refusal{
					Reason: reason.ParameterInvalid,
					Path:   path(source, p.Annotation),
					Detail: fmt.Sprintf("parameter %s of template %s: %v", p.Name, s.template, err),
					Hint:   p.hint() + ", or remove the annotation",
				}
			}
		}
		values[i] = Value{Name: p.Name, Source: source, Annotation: p.Annotation}
		if readings[i] = r; r != nil {
			values[i].Value, values[i].Text = clone(r.value), r.text
		}
	}
	for i, p := range s.params {
		if p.atMost >= 0 && above(readings[i], readings[p.atMost]) {
			return nil, tooMuch(values[i], values[p.atMost])
		}
	}
	return values, nil
}

// find is the text that sets the parameter. Without an annotation only the default holds.
func (p *param) find(pod, namespace map[string]string) (text, source string) {
	if p.Annotation == "" {
		return "", FromDefault
	}
	if text, ok := pod[p.Annotation]; ok {
		return text, FromPod
	}
	if text, ok := namespace[p.Annotation]; ok {
		return text, FromNamespace
	}
	return "", FromDefault
}

// clone keeps the list of a default from those who get it.
func clone(value any) any {
	if list, ok := value.([]any); ok {
		return append([]any{}, list...)
	}
	return value
}

// above compares copies: a comparison may write to the quantity that it is a method of.
func above(r, bound *reading) bool {
	if r == nil || bound == nil {
		return false
	}
	amount := r.amounts[0]
	return amount.Cmp(bound.amounts[0]) > 0
}

// tooMuch refuses a value above that of the parameter that bounds it, in one message that names both.
func tooMuch(v, bound Value) *reason.Refusal {
	set := v
	if v.Source == FromDefault {
		set = bound
	}
	return &reason.Refusal{
		Reason: reason.ParameterInvalid,
		Path:   path(set.Source, set.Annotation),
		Detail: fmt.Sprintf("%s is %q, more than %s, which is %q", v.who(), v.Text, bound.who(), bound.Text),
		Hint:   fmt.Sprintf("lower %s or raise %s", v.key(), bound.key()),
	}
}

// key is what a person changes to change the value.
func (v Value) key() string {
	if v.Annotation == "" {
		return "parameter " + v.Name
	}
	return v.Annotation
}

func (v Value) who() string {
	switch {
	case v.Source == FromPod:
		return v.key()
	case v.Source == FromNamespace:
		return v.key() + " of the namespace"
	}
	return v.key() + " by default"
}

func path(source, key string) string {
	at := "metadata.annotations[" + key + "]"
	if source == FromNamespace {
		return "namespace " + at
	}
	return at
}
