// SPDX-License-Identifier: Apache-2.0

// Package inject is the engine: it compiles a configuration and runs the stages on a pod, in order.
// It knows no client, clock, environment or log; the webhook and every command call it, and differ
// only in where the pod and the facts come from.
package inject

import (
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Options are the facts of the installation.
type Options struct {
	Revision     string // default: "default"
	OwnNamespace string // never injected; empty for none
	Offline      bool   // pods come from manifests, not from an API server

	// Reuse is the memory, in bytes, that finished injections may take which are kept for pods of the
	// same shape. 0 keeps none; otherwise the newest is kept whatever its size.
	Reuse int64

	// Mark is told, where it is not nil, what has been done since it was told last: decide, key, decode,
	// execute, parse, merge, finish or diff. A benchmark reads its clock there.
	Mark func(stage string)
}

// Facts are what the pod itself does not tell.
type Facts struct {
	Namespace            string // of the request; it wins over the object's
	NamespaceLabels      map[string]string
	NamespaceAnnotations map[string]string

	// Selected tells that the webhook's selectors chose the pod, as they have for every pod that the
	// API server sends.
	Selected bool

	// OldNodes are the nodes that do not run native sidecars.
	OldNodes []Node

	// NodeKnown tells that the node which the pod is bound to is one of the cluster's.
	NodeKnown bool

	// Path is what follows the webhook's own path in the URL of the request, as it was sent.
	Path string

	// More is what a dialect learns from sources of its own.
	More any

	// Owner is the workload that makes the pod, where the caller knows it; otherwise it is read from
	// the pod's owner references.
	Owner *Owner

	// Trusted tells that the pod's status record comes from whoever runs the engine, as in a file of
	// their own. Otherwise it is believed only where the templates would do the same again: a forged
	// record must not strip what another webhook put on.
	Trusted bool

	// Trace keeps the patch of each stage.
	Trace bool
}

// Node is a node that a pod may be bound to.
type Node struct {
	Name   string
	Labels map[string]string
}

// Owner is the workload behind a pod.
type Owner struct{ APIVersion, Kind, Name string }

// Result is what became of a pod.
type Result struct {
	Decision  policy.Decision
	Owner     Owner
	Namespace string
	Templates []Applied
	Tree      map[string]any // the pod afterwards; nil when skipped
	Patch     []patch.Op     // from the pod that came in to Tree; empty when skipped
	Warnings  []reason.Warning
	Stages    []Stage // of a trace

	Hash              string // of all that the templates bring
	HashWithoutImages string // likewise; of the native dialect only, which records it

	// Wire is the JSON of the patch where it is at hand. Of a reused outcome it is all there is: neither
	// Tree nor Patch is made again.
	Wire   []byte
	Reused bool
}

// JSON is the patch as it goes to the API server; nil for none. It must not be changed.
func (r Result) JSON() []byte {
	if r.Wire == nil && len(r.Patch) > 0 {
		return patch.Marshal(r.Patch)
	}
	return r.Wire
}

// Applied is a template that was applied, with its parameters.
type Applied struct {
	Name   string
	Native bool // its sidecars are native ones
	Params []Param
}

// Param is a parameter's value and where it comes from: pod, namespace or default.
type Param struct{ Name, Value, Source string }

// Stage is a stage of a trace, with the patch from the stage before.
type Stage struct {
	Name  string
	Patch []patch.Op
}

// Inject decides on a pod and, where it is to be injected, makes the patch. The error is a
// *reason.Refusal where the pod's author must mend something; any other error means that the engine
// itself is at fault.
func (e *Engine) Inject(in pod.Doc, f Facts) (Result, error) {
	if e.dialect != nil {
		return e.speak(in, f)
	}
	r, err := e.decide(in, f)
	if err != nil || !r.Decision.Inject {
		return r.Result, err
	}
	from := e.keyOf(in, f, &r.Result, r.inputs())
	e.mark("key")
	if e.outcomes.take(from, &r.Result) {
		return r.Result, nil
	}
	err = r.make()
	if err == nil && r.strange() {
		own := r.own
		if r, err = e.decide(in, f); err != nil {
			return r.Result, err
		}
		r.believed = own
		err = r.make()
		r.warn(reason.StatusRecordInvalid, statusPath, "entries that the templates do not bring were ignored")
	}
	if err == nil {
		e.outcomes.keep(from, &r.Result, r.stack)
	}
	return r.Result, err
}

// decide asks the rules and chooses the templates.
func (e *Engine) decide(in pod.Doc, f Facts) (*run, error) {
	r := e.begin(in, f)
	r.Decision = policy.Decide(e.rules, r.subject)
	r.Warnings = append(r.Warnings, r.Decision.Warnings...)
	var err error
	if r.Decision.Inject {
		err = r.choose()
	}
	e.mark("decide")
	return r, err
}

// make runs the stages after the decision.
func (r *run) make() error {
	for _, stage := range []struct {
		name string
		do   func() error
	}{{"decode", r.peel}, {"execute", r.render}, {"merge", r.lay}, {"finish", r.finish}} {
		if err := stage.do(); err != nil || !r.Decision.Inject {
			return err
		}
		r.engine.mark(stage.name)
	}
	if !r.present() {
		r.Tree, r.Patch = r.after, patch.Between(r.raw, r.after)
	}
	r.engine.mark("diff")
	if len(r.Patch) == 0 {
		r.Tree = nil
		r.skip(reason.AlreadyInjected, "everything that the templates bring is there")
	}
	return nil
}

func (e *Engine) mark(stage string) {
	if e.options.Mark != nil {
		e.options.Mark(stage)
	}
}

// skip turns the decision round after the rules have spoken.
func (r *run) skip(why reason.Reason, detail string) {
	r.Decision.Inject, r.Decision.Reason, r.Decision.DecidedBy = false, why, "result"
	r.Decision.Checks = append(r.Decision.Checks, policy.Check{Name: "result", Detail: detail})
}

// trace notes a stage.
func (r *run) trace(name string, before, after map[string]any) {
	if r.facts.Trace {
		r.Stages = append(r.Stages, Stage{name, patch.Between(before, after)})
	}
}
