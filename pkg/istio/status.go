// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// record writes down what the templates brought, so that a later call, and tools, know it from the
// author's own. The annotations of the configuration come last: they overwrite any other.
func (r *run) record() error {
	metadata := pod.Object(r.After, "metadata")
	labels := pod.Object(metadata, "labels")
	if network := r.env[networkEnv]; network != "" {
		labels[networkKey] = network
	}
	r.withoutLabels(metadata)
	spec := pod.Object(r.written, "spec")
	s := status{
		InitContainers: names(spec, "initContainers"), Containers: names(spec, "containers"),
		Volumes: names(spec, "volumes"), ImagePullSecrets: names(spec, "imagePullSecrets"),
		Revision: r.d.revision,
	}
	if s.Revision == "" {
		s.Revision = "default"
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write %s: %w", statusKey, err)
	}
	annotations := r.annotations()
	annotations[statusKey] = string(text)
	if was, _ := r.annotation(statusKey); sameRecord(was, s) {
		annotations[statusKey] = was
	}
	for key, value := range r.d.config.InjectedAnnotations {
		annotations[key] = value
	}
	return nil
}

// sameRecord tells whether a record holds the same names, in whatever order: a later call, which no longer
// sees where the author's own proxy stood, has no reason to write them anew.
func sameRecord(text string, s status) bool {
	was, ok := parseStatus(text)
	if !ok || was.Revision != s.Revision {
		return false
	}
	same := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return same(was.InitContainers, s.InitContainers) && same(was.Containers, s.Containers) &&
		same(was.Volumes, s.Volumes) && same(was.ImagePullSecrets, s.ImagePullSecrets)
}

// withoutLabels gives the labels back the form in which they came where there are none: an empty object
// would be a change that means nothing.
func (r *run) withoutLabels(metadata map[string]any) {
	came := pod.Object(r.Raw, "metadata")
	if len(pod.Object(metadata, "labels")) > 0 || len(pod.Object(came, "labels")) > 0 {
		return
	}
	delete(metadata, "labels")
	if was, there := came["labels"]; there {
		metadata["labels"] = was
	}
}

// names are those of a list's items in their order; nil for none, which is null in JSON.
func names(spec map[string]any, list string) []string {
	var out []string
	for _, item := range pod.Items(spec, list) {
		m, _ := item.(map[string]any)
		if name := pod.Text(m, "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Injected tells whether a pod's annotations hold the record of an injection in this dialect.
func Injected(annotations map[string]string) bool {
	text, ok := annotations[statusKey]
	if ok {
		_, ok = parseStatus(text)
	}
	return ok
}

// parseStatus reads the record of an earlier injection, whoever wrote it: what is no list of names
// counts as empty. It is false for a text that holds no JSON object.
func parseStatus(text string) (*status, bool) {
	value, err := pod.Decode([]byte(text))
	if err != nil {
		return nil, false
	}
	tree, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	return &status{
		InitContainers: textItems(tree, "initContainers"), Containers: textItems(tree, "containers"),
		Volumes: textItems(tree, "volumes"), ImagePullSecrets: textItems(tree, "imagePullSecrets"),
		Revision: pod.Text(tree, "revision"),
	}, true
}

func textItems(tree map[string]any, key string) []string {
	var out []string
	for _, item := range pod.Items(tree, key) {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
