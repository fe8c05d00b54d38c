// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/live"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/workload"
)

// objects accepts kind/name beside the flags, and refuses whatever else stands there.
func (f *inputFlags) objects(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		switch hint := objectHint(arg); {
		case live.Names(arg):
		case hint != "":
			return usage(hint, "%s takes no argument %q", cmd.Name(), arg)
		default:
			return noArguments(cmd, []string{arg})
		}
	}
	f.refs = args
	return nil
}

// kinds are those of which a cluster can be asked, by one name each.
var kinds = []string{"cronjob", "daemonset", "deployment", "job", "pod", "replicaset", "replicationcontroller", "statefulset"}

// objectHint is the hint for a word that names no object of a cluster. It is empty for what looks
// like a manifest.
func objectHint(word string) string {
	if _, err := os.Stat(word); err == nil || filepath.Ext(word) != "" {
		return ""
	}
	kind, name, cut := strings.Cut(word, "/")
	if near := reason.Nearest(strings.ToLower(kind), kinds); cut && near != "" {
		return fmt.Sprintf("did you mean %s/%s?", near, name)
	}
	return "name a manifest with -f, or an object of the cluster as KIND/NAME, where KIND is " + choice(kinds)
}

// load reads every manifest that -f names and every object that the command line names.
func (f *inputFlags) load(ctx context.Context, stdin io.Reader) ([]input, error) {
	if len(f.refs) == 0 {
		return f.read(stdin)
	}
	var out []input
	if len(f.files) > 0 {
		var err error
		if out, err = f.read(stdin); err != nil {
			return nil, err
		}
	}
	config, err := cluster.Load(f.kubeconfig)
	if err != nil {
		return nil, &failure{exitUnreachable, err, "name a kubeconfig with --kubeconfig"}
	}
	reader, err := live.New(config)
	if err != nil {
		return nil, &failure{exitUnreachable, err, ""}
	}
	ns, err := f.fetched("namespace "+f.namespace, func() ([]byte, error) { return reader.Namespace(ctx, f.namespace) })
	if err != nil {
		return nil, err
	}
	ns.around = true
	out = append(out, ns)
	for _, ref := range f.refs {
		one, err := f.fetched(ref, func() ([]byte, error) { return reader.Object(ctx, ref, f.namespace) })
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (f *inputFlags) fetched(name string, get func() ([]byte, error)) (input, error) {
	raw, err := get()
	switch {
	case errors.Is(err, live.ErrNotFound):
		return input{}, usage(fmt.Sprintf("namespace %s was asked for; -n names another", f.namespace), "%s: %w", name, err)
	case err != nil:
		return input{}, &failure{exitUnreachable, err, "is the cluster up, and may you read the object?"}
	}
	stream, err := workload.Read(raw)
	if err != nil {
		return input{}, usage("", "read %s: %w", name, err)
	}
	return input{name: name, stream: stream}, nil
}
