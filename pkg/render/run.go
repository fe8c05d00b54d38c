// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// run is one rendering. Everything that changes while a template runs is in here.
type run struct {
	template *Template
	out      []byte
	ticks    int
	depth    int

	vars []any // the variables of all invoked templates
	base int   // of the variables of the one that runs
	args []any // the arguments of the calls that are being made

	slots    []slot // text beside the output, see slot.go
	slotted  int    // bytes of it
	slotting bool   // the call that runs writes into slots

	foreign foreignRun
}

// keep is the most scratch space that a run holds on to.
const keep = 64 << 10

func (t *Template) begin() *run {
	r, _ := t.runs.Get().(*run)
	if r == nil {
		r = &run{template: t}
	}
	return r
}

// end clears what would keep the data alive, and gives the run back.
func (t *Template) end(r *run) {
	if cap(r.out) > keep || cap(r.vars) > keep/16 || cap(r.args) > keep/16 || cap(r.slots) > keep/32 || r.foreign.large() {
		return
	}
	clear(r.vars[:cap(r.vars)])
	clear(r.args[:cap(r.args)])
	clear(r.slots)
	*r = run{template: t, out: r.out[:0], vars: r.vars[:0], args: r.args[:0], slots: r.slots[:0], foreign: r.foreign.clear()}
	t.runs.Put(r)
}

func (r *run) stats() Stats { return Stats{Ticks: r.ticks, Output: len(r.out)} }

func (r *run) write(text string) error {
	if len(r.out)+r.slotted+len(text) > MaxOutput {
		return tooMuch("the template renders more than %d bytes", MaxOutput)
	}
	r.out = append(r.out, text...)
	return nil
}

// refusal puts an error into the form that goes to the pod's author.
func (t *Template) refusal(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{why: reason.TemplateFailed, at: -1, detail: err.Error()}
	}
	out := &reason.Refusal{Reason: f.why, Path: f.path, Detail: f.detail, Hint: f.hint}
	switch {
	case f.line > 0:
		out.Detail = fmt.Sprintf("template %q, line %d of what it renders: %s", t.source.Name, f.line, f.detail)
	case f.path != "":
		out.Detail = fmt.Sprintf("template %q: %s", t.source.Name, f.detail)
	default:
		out.Path = "templates[" + t.source.Name + "]"
		if f.at >= 0 {
			line, column := locate(t.source.Text, f.at)
			out.Detail = place(t.source.Name, t.source.File, line, column) + ": " + f.detail
		}
	}
	return out
}

// locate turns an offset into a line and a column, both from 1.
func locate(text string, at int) (line, column int) {
	at = min(at, len(text))
	return 1 + strings.Count(text[:at], "\n"), at - strings.LastIndexByte(text[:at], '\n')
}
