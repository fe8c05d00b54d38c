// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/reason"
)

func newInject(s streams) *cobra.Command {
	var engine engineFlags
	var in inputFlags
	var keepGoing bool
	engine.kubeconfig = &in.kubeconfig
	cmd := &cobra.Command{
		Use:   "inject (-f FILE | KIND/NAME)...",
		Short: "Inject sidecars into the pods of manifests",
		Long: `Inject writes the manifests to standard output with the sidecars in place. It is the
webhook's own engine: the same pod, configuration and namespace give the same result.
Documents without a pod, and pods that are skipped, pass byte for byte.

Every pod counts as selected, unless a Namespace document in the input says otherwise;
under dialect istio, even then.`,
		Example: `  injector inject -f deployment.yaml | kubectl apply -f -
  injector inject --config mesh.yaml -f deployment.yaml
  injector inject -f manifests/ --templates otel-agent,log-shipper`,
		Args: in.objects,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := engine.engine(cmd.Context(), true)
			if err != nil {
				return err
			}
			t := transform{streams: s, keepGoing: keepGoing, verb: "inject"}
			return t.run(cmd.Context(), &in, func(one subject) (inject.Result, error) {
				r, err := e.Inject(one.doc, one.facts)
				if err == nil && len(r.Patch) > 0 {
					err = r.Prove(one.doc)
				}
				return r, err
			})
		},
	}
	engine.add(cmd)
	in.add(cmd)
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "write the stream although some pods are refused; those stay as they are")
	return cmd
}

func newUninject(s streams) *cobra.Command {
	var in inputFlags
	cmd := &cobra.Command{
		Use:   "uninject (-f FILE | KIND/NAME)...",
		Short: "Take injected sidecars off the pods of manifests",
		Long: `Uninject is the exact inverse of inject: it takes off what the pod's status record lists,
and puts back what was replaced. It needs no configuration. What dialect istio injected
stays, since that dialect keeps no way back.`,
		Example: `  injector uninject -f injected.yaml`,
		Args:    in.objects,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := transform{streams: s, verb: "uninject"}
			return t.run(cmd.Context(), &in, func(one subject) (inject.Result, error) {
				r, err := inject.Uninject(one.doc)
				if err == nil && len(r.Patch) > 0 {
					err = r.Prove(one.doc)
				}
				return r, err
			})
		},
	}
	in.add(cmd)
	return cmd
}

// transform patches every pod of the manifests and writes the stream, all of it or nothing.
type transform struct {
	streams
	keepGoing bool
	verb      string
}

func (t transform) run(ctx context.Context, in *inputFlags, patch func(subject) (inject.Result, error)) error {
	inputs, err := in.load(ctx, t.in)
	if err != nil {
		return err
	}
	subjects, err := in.subjects(inputs)
	if err != nil {
		return err
	}
	refused := 0
	for _, one := range subjects {
		r, err := patch(one)
		var refusal *reason.Refusal
		switch {
		case errors.As(err, &refusal):
			refused++
			t.refuse(one, refusal)
		case err != nil:
			return usage("", "%s: %w", one.pod.Object(), err)
		default:
			t.tell(one, r)
			if err := one.pod.Apply(r.Patch); err != nil {
				return usage("", "%s: %w", one.pod.Object(), err)
			}
		}
	}
	t.retired(inputs)
	if refused > 0 && !t.keepGoing {
		return silent(exitFindings)
	}
	if err := write(t.out, inputs); err != nil {
		return err
	}
	if refused > 0 {
		return silent(exitPartial)
	}
	return nil
}

func (t transform) refuse(one subject, r *reason.Refusal) {
	fmt.Fprintf(t.err, "injector: error: %s: %v\n", one.pod.Object(), r)
	if r.Hint != "" {
		fmt.Fprintf(t.err, "injector: hint: %s\n", r.Hint)
	}
}

// tell reports one pod on one line, and its warnings.
func (t transform) tell(one subject, r inject.Result) {
	switch {
	case t.verb == "uninject":
		t.tellUninject(one, len(r.Patch) > 0)
	case r.Decision.Inject:
		fmt.Fprintf(t.err, "%s: injected %s (%s %s)\n", one.pod.Object(), applied(r), r.Decision.Reason.ID(), r.Decision.Reason)
	default:
		fmt.Fprintf(t.err, "%s: skipped, %s %s: %s\n", one.pod.Object(), r.Decision.Reason.ID(), r.Decision.Reason, lastCheck(r))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(t.err, "%s: warning: %s\n", one.pod.Object(), w.Text())
	}
}

// tellUninject tells of what cannot be undone, too: the record of the Istio dialect lists what it added
// and not what it replaced.
func (t transform) tellUninject(one subject, changed bool) {
	what := "not injected, left as it is"
	if changed {
		what = "uninjected"
	}
	if !istio.Injected(one.doc.Head().Metadata.Annotations) {
		fmt.Fprintf(t.err, "%s: %s\n", one.pod.Object(), what)
		return
	}
	if changed {
		what += ", but for what dialect istio injected"
	} else {
		what = "injected in dialect istio, left as it is"
	}
	fmt.Fprintf(t.err, "%s: %s: that dialect keeps no way back\n", one.pod.Object(), what)
	fmt.Fprintf(t.err, "injector: hint: start from the manifest as it was before injection\n")
}

// retired reports the documents that are left alone because no API server serves them any more.
func (t transform) retired(inputs []input) {
	for _, in := range inputs {
		for _, d := range in.stream.Documents() {
			for _, r := range d.Retired() {
				w := reason.Warning{Reason: reason.RetiredKind, Detail: fmt.Sprintf("%s is no longer served, use %s; left as it is", r.APIVersion, r.Replacement)}
				fmt.Fprintf(t.err, "%s: warning: %s\n", r.Object(), w.Text())
			}
		}
	}
}

func applied(r inject.Result) string {
	names := make([]string, len(r.Templates))
	for i, t := range r.Templates {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

func lastCheck(r inject.Result) string {
	if n := len(r.Decision.Checks); n > 0 {
		return r.Decision.Checks[n-1].Detail
	}
	return ""
}

// write writes the streams, one document after the other.
func write(w io.Writer, inputs []input) error {
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(in input) bool { return in.around })
	for i, in := range inputs {
		out, err := in.stream.Bytes()
		if err != nil {
			return usage("", "write %s: %w", in.name, err)
		}
		if i > 0 && !strings.HasPrefix(string(out), "---") {
			out = append([]byte("---\n"), out...)
		}
		if i < len(inputs)-1 && len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if _, err := w.Write(out); err != nil {
			return usage("", "%w", err)
		}
	}
	return nil
}
