// SPDX-License-Identifier: Apache-2.0

// Package policy decides whether a pod is injected, and why. The rules stand in one fixed order,
// the first with an opinion decides, and every check made is kept.
package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Config is what the rules are made from.
type Config struct {
	Revision          string
	OwnNamespace      string
	IgnoredNamespaces []string
	Enabled           bool // the policy for a selected pod that says nothing
	Never, Always     []metav1.LabelSelector
}

// Rules are the compiled rules.
type Rules struct {
	revision, own string
	ignored       map[string]bool
	enabled       bool
	never, always []selector
}

type selector struct {
	labels.Selector
	text string
}

// New compiles the rules. The error names the selector that is not one.
func New(c Config) (Rules, error) {
	r := Rules{revision: c.Revision, own: c.OwnNamespace, enabled: c.Enabled, ignored: map[string]bool{}}
	for _, name := range c.IgnoredNamespaces {
		r.ignored[name] = true
	}
	var err error
	if r.never, err = compile("neverInjectSelector", c.Never); err != nil {
		return Rules{}, err
	}
	r.always, err = compile("alwaysInjectSelector", c.Always)
	return r, err
}

// compile leaves out empty selectors: one that matches every pod is a mistake, not a rule.
func compile(field string, list []metav1.LabelSelector) ([]selector, error) {
	var out []selector
	for i := range list {
		s, err := metav1.LabelSelectorAsSelector(&list[i])
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		if !s.Empty() {
			out = append(out, selector{s, s.String()})
		}
	}
	return out, nil
}

// Subject is the pod to decide on, with the facts around it.
type Subject struct {
	Pod             *pod.Head
	Namespace       string
	NamespaceLabels map[string]string
	Selected        bool       // the webhook's selectors chose the pod
	Templates       []Template // the templates selected for it
}

// Template is what a template says about the pods that it accepts.
type Template struct {
	Name             string
	AllowHostNetwork bool
	OS               string // linux, windows or any
}

// Decision is the answer, with every check that led to it.
type Decision struct {
	Inject    bool
	Reason    reason.Reason
	DecidedBy string // the name of the check
	Checks    []Check
	Templates []string // those that accept the pod; only of an injection
	Warnings  []reason.Warning
}

// Check is one rule that was asked. The last one decided.
type Check struct {
	Name   string
	Detail string
}

// opinion is a rule's answer; the zero reason is none.
type opinion struct {
	inject bool
	reason reason.Reason
}

type rule struct {
	name string
	ask  func(Rules, *Subject) (opinion, string)
}

// Decide asks the rules in order.
func Decide(r Rules, s Subject) Decision {
	d := Decision{Checks: make([]Check, 0, len(rules))}
	for _, rule := range rules {
		o, detail := rule.ask(r, &s)
		d.Checks = append(d.Checks, Check{rule.name, detail})
		if o.reason == reason.None {
			continue
		}
		d.Inject, d.Reason, d.DecidedBy = o.inject, o.reason, rule.name
		break
	}
	if d.Inject {
		for _, t := range s.Templates {
			d.Templates = append(d.Templates, t.Name)
		}
		return d
	}
	d.Warnings = warn(d, s)
	return d
}

// warn tells the author of a pod that asked for injection, or mistyped a label, that it gets none.
func warn(d Decision, s Subject) []reason.Warning {
	but := "not injected: "
	switch d.Reason {
	case reason.PodLabelInvalid, reason.NamespaceLabelInvalid:
	case reason.PodDisabled, reason.NeverSelector, reason.PolicyDisabled, reason.NotSelected, reason.MirrorPod:
		return nil
	default:
		if s.Pod.Metadata.Labels[injectKey] != enabled {
			return nil
		}
		but = "not injected, though its label asks: "
	}
	return []reason.Warning{{Reason: d.Reason, Detail: but + d.Checks[len(d.Checks)-1].Detail}}
}
