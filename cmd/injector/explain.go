// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/param"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func newExplain(s streams) *cobra.Command {
	var engine engineFlags
	var in inputFlags
	var output string
	engine.kubeconfig = &in.kubeconfig
	cmd := &cobra.Command{
		Use:   "explain (-f FILE | KIND/NAME)...",
		Short: "Say why a pod is injected or not, and what each step does",
		Long: `Explain prints, for each pod, every check with the one that decided, the templates, the
parameters with the source of each value, and the patch of each stage.

It exits with 0 when every pod is injected, with 1 when one is not.`,
		Example: `  injector explain -f pod.yaml
  injector explain deployment/web -n shop -o json
  injector explain deployment/web -n shop --config configmap/istio-system/istio-sidecar-injector`,
		Args: in.objects,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print, err := printer(output, explanationTable)
			if err != nil {
				return err
			}
			e, err := engine.engine(cmd.Context(), false)
			if err != nil {
				return err
			}
			inputs, err := in.load(cmd.Context(), s.in)
			if err != nil {
				return err
			}
			subjects, err := in.subjects(inputs)
			if err != nil {
				return err
			}
			if len(subjects) == 0 {
				fmt.Fprintln(s.err, "no pod, and nothing that makes pods, is in what was read")
			}
			list := make([]explanation, 0, len(subjects))
			code := exitOK
			for _, one := range subjects {
				x, err := explain(e, one)
				if err != nil {
					return usage("", "%s: %w", one.pod.Object(), err)
				}
				if !x.injected {
					code = exitFindings
				}
				list = append(list, x)
			}
			if err := print(s.out, list); err != nil || code == exitOK {
				return err
			}
			return silent(code)
		},
	}
	engine.add(cmd)
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table, json or yaml")
	return cmd
}

// explanation is one pod's row; the JSON names are a contract.
type explanation struct {
	Object     string             `json:"object"`
	Decision   string             `json:"decision"` // injected, skipped or refused
	Reason     string             `json:"reason"`
	ID         string             `json:"id"`
	DecidedBy  string             `json:"decidedBy"`
	Checks     []explainedCheck   `json:"checks"`
	Templates  []string           `json:"templates"`
	Parameters []explainedParam   `json:"parameters"`
	Stages     []explainedStage   `json:"stages"`
	Patch      []explainedPatchOp `json:"patch"`
	Warnings   []string           `json:"warnings"`
	Hint       string             `json:"hint"`

	detail   string
	injected bool
}

type explainedCheck struct {
	Name    string `json:"name"`
	Detail  string `json:"detail"`
	Decided bool   `json:"decided"`
}

type explainedParam struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

type explainedStage struct {
	Name  string             `json:"name"`
	Patch []explainedPatchOp `json:"patch"`
}

type explainedPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// explain runs the engine with a trace.
func explain(e *inject.Engine, one subject) (explanation, error) {
	one.facts.Trace = true
	r, err := e.Inject(one.doc, one.facts)
	var refusal *reason.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return explanation{}, err
	}
	x := explanation{
		Object: one.pod.Object(), Decision: "skipped", DecidedBy: r.Decision.DecidedBy, detail: lastCheck(r),
		Reason: r.Decision.Reason.String(), ID: r.Decision.Reason.ID(),
		Patch: explainOps(r.Patch), Checks: []explainedCheck{}, Templates: []string{}, Parameters: []explainedParam{}, Stages: []explainedStage{}, Warnings: []string{},
		injected: r.Decision.Inject || r.Decision.Reason == reason.AlreadyInjected,
	}
	for _, c := range r.Decision.Checks {
		x.Checks = append(x.Checks, explainedCheck{c.Name, c.Detail, c.Name == r.Decision.DecidedBy})
	}
	for _, t := range r.Templates {
		x.Templates = append(x.Templates, t.Name)
		for _, p := range t.Params {
			x.Parameters = append(x.Parameters, explainedParam{t.Name + "." + p.Name, p.Value, p.Source})
		}
	}
	for _, st := range r.Stages {
		if !r.Decision.Inject {
			break // the pod stays as it is, whatever was tried
		}
		x.Stages = append(x.Stages, explainedStage{st.Name, explainOps(st.Patch)})
	}
	for _, w := range r.Warnings {
		x.Warnings = append(x.Warnings, w.Text())
	}
	switch {
	case refusal != nil:
		x.Decision, x.Reason, x.ID, x.injected = "refused", refusal.Reason.String(), refusal.Reason.ID(), false
		x.detail, x.Hint = strings.TrimPrefix(refusal.Error(), x.ID+" "+x.Reason+": "), refusal.Hint
	case r.Decision.Inject:
		x.Decision = "injected"
	default:
		x.Hint = e.Meaning(r.Decision.Reason)
	}
	return x, nil
}

func explainOps(ops []patch.Op) []explainedPatchOp {
	out := make([]explainedPatchOp, len(ops))
	for i, op := range ops {
		out[i] = explainedPatchOp{op.Op, op.Path, op.Value}
	}
	return out
}

func explanationTable(w io.Writer, list []explanation) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i, x := range list {
		if i > 0 {
			fmt.Fprintln(tw)
		}
		fmt.Fprintf(tw, "%s  ->  %s  %s %s\n", x.Object, strings.ToUpper(x.Decision), x.ID, x.Reason)
		for j, c := range x.Checks {
			mark := ""
			if c.Decided {
				mark = "   <-- decided here"
			}
			fmt.Fprintf(tw, "  %2d %s\t%s%s\n", j+1, c.Name, c.Detail, mark)
		}
		if x.Decision == "refused" {
			fmt.Fprintf(tw, "refused: %s\n", x.detail)
		}
		for _, warning := range x.Warnings {
			fmt.Fprintf(tw, "warning: %s\n", warning)
		}
		label := "hint"
		if x.Decision == "skipped" {
			label = "meaning"
		}
		if x.Hint != "" {
			fmt.Fprintf(tw, "%s: %s\n", label, x.Hint)
		}
		explainWork(tw, x)
	}
	return tw.Flush()
}

// explainWork prints what was done: templates, parameters, stages.
func explainWork(w io.Writer, x explanation) {
	if len(x.Templates) > 0 {
		fmt.Fprintf(w, "templates: %s\n", strings.Join(x.Templates, ", "))
	}
	for _, p := range x.Parameters {
		source := "from " + p.Source
		if p.Value == "" && p.Source == param.FromDefault {
			source = "not set"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, p.Value, source)
	}
	for _, st := range x.Stages {
		fmt.Fprintf(w, "stage %s\n", st.Name)
		for _, op := range st.Patch {
			fmt.Fprintf(w, "  %s %s\n", op.Op, op.Path)
		}
	}
}
