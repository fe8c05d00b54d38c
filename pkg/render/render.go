// SPDX-License-Identifier: Apache-2.0

// Package render turns a template and a pod's data into a layer: a strict partial pod. Templates are
// written in the language of text/template, parsed by its own parser and run by an evaluator that
// knows no method, clock, randomness, environment, network or disk, and that counts every step, so
// that a template always ends, in the same way for the same data. Text that a pod controls never
// meets the YAML parser: it travels beside the text and is put into the parsed document as data.
//
// Templates that were written for text/template and Sprig themselves have an evaluator of their own,
// as hermetic and as bounded, which renders what those two would: see Foreign.
package render

import (
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Source is a template as it is configured.
type Source struct {
	Name   string // for messages
	File   string // for messages; may be empty
	Text   string
	Params []config.Parameter // the parameters that the template may read

	// Funcs are functions beside those of Functions, of which they replace any of the same name:
	// plain Go functions without side effects, with a result and perhaps an error. Their arguments
	// and results are bounded as those of all others.
	Funcs map[string]any

	// Narrow tells what a function of Funcs reads of an argument, by the argument's place from 0, where
	// that is not all: the fields of a struct, or the keys of a map; see Template.Sees.
	Narrow map[string]map[int][]string

	// Bare permits text that a pod controls outside the quoting functions, for a dialect whose
	// templates were written so. The layer is then only as safe as the template.
	Bare bool

	// Foreign, where not nil, makes the template follow text/template to the letter, see there. It
	// implies Bare. Such a template is run by Text.
	Foreign *Foreign
}

// Finding is a fault of a template that shows before it is run.
type Finding struct {
	Reason       reason.Reason
	Template     string
	File         string // may be empty
	Line, Column int    // from 1; 0 where unknown
	Detail       string
	Hint         string // may be empty
}

// Error tells the reason, the place and the detail.
func (f Finding) Error() string {
	return fmt.Sprintf("%s %s: %s: %s", f.Reason.ID(), f.Reason, place(f.Template, f.File, f.Line, f.Column), f.Detail)
}

func place(template, file string, line, column int) string {
	if file != "" {
		template = file
	}
	switch {
	case line == 0:
		return template
	case column == 0:
		return fmt.Sprintf("%s:%d", template, line)
	}
	return fmt.Sprintf("%s:%d:%d", template, line, column)
}

// Data is what a template reads, by these names. It is never changed, and no method of it is called.
type Data struct {
	ObjectMeta     *metav1.ObjectMeta // of the pod
	Spec           *corev1.PodSpec    // of the pod; needed only where Reads tells so
	TypeMeta       metav1.TypeMeta    // of the workload that makes the pod
	DeploymentMeta Meta               // of the workload that makes the pod
	Namespace      Namespace
	Values         map[string]any // the configuration's values
	Params         map[string]any // by the names of Source.Params
	Revision       string
	NativeSidecars bool
}

// Meta is a workload's name.
type Meta struct{ Name, Namespace string }

// Namespace is the pod's namespace.
type Namespace struct {
	Name        string
	Labels      map[string]string
	Annotations map[string]string
}

// Reads tells which parts of the data a template mentions. What it does not mention need not be
// filled in.
type Reads struct {
	ObjectMeta, Spec, TypeMeta, DeploymentMeta, Namespace bool
	Values, Params, Revision, NativeSidecars              bool
}

// Layer is what a template renders: a tree as of package pod, with nothing in it but
// metadata.labels, metadata.annotations and spec, and without nulls.
type Layer struct {
	Name string
	Tree map[string]any
}

// Stats tells how far a template went towards its bounds.
type Stats struct {
	Ticks  int // of MaxTicks
	Output int // bytes of rendered text, of MaxOutput
}

// Template is a template that may be run, by any number of goroutines at once.
type Template struct {
	source Source
	main   *block
	reads  Reads
	runs   sync.Pool // of *run: scratch space, kept between renderings
	shelf  shelf
	sight  sight

	script  *script // in place of main, for a foreign template
	changes bool    // a foreign template that calls set or the like
}

// Reads tells which parts of the data the template mentions.
func (t *Template) Reads() Reads { return t.reads }

// Render runs the template on the data. The error is a *reason.Refusal: TemplateRefused when the
// template itself says so, TemplateFailed when it stops on this data, TemplateLimit when it runs past
// a bound, and TemplateOutputInvalid, ReservedKey or LabelInvalid when what it renders is no layer.
func (t *Template) Render(d *Data) (layer Layer, stats Stats, err error) {
	if t.main == nil {
		return Layer{}, Stats{}, errors.New("a template with Source.Foreign renders a text")
	}
	r := t.begin()
	defer t.end(r)
	defer func() {
		if p := recover(); p != nil {
			layer, err = Layer{}, t.refusal(&fault{why: reason.TemplateFailed, at: -1, detail: fmt.Sprint("it panicked: ", p)})
		}
	}()
	if err := t.main.exec(r, d); err != nil {
		return Layer{}, r.stats(), t.refusal(err)
	}
	tree, err := r.layer()
	if err != nil {
		return Layer{}, r.stats(), t.refusal(err)
	}
	return Layer{Name: t.source.Name, Tree: tree}, r.stats(), nil
}
