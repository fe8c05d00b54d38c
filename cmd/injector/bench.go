// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	engine  engineFlags
	in      inputFlags
	compare string
	limit   int
	output  string
}

func newBench(s streams) *cobra.Command {
	f := &benchFlags{}
	f.engine.kubeconfig = &f.in.kubeconfig
	cmd := &cobra.Command{
		Use:   "bench (-f FILE | KIND/NAME)...",
		Short: "Measure what injection costs on your pods",
		Long: `Bench measures, for each pod, the way of its review through the webhook, without TLS and HTTP:

  floor   the review's envelope is read and a patch that is at hand sent; no webhook costs less
  fresh   a pod of a new shape: rendered, and the patch proved
  reused  a pod of a shape that came before, as of another replica
  skip    a pod that is not injected

CPU is that of one core, the garbage collector's included. Each pod takes about two seconds. It
exits with 1 when a pod is refused: there is nothing to measure.`,
		Example: `  injector bench -f pods/
  injector bench -f deployment.yaml --config new --compare old
  injector bench deployment/web -n shop --config configmap/istio-system/istio-sidecar-injector -o json`,
		Args: f.in.objects,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	f.engine.add(cmd)
	f.in.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.compare, "compare", "", "a second configuration, as --config: its costs stand beside, with the ratio of the second to the first")
	fs.IntVar(&f.limit, "limit", 50, "measure at most so many pods, the first ones")
	fs.StringVarP(&f.output, "output", "o", "table", "table, json or yaml")
	return cmd
}

func (f *benchFlags) run(cmd *cobra.Command, s streams) error {
	print, err := printer(f.output, benchTable)
	if err != nil {
		return err
	}
	if f.limit < 1 {
		return usage("want 1 or more", "--limit %d is not possible", f.limit)
	}
	first, err := f.engines(cmd, f.engine)
	if err != nil {
		return err
	}
	var second *benched
	if f.compare != "" {
		other := f.engine
		other.config = f.compare
		if second, err = f.engines(cmd, other); err != nil {
			return comparing(err)
		}
	}
	inputs, err := f.in.load(cmd.Context(), s.in)
	if err != nil {
		return err
	}
	subjects, err := f.in.subjects(inputs)
	if err != nil {
		return err
	}
	if len(subjects) > f.limit {
		fmt.Fprintf(s.err, "%d pods were read, the first %d are measured; see --limit\n", len(subjects), f.limit)
		subjects = subjects[:f.limit]
	}
	rows, refused, err := f.measure(s, subjects, first, second)
	if err != nil {
		return err
	}
	if err := print(s.out, rows); err != nil {
		return err
	}
	told(s.err, rows)
	if refused {
		return silent(exitFindings)
	}
	return nil
}

// comparing names the flag that the configuration came by.
func comparing(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	return &failure{f.code, fmt.Errorf("--compare: %s", strings.TrimPrefix(f.Error(), "--config: ")), f.hint}
}

// engines compiles a configuration twice: to render each pod, and to reuse what was rendered.
func (f *benchFlags) engines(cmd *cobra.Command, flags engineFlags) (*benched, error) {
	t, err := flags.read(cmd.Context())
	if err != nil {
		return nil, err
	}
	b := &benched{}
	for _, e := range []struct {
		into  **inject.Engine
		reuse int64
	}{{&b.fresh, 0}, {&b.reused, 64 << 20}} {
		*e.into, err = flags.compile(t, inject.Options{Revision: flags.revision, OwnNamespace: ownNamespace, Reuse: e.reuse})
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// measure tells of refused pods, and leaves them out.
func (f *benchFlags) measure(s streams, subjects []subject, first, second *benched) (rows []benchRow, refused bool, err error) {
	for _, one := range subjects {
		more, apart, err := benchRows(one, first, second)
		var refusal *reason.Refusal
		switch {
		case errors.As(err, &refusal):
			refused = true
			fmt.Fprintf(s.err, "%s: refused: %v\n", one.pod.Object(), refusal)
			if refusal.Hint != "" {
				fmt.Fprintf(s.err, "  hint: %s\n", refusal.Hint)
			}
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", one.pod.Object(), err)
		case apart != "":
			fmt.Fprintf(s.err, "%s: not compared: with the configuration of --compare it %s\n", one.pod.Object(), apart)
		}
		rows = append(rows, more...)
	}
	return rows, refused, nil
}
