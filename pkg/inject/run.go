// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// run is one pod on its way through the engine.
type run struct {
	Result
	engine  *Engine
	in      pod.Doc
	facts   Facts
	subject policy.Subject

	chosen  []*template // the templates selected
	unknown error       // a selected name that is no template

	raw     map[string]any // the pod as it came; never changed
	base    map[string]any // without an earlier injection
	record  finish.Record  // of the earlier injection
	peeled  bool
	claimed []overlay.Change // by the record
	own     map[string]bool  // the paths that this injection changes

	believed map[string]bool // the paths that the record is believed in; nil for all
	layers   []layer
	stack    map[string]any // all layers as one
	brought  map[string]*template
	after    map[string]any
	ordered  bool // the pod that came in stands as the templates' order says
}

// layer is what one template rendered.
type layer struct {
	template *template
	native   bool
	tree     map[string]any
}

// begin gathers what the decision needs, from the pod's head alone.
func (e *Engine) begin(in pod.Doc, f Facts) *run {
	head := in.Head()
	r := &run{engine: e, in: in, facts: f}
	r.Namespace = f.Namespace
	if r.Namespace == "" {
		r.Namespace = head.Metadata.Namespace
	}
	r.Owner = owner(head)
	if f.Owner != nil {
		r.Owner = *f.Owner
	}
	r.Warnings = e.keys(head)
	r.chosen, r.unknown = e.selected(head, f)
	r.subject = policy.Subject{
		Pod: head, Namespace: r.Namespace, NamespaceLabels: f.NamespaceLabels, Selected: f.Selected,
		Templates: make([]policy.Template, len(r.chosen)),
	}
	for i, t := range r.chosen {
		r.subject.Templates[i] = t.policy
	}
	return r
}

// keys warns of mistyped and misplaced keys on the pod.
func (e *Engine) keys(head *pod.Head) []reason.Warning {
	var out []reason.Warning
	for _, p := range annotation.Warn(head.Metadata.Labels, head.Metadata.Annotations, e.annotations, reason.NearestWithin) {
		why := reason.UnknownKey
		if p.WrongKind {
			why = reason.KeyOnWrongKind
		}
		out = append(out, reason.Warning{Reason: why, Path: p.Path(), Detail: p.Detail})
	}
	return out
}

