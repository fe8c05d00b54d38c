// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/param"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/render"
)

// Engine is a compiled configuration. It does not change; to reload, make a new one.
type Engine struct {
	options Options
	config  config.Config
	rules   policy.Rules

	named       map[string][]*template // templates and aliases
	names       []string               // of named, sorted
	defaults    []*template
	annotations []string // that the parameters declare

	nativeSidecars string

	dialect  *Dialect  // nil: the native one
	outcomes *outcomes // nil: none are kept
}

// template is a compiled template.
type template struct {
	config config.Template
	policy policy.Template
	code   *render.Template
	params param.Set
	open   []string // the fields of its containers that an author may set
	order  []finish.Constraint
	hides  pod.Hidden

	labels, containers []string // that it sets and renders on the sample pods
	beside             bool     // it brings a sidecar: by name, or as a native one
}

// Finding is a fault of a configuration.
type Finding struct {
	Reason   reason.Reason
	Template string // empty for the configuration itself
	Path     string // of the field, in the configuration or in the pod that the template makes
	File     string
	Line     int // from 1; 0 where unknown
	Detail   string
	Hint     string
}

// Error is the finding on one line.
func (f Finding) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
		if f.Line > 0 {
			fmt.Fprintf(&b, "%d:", f.Line)
		}
		b.WriteByte(' ')
	}
	b.WriteString(f.Reason.ID() + " ")
	if f.Template != "" {
		b.WriteString("template " + f.Template + ": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Detail)
	return b.String()
}

// CompileError tells why a configuration cannot be used.
type CompileError struct{ Findings []Finding }

// Error is the findings, a line each.
func (e *CompileError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// New compiles a configuration that config.Parse accepted. Every template is also tried on sample
// pods, so that one that runs away, or that makes no pod, is refused before the first real one comes.
// The error is a *CompileError.
func New(c config.Config, o Options) (*Engine, error) {
	if o.Revision == "" {
		o.Revision = "default"
	}
	e := &Engine{options: o, config: c, named: map[string][]*template{}, nativeSidecars: c.NativeSidecars, outcomes: newOutcomes(o.Reuse)}
	var findings []Finding
	for i, t := range c.Templates {
		compiled, faults := compile(t, func(field string) config.Position {
			return c.Place(fmt.Sprintf("templates[%d].%s", i, field))
		})
		findings = append(findings, faults...)
		e.named[t.Name] = []*template{compiled}
		for _, p := range t.Parameters {
			if p.Annotation != "" && !slices.Contains(e.annotations, p.Annotation) {
				e.annotations = append(e.annotations, p.Annotation)
			}
		}
	}
	for alias := range c.Aliases {
		names, _ := c.Expand([]string{alias})
		for _, name := range names {
			e.named[alias] = append(e.named[alias], e.named[name]...)
		}
	}
	for name := range e.named {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	defaults, _ := c.Expand(c.DefaultTemplates)
	for _, name := range defaults {
		e.defaults = append(e.defaults, e.named[name]...)
	}
	var err error
	e.rules, err = policy.New(policy.Config{
		Revision: o.Revision, OwnNamespace: o.OwnNamespace, IgnoredNamespaces: c.IgnoredNamespaces,
		Enabled: c.Policy != "disabled", Never: c.NeverInjectSelector, Always: c.AlwaysInjectSelector,
	})
	if err != nil {
		findings = append(findings, Finding{Reason: reason.ConfigInvalid, Detail: err.Error()})
	}
	if len(findings) == 0 {
		findings = e.try()
	}
	if len(findings) > 0 {
		return nil, &CompileError{findings}
	}
	return e, nil
}

func compile(t config.Template, place func(field string) config.Position) (*template, []Finding) {
	out := &template{
		config: t,
		policy: policy.Template{Name: t.Name, AllowHostNetwork: t.AllowHostNetwork, OS: t.OS},
		open:   t.OverridableFields(),
		beside: len(t.Sidecars) > 0,
	}
	for _, o := range t.Order {
		out.order = append(out.order, finish.Constraint{Template: t.Name, Container: o.Container, Before: o.Before, After: o.After})
	}
	var findings []Finding
	set, wrong := param.New(t)
	out.params = set
	for _, f := range wrong {
		at := place(f.Field)
		findings = append(findings, Finding{Reason: reason.ConfigInvalid, Template: t.Name, Path: f.Field, File: at.File, Line: at.Line, Detail: f.Detail, Hint: f.Hint})
	}
	code, faults := render.Compile(render.Source{Name: t.Name, File: t.File, Text: t.Text, Params: t.Parameters})
	for _, f := range faults {
		at := t.Origin.At(f.Line)
		findings = append(findings, Finding{Reason: f.Reason, Template: t.Name, File: at.File, Line: at.Line, Detail: f.Detail, Hint: f.Hint})
	}
	if out.code = code; code != nil {
		out.hides = Hides(code)
		if slices.ContainsFunc(t.Parameters, func(p config.Parameter) bool { return p.Annotation == pod.CompletionIndex }) {
			out.hides &^= pod.HideIndex
		}
	}
	return out, findings
}

// Config is the configuration that the engine was made from; it must not be changed.
func (e *Engine) Config() config.Config { return e.config }

// Revision is the engine's revision.
func (e *Engine) Revision() string { return e.options.Revision }

// AcceptsHostNetwork tells whether any template accepts pods on the node's network.
func (e *Engine) AcceptsHostNetwork() bool {
	return slices.ContainsFunc(e.config.Templates, func(t config.Template) bool { return t.AllowHostNetwork })
}

// AcceptsOS tells whether any template accepts pods of the operating system.
func (e *Engine) AcceptsOS(os string) bool {
	return slices.ContainsFunc(e.config.Templates, func(t config.Template) bool { return t.OS == os || t.OS == "any" })
}
