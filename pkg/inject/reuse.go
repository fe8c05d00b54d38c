// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"k8s.io/utils/lru"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Every replica of a workload gets the same patch, and making it is nearly all that an injection costs.
// So the outcomes of the newest injections are kept by the digest of all that they were made from: the
// pod, but for the values in which replicas differ, and the facts. The decision is never kept.

// outcome is what became of a pod after the decision. It holds no part of the pod but what the patch has.
type outcome struct {
	decision  policy.Decision  // as it ended; its Checks and Warnings are those beyond the rules'
	warnings  []reason.Warning // beyond those of the decision
	templates []Applied
	wire      []byte

	hash, withoutImages string

	same any // see Inputs
	size int64
}

// outcomes are the newest ones.
type outcomes struct {
	most    int64 // in bytes; the newest outcome is kept whatever its size
	outcome *lru.Cache
	digests sync.Pool // of *digest

	mu   sync.Mutex // of whoever keeps one; taking one needs only the list's own lock
	size int64
}

// maxKept bounds the number of outcomes: the list has no limit of its own in bytes.
const maxKept = 1 << 20

func newOutcomes(most int64) *outcomes {
	if most <= 0 {
		return nil
	}
	k := &outcomes{most: most}
	k.outcome = lru.NewWithEvictionFunc(maxKept, func(_ lru.Key, value any) {
		k.size -= value.(*outcome).size
	})
	return k
}

// take finishes a result with the outcome of an earlier injection from the same inputs.
func (k *outcomes) take(from *key, r *Result) bool {
	if from == nil {
		return false
	}
	found, ok := k.outcome.Get(from.sum)
	if !ok {
		return false
	}
	o := found.(*outcome)
	if o.same != from.same {
		return false
	}
	d := &r.Decision
	d.Inject, d.Reason, d.DecidedBy, d.Templates = o.decision.Inject, o.decision.Reason, o.decision.DecidedBy, o.decision.Templates
	d.Checks = append(d.Checks, o.decision.Checks...)
	r.Warnings = append(r.Warnings, o.warnings...)
	r.Templates, r.Hash, r.HashWithoutImages = o.templates, o.hash, o.withoutImages
	r.Wire, r.Reused = o.wire, true
	return true
}

// keep puts a result away, where it does not depend on what the key leaves out. layers is all that the
// templates bring.
func (k *outcomes) keep(from *key, r *Result, layers map[string]any) {
	if from == nil {
		return
	}
	if len(r.Patch) > 0 {
		r.Wire = bytes.Clone(patch.AppendJSON(make([]byte, 0, usual), r.Patch))
	}
	warnings := r.Warnings[from.warnings:]
	if !from.blind(r.Wire, warnings, layers) {
		return
	}
	o := &outcome{
		decision: policy.Decision{
			Inject: r.Decision.Inject, Reason: r.Decision.Reason, DecidedBy: r.Decision.DecidedBy,
			Templates: clones(r.Decision.Templates),
		},
		templates: apart(r.Templates), wire: r.Wire, hash: r.Hash, withoutImages: r.HashWithoutImages, same: from.same,
	}
	for _, c := range r.Decision.Checks[from.checks:] {
		o.decision.Checks = append(o.decision.Checks, policy.Check{Name: c.Name, Detail: strings.Clone(c.Detail)})
	}
	for _, w := range warnings {
		w.Path, w.Detail = strings.Clone(w.Path), strings.Clone(w.Detail)
		o.warnings = append(o.warnings, w)
	}
	o.size = o.weight()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.outcome.Remove(from.sum) // one that is only replaced would not be counted off
	k.outcome.Add(from.sum, o)
	for k.size += o.size; k.size > k.most && k.outcome.Len() > 1; {
		k.outcome.RemoveOldest()
	}
}

// apart are the templates without a reference to the pod's bytes, which would keep them alive.
func apart(applied []Applied) []Applied {
	out := slices.Clone(applied)
	for i := range out {
		out[i].Name, out[i].Params = strings.Clone(out[i].Name), slices.Clone(out[i].Params)
		for j, p := range out[i].Params {
			out[i].Params[j].Value = strings.Clone(p.Value)
		}
	}
	return out
}

func clones(texts []string) []string {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return out
}

// weight is roughly the memory that an outcome takes, with its place in the list.
func (o *outcome) weight() int64 {
	const place, each = 512, 64
	n := place + len(o.wire)
	for _, c := range o.decision.Checks {
		n += each + len(c.Name) + len(c.Detail)
	}
	for _, w := range o.warnings {
		n += each + len(w.Path) + len(w.Detail)
	}
	for _, t := range o.templates {
		n += each
		for _, p := range t.Params {
			n += each + len(p.Value)
		}
	}
	return int64(n)
}
