// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// selected are the names of the templates that the pod, else the configuration, asks for, whether
// they exist or not. An alias stands for its list; the names in it are no aliases.
func (d *dialect) selected(head *pod.Head) []string {
	names := d.config.DefaultTemplates
	if text, ok := head.Metadata.Annotations[templatesKey]; ok {
		names = strings.Split(text, ",")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		if to, ok := d.config.Aliases[name]; ok {
			out = append(out, to...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// chosen are the names of the templates to apply, in order. A name that is asked for twice is applied
// twice.
func (r *run) chosen() ([]string, error) {
	names := r.d.selected(r.head)
	for _, name := range names {
		if _, ok := r.d.templates[name]; !ok {
			return nil, r.unknownTemplate(name)
		}
	}
	return names, nil
}

func (r *run) unknownTemplate(name string) error {
	refusal := &reason.Refusal{
		Reason: reason.UnknownTemplate,
		Detail: fmt.Sprintf("there is no template %s", quoted(name)),
		Hint:   r.d.knownTemplates(name),
	}
	if _, ok := r.annotation(templatesKey); ok {
		refusal.Path = PodAnnotation.path(templatesKey)
	}
	return refusal
}
