// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/overlay"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// finish runs the steps that no template can say.
func (r *run) finish() error {
	r.Hash, r.HashWithoutImages = hash(r.stack), hash(withoutImages(r.stack))
	s := &finish.State{
		Before: r.base, After: r.after, Brought: map[string]bool{},
		Record: finish.Record{
			Decision: "injected", Reason: r.Decision.Reason.String(), Revision: r.engine.options.Revision,
			Templates: r.names(), Hash: r.Hash, HashWithoutImages: r.HashWithoutImages,
		},
		Undo: r.undo, Layers: r.stack, NamespaceLabels: r.facts.NamespaceLabels,
	}
	for name := range r.brought {
		s.Brought[name] = true
	}
	for _, l := range r.layers {
		s.Order = append(s.Order, l.template.order...)
	}
	r.ordered = len(s.Order) == 0 || finish.Ordered(r.raw, s.Brought, s.Order)
	for _, step := range finish.Steps() {
		was := s.After
		if err := step.Run(s); err != nil {
			return err
		}
		if r.facts.Trace && !pod.Equal(was, s.After) {
			r.trace(step.Name, was, s.After)
		}
	}
	r.after = s.After
	r.Warnings = append(r.Warnings, s.Warnings...)
	return nil
}

// undo is the way back, for the status record.
func (r *run) undo(before, after map[string]any) any {
	changes := overlay.Changes(pod.Schema(), before, after)
	if r.claimed != nil {
		r.own = make(map[string]bool, len(changes))
		for _, c := range changes {
			r.own[c.Path] = true
		}
	}
	return overlay.Encode(changes)
}

func (r *run) names() []string {
	out := make([]string, len(r.layers))
	for i, l := range r.layers {
		out[i] = l.template.config.Name
	}
	return out
}

// usual is about the size of what templates bring, in bytes.
const usual = 8 << 10

// hash is 16 hex digits of the SHA-256 of the tree's canonical JSON.
func hash(tree map[string]any) string {
	sum := sha256.Sum256(pod.AppendJSON(make([]byte, 0, usual), tree))
	return hex.EncodeToString(sum[:8])
}

func withoutImages(stack map[string]any) map[string]any {
	spec := maps.Clone(pod.Object(stack, "spec"))
	for _, key := range pod.ContainerLists {
		items := slices.Clone(pod.Items(spec, key))
		for i, item := range items {
			items[i] = pod.With(item.(map[string]any), "image", nil)
		}
		setList(spec, key, items)
	}
	return pod.With(stack, "spec", spec)
}

// present tells whether the pod that came in holds all that it would get, and nothing in the
// injected containers that their templates would not let an author add. The record is believed only
// as far as the pod bears it out: anybody can copy an annotation.
func (r *run) present() bool {
	if !r.peeled || r.record.Hash != r.Hash {
		return false
	}
	if !r.ordered || !covers(r.raw, r.after) {
		return false
	}
	for name, t := range r.brought {
		have, want := r.anywhere(r.raw, name), r.anywhere(r.after, name)
		if have == nil || want == nil {
			return false
		}
		if t.allows(wishes(have, want), r.open(have, want), "") != nil {
			return false
		}
	}
	for _, item := range pod.Items(pod.Object(r.stack, "spec"), "volumes") {
		v := item.(map[string]any)
		if have := pod.Named(pod.Items(pod.Object(r.raw, "spec"), "volumes"), pod.Text(v, "name")); have == nil || !sameVolume(have, v) {
			return false
		}
	}
	return true
}

func (r *run) anywhere(tree map[string]any, name string) map[string]any {
	for _, key := range pod.ContainerLists {
		if c := pod.Named(pod.Items(pod.Object(tree, "spec"), key), name); c != nil {
			return c
		}
	}
	return nil
}
