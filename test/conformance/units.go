// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// row is one row of a table: a JSON object.
type row []byte

// tables are the runners of the tables, by the names of their files. A row tells what goes into one
// function of the original and what comes out; we have other functions, so most rows run as a pod with
// a template that calls for it.
func tables() map[string]func(row) verdict {
	return map[string]func(row) verdict{
		"append-multus-network":      appendMultusNetwork,
		"deploy-meta":                deployMeta,
		"deploy-meta-cronjob":        deployMetaCronJob,
		"dump-app-probers":           dumpProbes,
		"effective-proxyconfig":      effectiveProxyConfig,
		"inject-required":            injectRequired,
		"merge-or-append-probers":    mergeProbes,
		"omit-nil":                   omitNil,
		"otel-resource-attributes":   otelAttributes,
		"parse-inject-envs":          parsePath,
		"parse-status":               parseStatus,
		"proto-to-json-proxyconfig":  protoToJSON,
		"proxy-image":                proxyImage,
		"rewrite-probes":             rewriteProbes,
		"should-rewrite-probers":     shouldRewrite,
		"validate-annotations":       validateAnnotations,
		"validate-resource-quantity": validateQuantity,
	}
}

func (*runner) unit(table string, one row) verdict {
	run, ok := tables()[table]
	if !ok {
		return problem("no runner for this table")
	}
	return run(one)
}

// read decodes a row; numbers keep their literal where the field is any.
func read[T any](one row) (T, error) {
	var out T
	dec := json.NewDecoder(strings.NewReader(string(one)))
	dec.UseNumber()
	err := dec.Decode(&out)
	return out, err
}

// each reads a row and checks it.
func each[T any](one row, check func(T) []string) verdict {
	in, err := read[T](one)
	if err != nil {
		return problem("the row cannot be read: %v", err)
	}
	return verdict{problems: check(in)}
}

// trial is a pod that is injected by a configuration of ours.
type trial struct {
	template     string         // the one template; empty: nothing at all
	values, mesh map[string]any // empty: none
	injection    map[string]any // further fields of the injection configuration
	pod          map[string]any // metadata and spec; containers are filled in
}

// plainTemplate brings a container that is not the proxy.
const plainTemplate = "spec:\n  containers:\n  - name: extra\n    image: registry.example/extra:1\n"

// proxyTemplate brings a proxy, with which the post-processing has something to do.
const proxyTemplate = "spec:\n  containers:\n  - name: istio-proxy\n    image: registry.example/proxy:1\n"

// says is a template that writes an expression's value into the annotation out, as JSON.
func says(expression string) string {
	return fmt.Sprintf("metadata:\n  annotations:\n    out: {{ toJson (%s) | quote }}\n", expression)
}

// run injects the pod.
func (t trial) run() (outcome, error) {
	conf := map[string]any{"policy": "enabled", "defaultTemplates": []string{"one"}, "templates": map[string]string{"one": t.template}}
	for key, value := range t.injection {
		conf[key] = value
	}
	values := map[string]any{"global": map[string]any{"hub": "registry.example", "tag": "1"}}
	for key, value := range t.values {
		values[key] = value
	}
	s := setup{config: text(conf), values: text(values), native: "off", revision: "default"}
	if len(t.mesh) > 0 {
		s.mesh = text(t.mesh)
	}
	e, err := s.compile(0)
	if err != nil {
		return outcome{}, fmt.Errorf("the configuration does not compile: %w", err)
	}
	spec := pod.Object(t.pod, "spec")
	if len(pod.Items(spec, "containers")) == 0 {
		spec = pod.With(spec, "containers", []any{map[string]any{"name": "app", "image": "registry.example/app:1"}})
	}
	whole := map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": pod.With(pod.Object(t.pod, "metadata"), "managedFields", nil)}
	in := &input{}
	if err := in.object([]byte(text(whole)), pod.Text(pod.Object(whole, "metadata"), "namespace")); err != nil {
		return outcome{}, err
	}
	out, _, problems := once(e, in, inject.Facts{Namespace: in.namespace, Selected: true})
	if len(problems) > 0 {
		return out, fmt.Errorf("%s", problems[0])
	}
	return out, nil
}

// said is the value that the template wrote.
func (t trial) said() (any, error) {
	got, err := t.run()
	if err != nil {
		return nil, err
	}
	tree, _ := got.tree.(map[string]any)
	if tree == nil {
		return nil, fmt.Errorf("%s: %s", got.kind, got.text)
	}
	return decode([]byte(pod.Text(pod.Object(pod.Object(tree, "metadata"), "annotations"), "out")))
}

// wants compares what the template wrote.
func (t trial) wants(want any) []string {
	got, err := t.said()
	if err != nil {
		return []string{err.Error()}
	}
	if want, err = decode([]byte(text(want))); err != nil {
		return []string{err.Error()}
	}
	if g, w := exact(got), exact(want); !reflect.DeepEqual(g, w) {
		return []string{fmt.Sprintf("want %s got %s", brief(w), brief(g))}
	}
	return nil
}

// exact is a value with its numbers in one form, and nothing left out.
func exact(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = exact(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = exact(item)
		}
		return out
	}
	return number(value)
}

// container finds a container of the pod that came out.
func (o outcome) container(called string) map[string]any {
	tree, _ := o.tree.(map[string]any)
	for _, list := range pod.ContainerLists {
		if c := pod.Named(pod.Items(pod.Object(tree, "spec"), list), called); c != nil {
			return c
		}
	}
	return nil
}

// env is the value of an environment variable.
func env(container map[string]any, called string) string {
	return pod.Text(pod.Named(pod.Items(container, "env"), called), "value")
}

// metadata is a pod with labels and annotations.
func metadata(labels, annotations map[string]string) map[string]any {
	meta := map[string]any{}
	for key, m := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		if m != nil {
			meta[key] = m
		}
	}
	// Trees have one type of map.
	out, _ := object([]byte(text(map[string]any{"metadata": meta})))
	return out
}
