// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/sources"
	"github.com/pillion-dev/pillion/pkg/files"
	"github.com/pillion-dev/pillion/templates"
)

// texts are the texts of a configuration, by the plain names of their files or the keys of their
// ConfigMap.
type texts struct {
	config map[string][]byte
	mesh   map[string][]byte // nil: beside the configuration
}

// refPrefix begins a place in the cluster, as kubectl names an object: configmap/NAMESPACE/NAME.
const refPrefix = "configmap/"

// refOf is the ConfigMap that a flag names; nil where it names a path.
func refOf(flag, place string) (*sources.Ref, error) {
	rest, ok := strings.CutPrefix(place, refPrefix)
	if !ok {
		return nil, nil
	}
	ref, err := sources.ParseRef(rest)
	if err != nil {
		return nil, usage("write it as configmap/NAMESPACE/NAME", "--%s: %w", flag, err)
	}
	return &ref, nil
}

// refs are the ConfigMaps that hold the configuration and the mesh configuration, in this order; nil
// for what is not in the cluster.
func (f *engineFlags) refs() (config, mesh *sources.Ref, err error) {
	if config, err = refOf("config", f.config); err != nil {
		return nil, nil, err
	}
	mesh, err = refOf(meshFlag, f.mesh)
	return config, mesh, err
}

// read reads all texts of the configuration, wherever they are. With no --config they are the
// embedded ones.
func (f *engineFlags) read(ctx context.Context) (texts, error) {
	config, mesh, err := f.refs()
	if err != nil {
		return texts{}, err
	}
	var t texts
	if config == nil {
		if t.config, err = readConfig(f.config); err != nil {
			return t, err
		}
	}
	if mesh == nil && f.mesh != "" {
		if t.mesh, err = files.Read(f.mesh); err != nil {
			return t, usage("name a file, or a ConfigMap manifest with the key mesh", "--mesh: %w", err)
		}
	}
	all, err := f.fetch(ctx, config, mesh)
	if err != nil {
		return t, err
	}
	return t, t.take(all, config, mesh)
}

// fetch reads the ConfigMaps once.
func (f *engineFlags) fetch(ctx context.Context, refs ...*sources.Ref) (map[sources.Ref]sources.ConfigMap, error) {
	var wanted []sources.Ref
	for _, ref := range refs {
		if ref != nil {
			wanted = append(wanted, *ref)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	kubeconfig := ""
	if f.kubeconfig != nil {
		kubeconfig = *f.kubeconfig
	}
	config, err := cluster.Load(kubeconfig)
	if err != nil {
		return nil, &failure{exitUnreachable, err, "name a kubeconfig with --kubeconfig"}
	}
	all, err := sources.GetConfigMaps(ctx, config, wanted)
	if err != nil {
		return nil, &failure{exitUnreachable, err, "is the cluster up, and may you read the ConfigMap?"}
	}
	return all, nil
}

// take puts the texts of ConfigMaps in their places. One that is missing is an error: what was in
// force stays so.
func (t *texts) take(all map[sources.Ref]sources.ConfigMap, config, mesh *sources.Ref) error {
	for _, part := range []struct {
		into *map[string][]byte
		ref  *sources.Ref
	}{{&t.config, config}, {&t.mesh, mesh}} {
		if part.ref == nil {
			continue
		}
		found := all[*part.ref]
		if !found.Found {
			return usage("make it, or name another", "there is no ConfigMap %s", part.ref)
		}
		*part.into = found.Data
	}
	return nil
}

// readConfig reads the files of a configuration; without a path, those of the embedded one.
func readConfig(path string) (map[string][]byte, error) {
	if path == "" {
		return templates.Files(), nil
	}
	read, err := files.Read(path)
	if err != nil {
		return nil, usage("name a file, a directory, a ConfigMap manifest, or configmap/NAMESPACE/NAME", "--config: %w", err)
	}
	return read, nil
}

// hash tells one set of texts from another, in 12 hex digits.
func (t texts) hash() string {
	all := map[string][]byte{}
	for prefix, part := range map[string]map[string][]byte{"config": t.config, "mesh": t.mesh} {
		for name, body := range part {
			all[fmt.Sprintf("%s/%s", prefix, name)] = body
		}
	}
	return hashOf(all)
}
