// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/measure"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	engine   engineFlags
	in       inputFlags
	compare  string
	stages   bool
	duration time.Duration
	limit    int
	output   string
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

CPU is that of one core, the garbage collector's included. Each figure takes about one and a half
times --duration: 50 pods that are injected take 45 seconds, or twice that with --compare, and a
third more with --stages, or with -o json or yaml, which tell the stages always.

It exits with 1 when a pod is refused: there is nothing to measure.`,
		Example: `  injector bench -f pods/
  injector bench -f deployment.yaml --stages
  injector bench -f deployment.yaml --config old --compare new
  injector bench deployment/web -n shop --config configmap/istio-system/istio-sidecar-injector -o json`,
		Args: f.in.objects,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	f.engine.add(cmd)
	f.in.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.compare, "compare", "", "a second configuration, as --config: its costs stand beside, with the ratio of the second to the first")
	fs.BoolVar(&f.stages, "stages", false, "split the cost of a fresh injection into its stages")
	fs.DurationVar(&f.duration, "duration", measure.Enough, "CPU time to spend on each figure")
	fs.IntVar(&f.limit, "limit", 50, "measure at most so many pods, the first ones")
	fs.StringVarP(&f.output, "output", "o", "table", "table, json or yaml")
	return cmd
}

func (f *benchFlags) run(ctx context.Context, s streams) error {
	print, err := printer(f.output, benchTable)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	first, second, err := f.configurations(ctx)
	if err != nil {
		return err
	}
	inputs, err := f.in.load(ctx, s.in)
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

func (f *benchFlags) check() error {
	const least, most = 10 * time.Millisecond, time.Minute
	if f.limit < 1 {
		return usage("want 1 or more", "--limit %d is not possible", f.limit)
	}
	if f.duration < least || f.duration > most {
		return usage(fmt.Sprintf("want %v to %v", least, most), "--duration %v is not possible", f.duration)
	}
	return nil
}

// configurations are the one and, with --compare, the other.
func (f *benchFlags) configurations(ctx context.Context) (first, second *benched, err error) {
	if first, err = f.engines(ctx, f.engine); err != nil || f.compare == "" {
		return first, nil, err
	}
	other := f.engine
	other.config = f.compare
	if second, err = f.engines(ctx, other); err != nil {
		return nil, nil, comparing(err)
	}
	return first, second, nil
}

// comparing names the flag that the configuration came by.
func comparing(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	return &failure{f.code, fmt.Errorf("--compare: %s", strings.TrimPrefix(f.Error(), "--config: ")), f.hint}
}

// engines compiles a configuration three times: to render each pod, to reuse what was rendered, and to
// tell of its stages.
func (f *benchFlags) engines(ctx context.Context, flags engineFlags) (*benched, error) {
	t, err := flags.read(ctx)
	if err != nil {
		return nil, err
	}
	b := &benched{duration: f.duration}
	o := inject.Options{Revision: flags.revision, OwnNamespace: ownNamespace}
	if b.fresh, err = flags.compile(t, o); err != nil {
		return nil, err
	}
	again := o
	again.Reuse = 64 << 20
	if b.reused, err = flags.compile(t, again); err != nil || !f.stages && f.output == "table" {
		return b, err
	}
	b.split = &measure.Split{}
	o.Mark = b.split.Mark
	b.staged, err = flags.compile(t, o)
	return b, err
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
			return nil, false, usage("", "%s: %w", one.pod.Object(), err)
		case apart != "":
			fmt.Fprintf(s.err, "%s: not compared: with the configuration of --compare it %s\n", one.pod.Object(), apart)
		}
		rows = append(rows, more...)
	}
	return append(rows, totals(rows)...), refused, nil
}
