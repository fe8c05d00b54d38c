// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenRoot = "../../test/golden"

// TestGolden runs every golden file through the engine, the HTTP handler and the command line. Each
// directory has its runner; a file that none reads is stale and fails.
func TestGolden(t *testing.T) {
	runners := map[string]func(*testing.T, *golden){"inject": goldenInject, "http": goldenHTTP, "istio": goldenIstio}
	err := filepath.WalkDir(goldenRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(goldenRoot, path)
		runner := runners[filepath.Dir(name)]
		if runner == nil || filepath.Ext(name) != ".txtar" {
			t.Errorf("%s: no test reads this file", name)
			return nil
		}
		t.Run(strings.TrimSuffix(name, ".txtar"), func(t *testing.T) {
			g := openGolden(t, path)
			runner(t, g)
			g.close()
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// golden is one golden file: what goes in, and the sections that must come out.
type golden struct {
	t       *testing.T
	path    string
	dir     string // where the sections are written out
	archive *txtar.Archive
	read    map[string]bool
	want    []txtar.File
}

func openGolden(t *testing.T, path string) *golden {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if reason, _, _ := strings.Cut(string(archive.Comment), "\n"); strings.TrimSpace(reason) == "" {
		t.Fatal("the first line must say what the case shows")
	}
	g := &golden{t: t, path: path, dir: t.TempDir(), archive: archive, read: map[string]bool{}}
	if err := txtar.Write(archive, g.dir); err != nil {
		t.Fatal(err)
	}
	return g
}

// section reads an input section; it may be missing.
func (g *golden) section(name string) []byte {
	for _, f := range g.archive.Files {
		if f.Name == name {
			g.read[name] = true
			return f.Data
		}
	}
	return nil
}

// flags are the engine flags of the case: its configuration, and what its section flags adds.
func (g *golden) flags() []string {
	var out []string
	for _, f := range g.archive.Files {
		if strings.HasPrefix(f.Name, "config/") {
			g.read[f.Name] = true
			out = []string{"--config", filepath.Join(g.dir, "config")}
		}
		if f.Name == "values.yaml" {
			g.read[f.Name] = true
			out = append(out, "--values", filepath.Join(g.dir, f.Name))
		}
	}
	return append(out, strings.Fields(string(g.section("flags")))...)
}

// out notes a section that the case must hold.
func (g *golden) out(name string, data []byte) {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(bytes.Clone(data), '\n')
	}
	g.want = append(g.want, txtar.File{Name: name, Data: data})
}

// close compares, or rewrites, the outcome.
func (g *golden) close() {
	g.t.Helper()
	kept := txtar.Archive{Comment: g.archive.Comment}
	for _, f := range g.archive.Files {
		if g.read[f.Name] {
			kept.Files = append(kept.Files, f)
		}
	}
	kept.Files = append(kept.Files, g.want...)
	want, got := string(txtar.Format(g.archive)), string(txtar.Format(&kept))
	if want == got || g.t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(g.path, []byte(got), 0o644); err != nil {
			g.t.Fatal(err)
		}
		return
	}
	g.t.Errorf("%s (-want +got; make golden accepts it):\n%s", g.path, cmp.Diff(want, got))
}

// goldenInject: in.yaml goes through inject on the command line, every pod of it through the engine
// and the HTTP handler too, and the laws are held to the outcome.
func goldenInject(t *testing.T, g *golden) {
	in := g.section("in.yaml")
	out := goldenManifest(t, g, in, g.flags())
	if out == nil {
		return
	}
	back := command(t, []string{"uninject", "-f", "-"}, out)
	if diff := cmp.Diff(meaning(t, in), meaning(t, []byte(back))); diff != "" {
		t.Errorf("uninject does not give the input back:\n%s", diff)
	}
}

// goldenManifest is what holds in every dialect. It gives the injected manifest, or nothing where
// the case is one of a refusal.
func goldenManifest(t *testing.T, g *golden, in []byte, flags []string) []byte {
	var out, report bytes.Buffer
	args := append([]string{"inject", "-f", "-"}, flags...)
	code := run(t.Context(), args, streams{bytes.NewReader(in), &out, &report})
	text := strings.ReplaceAll(report.String(), g.dir, "$DIR")
	g.out("decision", fmt.Appendf(nil, "%sexit %d\n", text, code))
	if code != exitOK && code != exitFindings && code != exitPartial {
		return nil
	}
	g.engine(in, flags)
	if code != exitOK {
		return nil
	}
	g.out("out.yaml", out.Bytes())
	again := command(t, append([]string{"inject", "-f", "-"}, flags...), out.Bytes())
	if diff := cmp.Diff(out.String(), again); diff != "" {
		t.Errorf("injecting the output changes it:\n%s", diff)
	}
	settledAll(t, engineOf(t, flags), out.Bytes())
	return out.Bytes()
}

// engine runs the engine and the HTTP handler on every pod of the manifest and holds one to the
// other.
func (g *golden) engine(in []byte, args []string) {
	e, subjects := engineOf(g.t, args), subjectsOf(g.t, in)
	g.reuse(subjects, args)
	var patches bytes.Buffer
	for _, one := range subjects {
		r, err := e.Inject(one.doc, one.facts)
		compareHTTP(g.t, e, one, r, err)
		if err != nil || len(r.Patch) == 0 {
			continue
		}
		fmt.Fprintf(&patches, "# %s\n", one.pod.Object())
		for _, op := range r.Patch {
			fmt.Fprintf(&patches, "%s\n", patch.Marshal([]patch.Op{op}))
		}
		holdPatch(g.t, one.doc, r.Patch, r.Tree)
	}
	g.out("patch.json", patches.Bytes())
}

func subjectsOf(t *testing.T, manifest []byte) []subject {
	t.Helper()
	from := inputFlags{files: []string{"-"}, namespace: "default"}
	inputs, err := from.read(bytes.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := from.subjects(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}

func engineOf(t *testing.T, args []string) *inject.Engine {
	t.Helper()
	var flags engineFlags
	cmd := &cobra.Command{}
	flags.add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	e, err := flags.engine(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// holdPatch applies the patch with the library that the API server uses.
func holdPatch(t *testing.T, in pod.Doc, ops []patch.Op, want map[string]any) {
	t.Helper()
	tree, err := pod.Decode(applied6902(t, in.Raw(), patch.Marshal(ops)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(want), tree); diff != "" {
		t.Errorf("the patch makes another pod than the engine:\n%s", diff)
	}
}

func command(t *testing.T, args []string, in []byte) string {
	t.Helper()
	var out, report bytes.Buffer
	if code := run(t.Context(), args, streams{bytes.NewReader(in), &out, &report}); code != exitOK {
		t.Errorf("injector %v: exit %d\n%s", args, code, report.String())
	}
	return out.String()
}

// meaning is the pods of a manifest without what says nothing: nulls, empty maps and empty lists.
func meaning(t *testing.T, manifest []byte) []any {
	t.Helper()
	from := inputFlags{files: []string{"-"}}
	inputs, err := from.read(bytes.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	for _, p := range inputs[0].stream.Pods() {
		var tree any
		if err := json.Unmarshal(p.JSON(), &tree); err != nil {
			t.Fatal(err)
		}
		if meta, ok := tree.(map[string]any)["metadata"].(map[string]any); ok {
			if notes, ok := meta["annotations"].(map[string]any); ok {
				delete(notes, annotation.Status) // a record that was no good is not put back
			}
		}
		out = append(out, dropEmpty(tree))
	}
	return out
}

func dropEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			if item = dropEmpty(item); item == nil && k != "emptyDir" {
				delete(v, k)
				continue
			}
			v[k] = item
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = dropEmpty(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return value
}
