// SPDX-License-Identifier: Apache-2.0

// Package validate turns rules into findings. The validating webhooks and the lint command share it.
package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Severity tells how bad a finding is.
type Severity string

// The severities: an error keeps the configuration from being used, a warning does not.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one fault. The JSON names are a contract.
type Finding struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Object   string   `json:"object"` // such as template log-shipper
	Path     string   `json:"path"`
	File     string   `json:"file"`
	Line     int      `json:"line"` // from 1; 0 where unknown
	Detail   string   `json:"detail"`
	Hint     string   `json:"hint"`
}

// selectorLabels are the labels that workloads commonly use in their selectors. A template that sets
// one can make a controller create pods that it does not recognise as its own, for ever.
var selectorLabels = map[string]bool{
	"app": true, "k8s-app": true, "name": true, "version": true, "component": true, "tier": true, "role": true,
	"app.kubernetes.io/name": true, "app.kubernetes.io/instance": true, "app.kubernetes.io/component": true,
	"app.kubernetes.io/version": true, "app.kubernetes.io/part-of": true,
	"pod-template-hash": true, "controller-revision-hash": true, "statefulset.kubernetes.io/pod-name": true,
	"istio.io/rev": true, "job-name": true, "batch.kubernetes.io/job-name": true,
}

// Configuration checks a configuration with all its templates, read from named files as
// config.Parse takes them, with further values laid over its own.
func Configuration(files map[string][]byte, values map[string]any) []Finding {
	c, err := config.Parse(files)
	if err != nil {
		return Faults(err)
	}
	c.Values = config.MergeValues(c.Values, values)
	e, err := inject.New(c, inject.Options{})
	if err != nil {
		return Faults(err)
	}
	return append(labelFindings(c, e), containerFindings(c, e)...)
}

// labelFindings warns of templates that set a label which selectors use.
func labelFindings(c config.Config, e *inject.Engine) []Finding {
	var out []Finding
	for _, t := range c.Templates {
		for _, label := range e.Labels(t.Name) {
			if !selectorLabels[label] {
				continue
			}
			at := t.Origin.At(labelLine(t.Text, label))
			out = append(out, Finding{
				ID: reason.TemplateSelectorLabel.ID(), Severity: Warning, Object: "template " + t.Name,
				Path: "metadata.labels[" + label + "]", File: at.File, Line: at.Line,
				Detail: fmt.Sprintf("the template sets the label %s, which workloads use in their selectors", label),
				Hint:   "use a label under a domain of your own",
			})
		}
	}
	return out
}

// containerFindings warns of sidecars and order constraints of containers that the template does not
// render: most probably a slip, and the sidecar would be an ordinary container.
func containerFindings(c config.Config, e *inject.Engine) []Finding {
	var out []Finding
	for i, t := range c.Templates {
		rendered := e.Containers(t.Name)
		if len(rendered) == 0 {
			continue // nothing is known: it refuses the sample pods, or adds to others' containers only
		}
		check := func(name, field string) {
			if slices.Contains(rendered, name) || name == finish.Everyone {
				return
			}
			at := c.Place(fmt.Sprintf("templates[%d].%s", i, field))
			out = append(out, Finding{
				ID: reason.ContainerNotRendered.ID(), Severity: Warning, Object: "template " + t.Name,
				Path: field, File: at.File, Line: at.Line,
				Detail: fmt.Sprintf("the template renders no container %q on the sample pods", name),
				Hint:   "it renders " + strings.Join(rendered, ", "),
			})
		}
		for j, name := range t.Sidecars {
			check(name, fmt.Sprintf("sidecars[%d]", j))
		}
		for j, o := range t.Order {
			check(o.Container, fmt.Sprintf("order[%d].container", j))
		}
	}
	return out
}

func labelLine(text, label string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, label+":") {
			return i + 1
		}
	}
	return 0
}
