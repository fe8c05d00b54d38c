// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Dialect is a vocabulary beside the native one: other keys, rules, template data and steps, with
// the same way through the engine. Its parts see the pod as a tree, and replace what they change.
type Dialect struct {
	Config config.Config // what the doors read: the dialect's name, the proof, the names of the templates

	Owner  func(*pod.Head) Owner
	Decide func(*Work) policy.Decision
	Parts  []Part // from the choice of the templates to the last finishing step, in order

	// Present tells whether the pod that came in holds all of After already, so that nothing is left
	// to do. It is asked last.
	Present func(*Work) bool

	// Inputs are what the parts depend on beside the pod; nil: nothing is ever reused.
	Inputs func(*Work) Inputs

	// Meanings are the reasons that mean something else here: the registry names native keys.
	Meanings map[reason.Reason]string
}

// Meaning is one sentence that tells a person what a reason means, in the words of the dialect.
func (e *Engine) Meaning(r reason.Reason) string {
	if e.dialect != nil && e.dialect.Meanings[r] != "" {
		return e.dialect.Meanings[r]
	}
	return r.Doc()
}

// Part is one stage of a dialect, with the name that a trace shows.
type Part struct {
	Name string
	Run  func(*Work) error
}

// Work is a pod on its way through a dialect.
type Work struct {
	Result
	In    pod.Doc
	Facts Facts

	Raw    map[string]any // the pod as it came; never changed
	After  map[string]any // the pod as far as it is; a part replaces what it changes
	Layers map[string]any // all that the templates bring, as one tree
	State  any            // the dialect's own
	Alone  bool           // what becomes of this pod tells nothing of others with the same inputs

	engine *Engine
}

// Mark tells a benchmark what has been done since the last mark.
func (w *Work) Mark(stage string) { w.engine.mark(stage) }

// Speaking is an engine for a dialect.
func Speaking(d *Dialect, o Options) *Engine {
	return &Engine{options: o, config: d.Config, dialect: d, outcomes: newOutcomes(o.Reuse)}
}

// speak takes a pod through the dialect's parts.
func (e *Engine) speak(in pod.Doc, f Facts) (Result, error) {
	d, head := e.dialect, in.Head()
	w := &Work{In: in, Facts: f, engine: e}
	if w.Namespace = head.Metadata.Namespace; f.Namespace != "" {
		w.Namespace = f.Namespace
	}
	w.Owner = d.Owner(head)
	if f.Owner != nil {
		w.Owner = *f.Owner
	}
	w.Decision = d.Decide(w)
	w.Warnings = append(w.Warnings, w.Decision.Warnings...)
	w.Mark("decide")
	if !w.Decision.Inject {
		return w.Result, nil
	}
	var from *key
	if d.Inputs != nil {
		from = e.keyOf(in, f, &w.Result, d.Inputs(w))
	}
	w.Mark("key")
	if e.outcomes.take(from, &w.Result) {
		return w.Result, nil
	}
	err := d.make(w)
	if err == nil && !w.Alone {
		e.outcomes.keep(from, &w.Result, w.Layers)
	}
	return w.Result, err
}

// make runs the dialect's parts after the decision.
func (d *Dialect) make(w *Work) error {
	var err error
	if w.Raw, err = w.In.Tree(); err != nil {
		return unreadable(err)
	}
	if err := podShape(w.Raw); err != nil {
		return err
	}
	w.Mark("decode")
	w.After = w.Raw
	for _, part := range d.Parts {
		was := w.After
		if err := part.Run(w); err != nil {
			return err
		}
		if w.Facts.Trace && !pod.Equal(was, w.After) {
			w.Stages = append(w.Stages, Stage{part.Name, patch.Between(was, w.After)})
		}
	}
	w.Hash = hash(w.Layers)
	w.Mark("finish")
	if !d.Present(w) {
		w.Tree, w.Patch = w.After, patch.Between(w.Raw, w.After)
	}
	w.Mark("diff")
	if len(w.Patch) == 0 {
		w.Tree = nil
		w.Decision.Inject, w.Decision.Reason, w.Decision.DecidedBy = false, reason.AlreadyInjected, "result"
		w.Decision.Checks = append(w.Decision.Checks, policy.Check{Name: "result", Detail: "everything that the templates bring is there"})
	}
	return nil
}

// Warn adds a warning to the result.
func (w *Work) Warn(why reason.Reason, path, detail string) {
	w.Warnings = append(w.Warnings, reason.Warning{Reason: why, Path: path, Detail: detail})
}
