// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/live"
	"github.com/pillion-dev/pillion/pkg/workload"
)

// objects accepts kind/name beside the flags, and refuses whatever else stands there.
func (f *inputFlags) objects(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if !live.Names(arg) {
			return noArguments(cmd, []string{arg})
		}
	}
	f.refs = args
	return nil
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
	ns, err := fetched("namespace "+f.namespace, func() ([]byte, error) { return reader.Namespace(ctx, f.namespace) })
	if err != nil {
		return nil, err
	}
	ns.around = true
	out = append(out, ns)
	for _, ref := range f.refs {
		one, err := fetched(ref, func() ([]byte, error) { return reader.Object(ctx, ref, f.namespace) })
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func fetched(name string, get func() ([]byte, error)) (input, error) {
	raw, err := get()
	switch {
	case errors.Is(err, live.ErrNotFound):
		return input{}, usage("name its namespace with -n", "%s: %w", name, err)
	case err != nil:
		return input{}, &failure{exitUnreachable, err, "is the cluster up, and may you read the object?"}
	}
	stream, err := workload.Read(raw)
	if err != nil {
		return input{}, usage("", "read %s: %w", name, err)
	}
	return input{name: name, stream: stream}, nil
}
