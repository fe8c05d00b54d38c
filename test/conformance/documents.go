// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"maps"

	"sigs.k8s.io/yaml"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/workload"
)

// documents reads a YAML stream, without the documents that hold nothing.
func documents(raw []byte) ([]any, error) {
	out := []any{}
	for doc := range splitYAML(raw) {
		text, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return nil, err
		}
		value, err := decode(text)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out = append(out, value)
		}
	}
	return out, nil
}

func splitYAML(raw []byte) func(func([]byte) bool) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	return func(yield func([]byte) bool) {
		for {
			doc, err := reader.Read()
			if err != nil || !yield(doc) {
				return
			}
		}
	}
}

// retired tells whether an object is of a version that no API server serves any more.
func retired(apiVersion, kind string) bool {
	stream, err := workload.Read([]byte(text(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "a"}})))
	return err == nil && len(stream.Documents()) == 1 && len(stream.Documents()[0].Retired()) > 0
}

// canonical is a pod in the form that the API server gives it: the original writes it through its types.
func canonical(found map[string]any) any { return pod.Canonical(pod.Schema(), found) }

// said is a document without what the original's types add or leave out when they write it: a status,
// and zero values.
func said(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			n := number(item)
			if k == "status" && v["apiVersion"] != nil || n == false || n == int64(0) {
				continue
			}
			out[k] = said(item)
		}
		return norm(out, "")
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = said(item)
		}
		return out
	}
	return norm(value, "")
}

// takePods takes the pods out of documents: rest is the documents without them. The pod of a CronJob
// comes with the metadata of its Job.
func takePods(value any) (rest any, pods []map[string]any) {
	if list, ok := value.([]any); ok {
		out := make([]any, len(list))
		for i, item := range list {
			var more []map[string]any
			out[i], more = takePods(item)
			pods = append(pods, more...)
		}
		return out, pods
	}
	m, _ := value.(map[string]any)
	if items, ok := m["items"]; ok {
		rest, pods = takePods(items)
		return pod.With(m, "items", rest), pods
	}
	path := []string{"spec", "template"}
	switch m["kind"] {
	case "Pod":
		found := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": m["metadata"], "spec": m["spec"]}
		return pod.With(pod.With(m, "metadata", nil), "spec", nil), []map[string]any{found}
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	}
	rest, found := taken(m, path)
	if found == nil {
		return value, nil
	}
	template := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": found["metadata"], "spec": found["spec"]}
	template["owner"] = pod.Text(m, "apiVersion") + " " + pod.Text(m, "kind")
	if m["kind"] == "CronJob" {
		job, _ := taken(rest.(map[string]any), []string{"spec", "jobTemplate", "metadata"})
		template["job"] = maps.Clone(at(m, []string{"spec", "jobTemplate", "metadata"}))
		rest = job
	}
	return rest, []map[string]any{template}
}

// taken takes the object at a path out of another.
func taken(m map[string]any, path []string) (rest any, found map[string]any) {
	child := pod.Object(m, path[0])
	if child == nil {
		return m, nil
	}
	if len(path) == 1 {
		return pod.With(m, path[0], nil), child
	}
	rest, found = taken(child, path[1:])
	return pod.With(m, path[0], rest), found
}
