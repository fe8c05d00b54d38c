// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strconv"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// The values of the configuration's policy; with any other nothing is injected.
const (
	policyEnabled  = "enabled"
	policyDisabled = "disabled"
)

// rules are the compiled rules of a configuration.
type rules struct {
	policy        string
	never, always selectors
	hooks         []hook // of the revision's webhook; nil where nobody runs one
}

// subject is the pod to decide on.
type subject struct {
	head      *pod.Head
	namespace string
	own       string // the injector's namespace; empty for none

	labels   map[string]string // of the namespace
	selected bool              // by the webhook's selectors, or its namespace is not known
}

// newRules compiles the rules, with a note on each part of the configuration that has no effect.
func newRules(c Config) (rules, []note) {
	never, notes := compileSelectors("neverInjectSelector", c.NeverInjectSelector)
	always, more := compileSelectors("alwaysInjectSelector", c.AlwaysInjectSelector)
	notes = append(notes, more...)
	if !knownPolicy(c.Policy) {
		notes = append(notes, note{"policy", "it is " + strconv.Quote(shown(c.Policy)) + ", want enabled or disabled: nothing is injected"})
	}
	return rules{policy: c.Policy, never: never, always: always}, notes
}

func knownPolicy(text string) bool { return text == policyEnabled || text == policyDisabled }

// decide asks the rules about the pod, and names its templates where it is to be injected.
func (d *dialect) decide(w *inject.Work) policy.Decision {
	head := w.In.Head()
	decision := d.rules.decide(subject{
		head: head, namespace: w.Namespace, own: d.own, labels: w.Facts.NamespaceLabels, selected: w.Facts.Selected,
	})
	if decision.Inject {
		decision.Templates = d.selected(head)
	}
	return decision
}

// answer is what a rule says; without a reason it has no opinion.
type answer struct {
	inject  bool
	reason  reason.Reason
	detail  string
	warning *reason.Warning
}

// order is the rules' precedence: the first with an opinion decides. What makes injection impossible
// comes first, then what the pod says, then the selectors, and the policy speaks last. The webhook's own
// selectors are asked only where they have not chosen the pod already, see rules.decide.
var order = []struct {
	name string
	ask  func(rules, subject) answer
}{
	{"webhook", rules.webhook},
	{"mirror pod", rules.mirror},
	{"hostNetwork", rules.hostNetwork},
	{"namespace", rules.namespace},
	{"policy's value", rules.unknownPolicy},
	{"pod", rules.pod},
	{"neverInjectSelector", rules.neverMatches},
	{"alwaysInjectSelector", rules.alwaysMatches},
	{"policy", rules.fallback},
}

func (r rules) decide(s subject) policy.Decision {
	d := policy.Decision{Checks: make([]policy.Check, 0, len(order))}
	asked := order
	if s.selected || r.hooks == nil {
		asked = order[1:]
	}
	for _, rule := range asked {
		a := rule.ask(r, s)
		d.Checks = append(d.Checks, policy.Check{Name: rule.name, Detail: a.detail})
		if a.warning != nil {
			d.Warnings = append(d.Warnings, *a.warning)
		}
		if a.reason == reason.None {
			continue
		}
		d.Inject, d.Reason, d.DecidedBy = a.inject, a.reason, rule.name
		break
	}
	return warned(d, s)
}
