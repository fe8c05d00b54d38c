// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/workload"
)

// inputFlags are the flags of every verb that reads manifests.
type inputFlags struct {
	files      []string
	namespace  string
	kubeconfig string
	refs       []string // objects of the cluster, as kind/name
}

func (f *inputFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "manifest: a file, a directory or - for standard input (repeatable)")
	fs.StringVarP(&f.namespace, "namespace", "n", "default", "namespace of objects that name none, and of kind/name")
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig for kind/name (default: KUBECONFIG, or where kubectl looks)")
}

// input is one manifest.
type input struct {
	name   string
	stream *workload.Stream
	around bool // it tells facts only, and is not written
}

// read reads every manifest that -f names.
func (f *inputFlags) read(stdin io.Reader) ([]input, error) {
	if len(f.files) == 0 {
		return nil, usage("name a file, a directory, - for standard input, or an object of the cluster as kind/name", "nothing to read: -f is missing")
	}
	var names []string
	for _, name := range f.files {
		found, err := manifests(name)
		if err != nil {
			return nil, usage("", "%w", err)
		}
		names = append(names, found...)
	}
	var out []input
	for _, name := range names {
		raw, err := readFile(name, stdin)
		if err != nil {
			return nil, usage("", "%w", err)
		}
		if name == "-" {
			name = "standard input"
		}
		stream, err := workload.Read(raw)
		if err != nil {
			return nil, usage("", "read %s: %w", name, err)
		}
		out = append(out, input{name: name, stream: stream})
	}
	return out, nil
}

// manifests are the files behind a name: itself, or those of a directory.
func manifests(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, unread(name, err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, unread(name, err)
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			out = append(out, filepath.Join(name, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no .yaml, .yml or .json file", name)
	}
	return out, nil
}

func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, unread(name, err)
	}
	return raw, nil
}

// unread is the error for a file that cannot be read, in one form whatever call found it out.
func unread(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// subject is one pod of a manifest with the facts around it.
type subject struct {
	pod   *workload.Pod
	doc   pod.Doc
	facts inject.Facts
}

// subjects lists the pods of all inputs. A Namespace document in any of them tells its labels; a
// pod of any other namespace counts as selected.
func (f *inputFlags) subjects(inputs []input) ([]subject, error) {
	namespaces := map[string]workload.Namespace{}
	for _, in := range inputs {
		for name, ns := range in.stream.Namespaces() {
			namespaces[name] = ns
		}
	}
	var out []subject
	for _, in := range inputs {
		for _, p := range in.stream.Pods() {
			doc, err := pod.Parse(p.JSON())
			if err != nil {
				return nil, usage("", "%s: line %d: %s: %w", in.name, p.Line(), p.Object(), err)
			}
			kind, name, namespace := p.Owner()
			if namespace == "" {
				namespace = f.namespace
			}
			ns, known := namespaces[namespace]
			facts := inject.Facts{Namespace: namespace, NamespaceLabels: ns.Labels, NamespaceAnnotations: ns.Annotations, Selected: !known, Trusted: true}
			if !p.Bare() {
				facts.Owner = &inject.Owner{APIVersion: p.APIVersion(), Kind: kind, Name: name}
			}
			out = append(out, subject{p, doc, facts})
		}
	}
	return out, nil
}
