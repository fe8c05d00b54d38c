// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

const shopNamespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"

// What is measured ends as explain says that it does, whatever a review does not tell.
func TestBenchDecidesAsExplain(t *testing.T) {
	skipsJobs := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: config.pillion.dev/v1alpha1\nkind: InjectorConfig\ndefaultTemplates: [a]\ntemplates:\n" +
		"- {name: a, jobs: skip, sidecars: [a], text: 'spec: {containers: [{name: a, image: registry.example/a:1}]}'}\n"
	if err := os.WriteFile(skipsJobs, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old := engineFlags{config: skipsJobs, revision: "default", native: "off"}
	for name, c := range map[string]struct {
		flags    engineFlags
		manifest string
		want     benchEnd
	}{
		"a Deployment":            {old, workloadYAML("apps/v1", "Deployment"), benchEnd{"injected", "policy_enabled", "INJ005"}},
		"a Job":                   {old, workloadYAML("batch/v1", "Job"), benchEnd{"skipped", "job_without_native_sidecars", "INJ117"}},
		"a CronJob":               {old, workloadYAML("batch/v1", "CronJob"), benchEnd{"skipped", "job_without_native_sidecars", "INJ117"}},
		"not selected":            {old, workloadYAML("apps/v1", "Deployment") + shopNamespace, benchEnd{"skipped", "not_selected", "INJ112"}},
		"a Job in a mesh":         {engineFlags{config: meshExample, revision: "default"}, workloadYAML("batch/v1", "Job"), benchEnd{"injected", "policy_enabled", "INJ005"}},
		"not selected, in a mesh": {engineFlags{config: meshExample, revision: "default"}, workloadYAML("batch/v1", "Job") + shopNamespace, benchEnd{"skipped", "not_selected", "INJ112"}},
	} {
		b, err := (&benchFlags{output: "table"}).engines(t.Context(), c.flags)
		if err != nil {
			t.Fatal(err)
		}
		one := subjectsOf(t, []byte(c.manifest))[0]
		told, err := explain(b.fresh, one)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, benchEnd{told.Decision, told.Reason, told.ID}); diff != "" {
			t.Errorf("%s: explain (-want +got):\n%s", name, diff)
		}
		trial, err := b.trial(one)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, trial.end); diff != "" || trial.injects() != (c.want.Decision == "injected") {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where each replica is rendered, that is what another one costs.
func TestBenchWays(t *testing.T) {
	once := func(t *trial) *trial { // as if measured
		t.called = true
		t.costs = map[string]benchCost{"floor": {CPU: 10}, "fresh": {CPU: 200, Stages: []benchStage{{Name: "decide"}}}, "reused": {CPU: 20}, "skip": {CPU: 15}}
		return t
	}
	patched := []byte("[{}]")
	reused, fresh, skipped, none := once(&trial{patch: patched, reusable: true}), once(&trial{patch: patched}), once(&trial{}), &trial{}
	for name, c := range map[string]struct {
		first, second *trial
		want          []string
		cpu           []float64 // of the second
	}{
		"reused":         {reused, reused, []string{"floor", "fresh", "reused"}, []float64{10, 200, 20}},
		"never reused":   {fresh, fresh, []string{"floor", "fresh"}, []float64{10, 200}},
		"no more reused": {reused, fresh, []string{"floor", "fresh", "reused"}, []float64{10, 200, 200}},
		"reused now":     {fresh, reused, []string{"floor", "fresh", "reused"}, []float64{10, 200, 20}},
		"skipped":        {skipped, skipped, []string{"floor", "skip"}, []float64{10, 15}},
		"not called":     {none, none, []string{"none"}, []float64{0}},
	} {
		got := c.first.ways(c.second)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for i, way := range got {
			cost := c.second.cost(way)
			if cost.CPU != c.cpu[i] || way != "fresh" && cost.Stages != nil {
				t.Errorf("%s: %s costs %v, want CPU %v", name, way, cost, c.cpu[i])
			}
		}
	}
}

func TestBenchFlagFaults(t *testing.T) {
	const manifest = "../../docs/examples/deployment.yaml"
	for name, c := range map[string]struct {
		args []string
		want string // the report's first line
	}{
		"no input":           {nil, "nothing to read: -f is missing"},
		"no file":            {[]string{"-f", "none.yaml"}, "read none.yaml: no such file or directory"},
		"unknown format":     {[]string{"-f", manifest, "-o", "csv"}, `-o "csv" is not known`},
		"no pods at all":     {[]string{"-f", manifest, "--limit", "0"}, "--limit 0 is not possible"},
		"less than none":     {[]string{"-f", manifest, "--limit", "-3"}, "--limit -3 is not possible"},
		"no time":            {[]string{"-f", manifest, "--duration", "0s"}, "--duration 0s is not possible"},
		"a negative time":    {[]string{"-f", manifest, "--duration", "-1s"}, "--duration -1s is not possible"},
		"an hour":            {[]string{"-f", manifest, "--duration", "1h"}, "--duration 1h0m0s is not possible"},
		"a time of no unit":  {[]string{"-f", manifest, "--duration", "200"}, `invalid argument "200" for "--duration" flag: time: missing unit in duration "200"`},
		"no configuration":   {[]string{"-f", manifest, "--config", "none"}, "--config: read none: no such file or directory"},
		"nothing to compare": {[]string{"-f", manifest, "--compare", "none"}, "--compare: read none: no such file or directory"},
		"a native of none":   {[]string{"-f", manifest, "--native", "maybe"}, `--native "maybe" is not known`},
		"a misspelt flag":    {[]string{"-f", manifest, "--stage"}, "unknown flag: --stage"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"bench"}, c.args...), streams{strings.NewReader(""), &stdout, &stderr})
		first, _, _ := strings.Cut(stderr.String(), "\n")
		if code != exitUsage || first != "injector: error: "+c.want || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %s%s", name, code, &stdout, &stderr)
		}
	}
}