// selected are the templates that the pod, else its namespace, else the configuration names.
func (e *Engine) selected(head *pod.Head, f Facts) ([]*template, error) {
	text, where := head.Metadata.Annotations[annotation.Templates], "metadata.annotations["+annotation.Templates+"]"
	if text == "" {
		text, where = f.NamespaceAnnotations[annotation.Templates], "namespace metadata.annotations["+annotation.Templates+"]"
	}
	if text == "" {
		return e.defaults, nil
	}
	var out []*template
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		found, ok := e.named[name]
		if !ok {
			return out, e.unknownTemplate(name, where)
		}
		for _, t := range found {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

func (e *Engine) unknownTemplate(name, where string) error {
	hint := "the configuration has " + strings.Join(e.names, ", ")
	if near := reason.Nearest(name, e.names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return &reason.Refusal{Reason: reason.UnknownTemplate, Path: where, Detail: fmt.Sprintf("there is no template %s", pod.Describe(name)), Hint: hint}
}

// choose keeps the templates that accept the pod.
func (r *run) choose() error {
	if r.unknown != nil {
		return r.unknown
	}
	kept := r.chosen[:0:0]
	job := r.Owner.Kind == "Job" || r.Owner.Kind == "CronJob"
	native := r.engine.native(r.in.Head(), r.facts.OldNodes)
	for _, t := range r.chosen {
		if !slices.Contains(r.Decision.Templates, t.config.Name) {
			continue
		}
		l := layer{template: t, native: native}
		if job && !native && t.beside {
			switch t.config.Jobs {
			case "native":
				l.native = true
			case "skip":
				r.leftOut(t, reason.JobWithoutNativeSidecars, "the pod runs a Job and native sidecars are not to be had")
				continue
			case "inject":
				r.warn(reason.JobNeverCompletes, "template "+t.config.Name, "its sidecar keeps running, so the Job will not complete")
			}
		}
		kept = append(kept, t)
		r.layers = append(r.layers, l)
	}
	r.chosen = kept
	if len(kept) == 0 {
		why := reason.NoTemplates
		if len(r.Warnings) > 0 && r.Warnings[len(r.Warnings)-1].Reason == reason.JobWithoutNativeSidecars {
			why = reason.JobWithoutNativeSidecars
		}
		r.skip(why, "no template is left")
	}
	return nil
}

func (r *run) warn(why reason.Reason, path, detail string) {
	r.Warnings = append(r.Warnings, reason.Warning{Reason: why, Path: path, Detail: detail})
}

func (r *run) leftOut(t *template, why reason.Reason, detail string) {
	r.warn(why, "template "+t.config.Name, detail)
	r.Decision.Templates = slices.DeleteFunc(slices.Clone(r.Decision.Templates), func(name string) bool { return name == t.config.Name })
}

// peel decodes the pod and takes off what an earlier injection put on.
func (r *run) peel() error {
	var err error
	if r.raw, err = r.in.Tree(); err != nil {
		return unreadable(err)
	}
	if faults := podShape(r.raw); faults != nil {
		return faults
	}
	r.base = r.raw
	record, found, err := finish.ReadRecord(r.in.Head().Metadata.Annotations)
	if err == nil && found {
		r.base, r.claimed, err = undo(r.raw, record, r.believed)
	}
	if err != nil {
		r.warn(reason.StatusRecordInvalid, statusPath, "ignored: "+err.Error())
		r.base = without(r.raw)
		return nil
	}
	if found {
		r.record, r.peeled = record, true
		r.trace("peel", r.raw, r.base)
	}
	return nil
}

const statusPath = "metadata.annotations[" + annotation.Status + "]"

// strange tells whether the record takes what the templates would not bring again: it is of another
// configuration, or forged. A claim that takes nothing is none: the list that came with our container
// stays ours on paper when another webhook has put one of its own into it.
func (r *run) strange() bool {
	if r.facts.Trusted || r.believed != nil {
		return false
	}
	var foreign []overlay.Change
	for _, c := range r.claimed {
		if !r.own[c.Path] {
			foreign = append(foreign, c)
		}
	}
	if len(foreign) == 0 {
		return false
	}
	left, err := overlay.Revert(pod.Schema(), r.raw, foreign)
	return err != nil || !pod.Equal(left, r.raw)
}

// undo reverts a record's changes, of the believed paths only. A record that would leave the pod
// without containers was copied from another pod.
func undo(tree map[string]any, record finish.Record, believed map[string]bool) (map[string]any, []overlay.Change, error) {
	changes, err := overlay.Decode(record.Undo)
	if err != nil {
		return nil, nil, err
	}
	if !borneOut(tree, changes) {
		return nil, nil, fmt.Errorf("none of the containers that it lists is in the pod")
	}
	if believed != nil {
		changes = slices.DeleteFunc(changes, func(c overlay.Change) bool { return !believed[c.Path] })
	}
	reverted, err := overlay.Revert(pod.Schema(), tree, changes)
	if err != nil {
		return nil, nil, err
	}
	base, _ := reverted.(map[string]any)
	spec, _ := base["spec"].(map[string]any)
	if list, _ := spec["containers"].([]any); len(list) == 0 {
		return nil, nil, fmt.Errorf("it lists the pod's own containers")
	}
	return base, changes, nil
}

func unreadable(err error) error {
	return &reason.Refusal{Reason: reason.PodUnreadable, Detail: err.Error(), Hint: "send a pod that the API server would accept"}
}
