// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// newWishes are the containers of a pod that was injected before which its templates bring too, and of
// which neither its record nor its overrides tell: the author's own, on which the templates have a say.
func (r *runner) newWishes(in *input) (names []string) {
	if in.recorded() == nil {
		return nil
	}
	for _, t := range in.selected() {
		one := input{pod: r.alone(in, t)}
		for list, brought := range one.recorded() {
			names = append(names, slices.DeleteFunc(brought, func(called string) bool { return called == proxy || !in.untold(list, called) })...)
		}
	}
	return names
}

// untold tells whether the pod has a container of which neither record nor overrides tell.
func (in *input) untold(list, called string) bool {
	recorded := in.recorded()
	overrides, _ := in.annotations()[overridesKey].(string)
	told, _ := object([]byte(overrides))
	return pod.Named(pod.Items(pod.Object(in.pod, "spec"), list), called) != nil && pod.Named(pod.Items(told, list), called) == nil &&
		!slices.Contains(recorded["containers"], called) && !slices.Contains(recorded["initContainers"], called)
}

func bringsAgain(r *runner, in *input) bool { return len(r.newWishes(in)) > 0 }

// wishesWritten: the author's containers are written down, so that the next call knows what they wished.
func wishesWritten(r *runner, p *pair) error {
	got, _ := p.got.tree.(map[string]any)
	notes := at(got, []string{"metadata", "annotations"})
	said, _ := notes[overridesKey].(string)
	record, err := object([]byte(said))
	if err != nil {
		return fmt.Errorf("the overrides are none: %w", err)
	}
	for _, called := range r.newWishes(p.in) {
		if pod.Named(pod.Items(record, "containers"), called) == nil && pod.Named(pod.Items(record, "initContainers"), called) == nil {
			return fmt.Errorf("the overrides do not tell of %s", called)
		}
	}
	want, _ := p.want.tree.(map[string]any)
	delete(notes, overridesKey)
	delete(at(want, []string{"metadata", "annotations"}), overridesKey)
	return nil
}