// TestBenchJSON: what figures there are, and that none is missing.
func TestBenchJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "-f", "-", "--duration", "10ms", "-o", "json", "--config", meshExample, "--compare", "../../docs/examples/config"}
	manifest := workloadYAML("apps/v1", "Deployment")
	if code := run(t.Context(), args, streams{strings.NewReader(manifest), &stdout, &stderr}); code != exitOK {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	var rows []benchRow
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Object+" "+r.Path)
		for _, c := range []benchCost{r.benchCost, r.Compared.benchCost} {
			if c.CPU <= 0 || c.Allocs <= 0 || c.Bytes <= 0 || c.Patch == 0 || c.Floors <= 0 || (c.Stages != nil) != (r.Path == "fresh") {
				t.Errorf("%s %s: %+v", r.Object, r.Path, c)
			}
		}
		if r.Ratio <= 0 || r.Pods != 1 {
			t.Errorf("%s %s: ratio %v, %d pods", r.Object, r.Path, r.Ratio, r.Pods)
		}
	}
	want := []string{"deployment/web -n shop floor", "deployment/web -n shop fresh", "deployment/web -n shop reused", "total floor", "total fresh", "total reused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var stages []string
	for _, s := range rows[1].Stages {
		stages = append(stages, s.Name)
	}
	if diff := cmp.Diff(stageOrder, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

// A review that the webhook cannot answer is no figure.
func TestBenchTellsWhatIsBroken(t *testing.T) {
	b, err := (&benchFlags{output: "table", duration: time.Millisecond}).engines(t.Context(), engineFlags{revision: "default"})
	if err != nil {
		t.Fatal(err)
	}
	one := subjectsOf(t, []byte(workloadYAML("v1", "Pod")))[0]
	trial, err := b.trial(one)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *reason.Refusal
	if err := trial.first.ask([]byte(`{"kind":"AdmissionReview"}`)); err == nil || errors.As(err, &refusal) {
		t.Errorf("a review without a request ends in %v", err)
	}
}

// TestDocsBench holds the table of fields to the rows.
func TestDocsBench(t *testing.T) {
	var paths func(typ reflect.Type, prefix string) []string
	paths = func(typ reflect.Type, prefix string) (out []string) {
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				out = append(out, paths(f.Type, prefix)...)
			case f.Type.Kind() == reflect.Slice:
				out = append(out, paths(f.Type.Elem(), prefix+name+"[].")...)
			default:
				out = append(out, prefix+name)
			}
		}
		return out
	}
	want := paths(reflect.TypeFor[benchRow](), "")
	got := slices.DeleteFunc(column(rows(section(t, text(t, "cli.md"), "## bench")), 0), func(cell string) bool {
		return slices.Contains([]string{wayFloor, wayFresh, wayReused, waySkip}, cell) // of the example
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/cli.md, ## bench (-type +page):\n%s", diff)
	}
}
