// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pillion-dev/pillion/pkg/istio"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// done is the outcome of a manifest that the command line writes.
const done = "ok"

// manifestCase runs a manifest through the command line.
func (c *corpus) manifestCase(dir string, in *input, want outcome) (func(*runner) verdict, error) {
	if want.kind == done {
		raw, err := c.file(dir, "expected.yaml")
		if err != nil {
			return nil, err
		}
		docs, err := documents(raw)
		if err != nil {
			return nil, fmt.Errorf("%s/expected.yaml: %w", dir, err)
		}
		want.tree = docs
	}
	manifest := filepath.Join(c.root, dir, "input.yaml")
	return func(r *runner) verdict { return r.manifest(in, manifest, want) }, nil
}

func (r *runner) manifest(in *input, manifest string, want outcome) verdict {
	raw, err := os.ReadFile(manifest)
	if err != nil {
		return problem("%v", err)
	}
	before, err := documents(raw)
	if err != nil {
		return problem("%s: %v", manifest, err)
	}
	got, err := r.inject(in, manifest)
	if err != nil {
		return problem("%v", err)
	}
	v, pairs := r.manifestPairs(in, before, pair{want: want, got: got})
	for i, p := range pairs {
		one := r.judge(p)
		v.add(one, fmt.Sprintf("pod %d: ", i+1))
	}
	return v
}

// add adds the verdict on a part.
func (v *verdict) add(part verdict, place string) {
	if part.known != "" && !strings.Contains(v.known, part.known) {
		v.known = strings.TrimSpace(v.known + " " + part.known)
	}
	for _, p := range part.problems {
		v.problems = append(v.problems, place+p)
	}
}

// manifestPairs takes the pods out of the documents, so that rules can speak about each, and compares
// what is left: it must be as it was, and mean what it means in the original's output.
func (r *runner) manifestPairs(in *input, before []any, whole pair) (verdict, []pair) {
	if whole.want.kind == done && whole.got.kind == failed {
		return r.manifestRefused(in, before, whole), nil
	}
	if whole.want.kind != whole.got.kind || whole.want.kind != done {
		return verdict{problems: whole.compare()}, nil
	}
	inRest, ins := takePods(before)
	wantRest, wants := takePods(whole.want.tree)
	gotRest, gots := takePods(whole.got.tree)
	if len(ins) != len(wants) || len(ins) != len(gots) {
		return problem("%d pods came in, %d are wanted, %d came out", len(ins), len(wants), len(gots)), nil
	}
	var v verdict
	for _, d := range diff(norm(gotRest, ""), norm(inRest, ""), "") {
		v.problems = append(v.problems, "changed outside of pods: "+d)
	}
	v.problems = append(v.problems, diff(said(gotRest), said(wantRest), "")...)
	var pairs []pair
	for i, found := range ins {
		one := in.inside(found)
		for _, p := range []map[string]any{wants[i], gots[i]} {
			delete(p, "owner")
		}
		got := outcome{kind: injected, tree: canonical(gots[i]), text: whole.got.text}
		pairs = append(pairs, pair{one, outcome{kind: injected, tree: canonical(wants[i])}, got})
	}
	return v, pairs
}

// inside is the case of a pod that was taken out of a manifest.
func (in *input) inside(found map[string]any) *input {
	one := *in
	one.pod, one.job = found, found["job"]
	one.owner, _ = found["owner"].(string)
	delete(found, "owner")
	delete(found, "job")
	one.raw = []byte(text(found))
	one.namespace = pod.Text(pod.Object(found, "metadata"), "namespace")
	return &one
}

// manifestRefused finds the pod for which a rule says that the manifest must be refused: one is enough.
func (r *runner) manifestRefused(in *input, before []any, whole pair) verdict {
	_, ins := takePods(before)
	_, wants := takePods(whole.want.tree)
	for i := range min(len(ins), len(wants)) {
		one := in.inside(ins[i])
		delete(wants[i], "owner")
		p := pair{one, outcome{kind: injected, tree: canonical(wants[i])}, outcome{kind: failed, text: whole.got.text}}
		if v := r.judge(p); v.known != "" && len(v.problems) == 0 {
			return v
		}
	}
	return verdict{problems: whole.compare()}
}

// inject runs the command line as a user would.
func (r *runner) inject(in *input, manifest string) (outcome, error) {
	binary, err := r.command()
	if err != nil {
		return outcome{}, err
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	args, err := in.write(dir)
	if err != nil {
		return outcome{}, err
	}
	cmd := exec.Command(binary, append(args, "-f", manifest)...)
	var out, report bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &report
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return outcome{kind: failed, text: report.String()}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	docs, err := documents(out.Bytes())
	return outcome{kind: done, text: report.String(), tree: docs}, err
}

// write writes the case's configuration into a folder, and gives the arguments that name it.
func (in *input) write(dir string) ([]string, error) {
	s := in.setup()
	files := map[string]string{"config/config": s.config, "values.json": s.values, "mesh.yaml": s.mesh}
	if own := in.ownConfig(s); own != "" {
		files["config/pillion.yaml"] = own
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	native := s.native
	if native == "auto" {
		native = "on"
		for _, n := range in.file.Nodes {
			if istio.OldKubelet(n.KubeletVersion) {
				native = "off"
			}
		}
	}
	args := []string{
		"inject", "--dialect", "istio", "--config", filepath.Join(dir, "config"), "--mesh", filepath.Join(dir, "mesh.yaml"),
		"--values", filepath.Join(dir, "values.json"), "--native", native,
	}
	if in.file.Revision != "" {
		args = append(args, "--revision", in.file.Revision)
	}
	return args, nil
}

// ownConfig is what the original reads from its environment, as our configuration says it; empty where
// there is nothing to say.
func (in *input) ownConfig(s setup) string {
	options := map[string]any{}
	if s.platform != "" {
		options["platform"] = s.platform
	}
	if s.compliance != "" {
		options["compliancePolicy"] = s.compliance
	}
	if env := s.environment(); len(env) > 0 {
		options["env"] = env
	}
	if len(options) == 0 {
		return ""
	}
	return text(map[string]any{
		"apiVersion": "config.pillion.dev/v1alpha1", "kind": "InjectorConfig", "dialect": "istio", "dialectOptions": options,
	})
}

// buildCommand builds the command line into a folder.
func buildCommand(dir string) (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "injector")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/injector")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the command line: %w\n%s", err, out)
	}
	return binary, nil
}
