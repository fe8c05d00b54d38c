// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/render"
)

// compile parses the templates and checks what hangs together.
func compile(c Config, o inject.Options) (*dialect, error) {
	d, findings := static(c, o)
	findings = append(findings, d.missing()...)
	if len(findings) == 0 {
		findings, _ = d.try(inject.Facts{})
	}
	if len(findings) > 0 {
		return nil, &inject.CompileError{Findings: findings}
	}
	return d, nil
}

// static compiles as far as no pod is needed.
func static(c Config, o inject.Options) (*dialect, []inject.Finding) {
	if o.Offline {
		if o.Revision == "default" {
			o.Revision = "" // as the original's own offline injection
		}
		c.Policy, c.NeverInjectSelector, c.AlwaysInjectSelector = config.PolicyEnabled, nil, nil
	}
	d := &dialect{config: c, revision: o.Revision, own: o.OwnNamespace, templates: map[string]*render.Template{}, settings: readSettings(c.Values)}
	d.hides = map[string]pod.Hidden{}
	d.cluster, d.mentions = cmp.Or(c.Cluster, d.settings.cluster, defaultCluster), mentions(c.Templates)
	funcs := functions(c.Env)
	funcs["protoToJSON"] = protoToJSON(func(m proto.Message) (string, error) { return c.Mesh.JSON(m) })
	var findings []inject.Finding
	for _, t := range c.Templates {
		code, faults := render.Compile(render.Source{
			Name: t.Name, Text: t.Text, Funcs: funcs, Narrow: narrow(), Foreign: &render.Foreign{Method: mesh.ReadOnlyMethod, Makes: []string{"fromJSON"}, Lookups: []string{"isset"}, Main: "inject"},
		})
		for _, f := range faults {
			at := t.Origin.At(f.Line)
			findings = append(findings, inject.Finding{Reason: f.Reason, Template: t.Name, File: at.File, Line: at.Line, Detail: f.Detail, Hint: f.Hint})
		}
		d.templates[t.Name] = code
		if code != nil {
			d.hides[t.Name] = inject.Hides(code)
			if _, set := c.InjectedAnnotations[pod.CompletionIndex]; set {
				d.hides[t.Name] &^= pod.HideIndex
			}
		}
	}
	d.rules, d.notes = newRules(c)
	if !o.Offline {
		d.rules.hooks = hooks(o.Revision)
	}
	return d, append(findings, d.unknownTemplates()...)
}

// missing are the parts without which nothing can be injected.
func (d *dialect) missing() []inject.Finding {
	var findings []inject.Finding
	if d.config.Values == nil {
		findings = append(findings, noValues())
	}
	if d.config.Mesh == nil {
		findings = append(findings, inject.Finding{Reason: reason.ConfigInvalid, Path: meshKey, Detail: "there is no mesh configuration"})
	}
	return findings
}

func noValues() inject.Finding {
	return inject.Finding{
		Reason: reason.ConfigInvalid, Path: valuesKey, Detail: "there are no values, which every template reads",
		Hint: "give the key values of the injector's ConfigMap, or a file with --values",
	}
}

// unknownTemplates finds the default templates that do not exist: every pod would be refused.
func (d *dialect) unknownTemplates() []inject.Finding {
	var findings []inject.Finding
	if len(d.config.Templates) == 0 && slices.Contains(d.config.unread, configKey) {
		return nil // they may be there
	}
	for _, name := range d.config.DefaultTemplates {
		names := []string{name}
		if to, ok := d.config.Aliases[name]; ok {
			names = to
		}
		for _, name := range names {
			if _, ok := d.templates[name]; ok {
				continue
			}
			findings = append(findings, d.unknown("defaultTemplates", name))
		}
	}
	return findings
}

// unknown is the fault of a field that names a template which does not exist.
func (d *dialect) unknown(field, name string) inject.Finding {
	at := d.config.place(field)
	return inject.Finding{
		Reason: reason.UnknownTemplate, Path: field, File: at.File, Line: at.Line,
		Detail: fmt.Sprintf("there is no template %q", name), Hint: d.knownTemplates(name),
	}
}

// knownTemplates is the hint for a template that does not exist.
func (d *dialect) knownTemplates(name string) string {
	known := slices.Sorted(maps.Keys(d.templates))
	have := "the configuration has none"
	if len(known) > 0 {
		have = "the configuration has " + strings.Join(known, ", ")
	}
	if near := reason.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q? %s", near, have)
	}
	return have
}
