// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Lint is all that is wrong with a configuration beside what Parse tells: the faults for which New would
// refuse it, as far as what could be read shows them, and warnings of what is allowed and most probably
// not meant.
func Lint(c Config, o inject.Options) (faults, warnings []inject.Finding) {
	d, faults := static(c, o)
	whole := c.Values != nil && c.Mesh != nil
	if c.Values == nil && !slices.Contains(c.unread, valuesKey) {
		faults = append(faults, noValues())
	}
	trial := d
	if !knownPolicy(c.Policy) {
		c.Policy = policyEnabled // or nothing would be tried
		trial, _ = static(c, o)
	}
	if whole && len(faults) == 0 {
		faults, warnings = trial.try(inject.Facts{})
	}
	if whole && len(faults) == 0 && c.NativeSidecars == config.NativeAuto {
		old, _ := trial.try(inject.Facts{OldNodes: []inject.Node{{Name: "old"}}})
		for _, f := range old {
			f.Detail = "where a node runs no native sidecars, " + f.Detail
			warnings = append(warnings, f)
		}
	}
	warnings = append(warnings, d.noEffect()...)
	warnings = append(warnings, d.brokenAliases()...)
	if c.Mesh != nil {
		for _, w := range c.Mesh.Warnings().Suggest(reason.Nearest) {
			warnings = append(warnings, inject.Finding{Reason: reason.ConfigInvalid, Path: w.Field, File: w.File, Line: w.Line, Detail: w.Detail, Hint: w.Hint})
		}
	}
	if c.Values != nil {
		warnings = append(warnings, d.missingValues()...)
	}
	return faults, warnings
}

// noEffect warns of the fields that do nothing.
func (d *dialect) noEffect() []inject.Finding {
	var out []inject.Finding
	add := func(field, detail, hint string) {
		at := d.config.place(field)
		out = append(out, inject.Finding{Reason: reason.ConfigInvalid, Path: field, File: at.File, Line: at.Line, Detail: detail, Hint: hint})
	}
	for _, n := range d.notes {
		add(n.field, n.detail, "")
	}
	for _, field := range d.config.strangers {
		hint := ""
		if near := reason.Nearest(field, injectionFields()); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		add(field, "an unknown field, which nothing reads", hint)
	}
	return out
}

// brokenAliases warns of aliases for templates that do not exist: every pod that asks for one is refused.
// Those that the default templates use are faults.
func (d *dialect) brokenAliases() []inject.Finding {
	var out []inject.Finding
	for _, alias := range slices.Sorted(maps.Keys(d.config.Aliases)) {
		if slices.Contains(d.config.DefaultTemplates, alias) {
			continue
		}
		for _, name := range d.config.Aliases[alias] {
			if _, ok := d.templates[name]; !ok {
				out = append(out, d.unknown("aliases."+alias, name))
			}
		}
	}
	return out
}
