// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// maxAnnotations is the API server's bound on all annotations of an object together, in bytes.
const maxAnnotations = 256 << 10

// metadata refuses added labels and annotations that the API server would refuse with a message
// that names no template.
func metadata(s *State) error {
	before, after := pod.Object(s.Before, "metadata"), pod.Object(s.After, "metadata")
	was, is := pod.Object(before, "labels"), pod.Object(after, "labels")
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, own := was[key]; own {
			continue
		}
		if fault := labelFault(key, is[key]); fault != "" {
			return refuseLabel("metadata.labels["+key+"]", fault, "shorten the value in the template with labelValue")
		}
	}
	was, is = pod.Object(before, "annotations"), pod.Object(after, "annotations")
	size := 0
	for _, key := range slices.Sorted(maps.Keys(is)) {
		value, _ := is[key].(string)
		size += len(key) + len(value)
		if _, own := was[key]; own {
			continue
		}
		if faults := validation.IsQualifiedName(strings.ToLower(key)); len(faults) > 0 {
			return refuseLabel("metadata.annotations["+key+"]", "the key is not one: "+faults[0], "mend the key in the template")
		}
	}
	if size > maxAnnotations {
		return refuseLabel("metadata.annotations", fmt.Sprintf("%d bytes of annotations, of at most %d", size, maxAnnotations), "shorten the pod's own annotations")
	}
	return nil
}

func labelFault(key string, value any) string {
	if faults := validation.IsQualifiedName(key); len(faults) > 0 {
		return "the key is not one: " + faults[0]
	}
	text, ok := value.(string)
	if !ok {
		return "want a string, got " + pod.Describe(value)
	}
	if faults := validation.IsValidLabelValue(text); len(faults) > 0 {
		return pod.Describe(text) + " is no label value: " + faults[0]
	}
	return ""
}

func refuseLabel(path, detail, hint string) error {
	return &reason.Refusal{Reason: reason.LabelInvalid, Path: path, Detail: detail, Hint: hint}
}
