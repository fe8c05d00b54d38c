// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"crypto/sha256"
	"encoding/binary"
	stdhash "hash"
	"maps"
	"slices"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/render"
)

// key is what an outcome was made from.
type key struct {
	sum  [sha256.Size]byte
	same any

	hide pod.Hidden // what of the pod is not in sum
	in   pod.Doc

	checks, warnings int // of the decision
}

// Inputs are what a dialect's stages depend on beside the pod, its owner, the namespace with its labels and
// annotations, the path, and the decision's reason and templates.
type Inputs struct {
	Hide pod.Hidden // what no template and no stage reads of the pod
	Text string     // further facts
	Same any        // a further input: comparable, and the same as long as it did not change
}

// digest is a hash with its scratch space. It writes parts that cannot run into each other: each with its
// length.
type digest struct {
	stdhash.Hash
	scratch []byte
}

func (d *digest) text(s string) {
	d.scratch = binary.AppendUvarint(d.scratch, uint64(len(s)))
	d.scratch = append(d.scratch, s...)
}

func (d *digest) texts(list []string) {
	d.scratch = binary.AppendUvarint(d.scratch, uint64(len(list)))
	for _, s := range list {
		d.text(s)
	}
}

func (d *digest) labels(m map[string]string) {
	d.scratch = binary.AppendUvarint(d.scratch, uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		d.text(k)
		d.text(m[k])
	}
}

func (d *digest) flag(on bool) {
	d.scratch = append(d.scratch, 0)
	if on {
		d.scratch[len(d.scratch)-1] = 1
	}
}

// keyOf is the key of a result as the decision leaves it; nil where nothing is kept.
func (e *Engine) keyOf(in pod.Doc, f Facts, r *Result, i Inputs) *key {
	if e.outcomes == nil || f.Trace {
		return nil
	}
	d, _ := e.outcomes.digests.Get().(*digest)
	if d == nil {
		d = &digest{Hash: sha256.New()}
	}
	defer e.outcomes.digests.Put(d)
	d.Reset()
	d.scratch = d.scratch[:0]
	d.text(r.Namespace)
	d.text(r.Owner.APIVersion)
	d.text(r.Owner.Kind)
	d.text(r.Owner.Name)
	d.text(f.Path)
	d.labels(f.NamespaceLabels)
	d.labels(f.NamespaceAnnotations)
	d.flag(f.Trusted)
	d.text(r.Decision.Reason.String())
	d.text(r.Decision.DecidedBy)
	d.texts(r.Decision.Templates)
	d.text(i.Text)
	d.Write(d.scratch)
	in.WriteShape(d.Hash, i.Hide)
	k := &key{same: i.Same, hide: i.Hide, in: in, checks: len(r.Decision.Checks), warnings: len(r.Warnings)}
	d.Sum(k.sum[:0])
	return k
}

// inputs are what the stages depend on after the templates were chosen.
func (r *run) inputs() Inputs {
	i := Inputs{Hide: pod.HideAll}
	if _, ok := r.in.Head().Metadata.Annotations[annotation.Status]; ok {
		i.Hide = 0 // a record names items by their keys, whichever those are
	}
	native := make([]byte, 0, 16)
	for _, l := range r.layers {
		i.Hide &= l.template.hides
		native = strconv.AppendBool(native, l.native)
	}
	i.Text = string(native)
	return i
}

// Hides is what of a pod a template does not read, of the values in which replicas differ.
func Hides(t *render.Template) pod.Hidden {
	sees := func(paths ...[]string) bool {
		return slices.ContainsFunc(paths, func(path []string) bool { return t.Sees(path...) })
	}
	meta := func(path ...string) []string { return append([]string{"ObjectMeta"}, path...) }
	spec := func(path ...string) []string { return append([]string{"Spec"}, path...) }
	var out pod.Hidden
	for kind, seen := range map[pod.Hidden]bool{
		pod.HideName:     sees(meta("Name")),
		pod.HideIdentity: sees(meta("UID"), meta("ResourceVersion"), meta("CreationTimestamp"), meta("ManagedFields"), meta("OwnerReferences")),
		pod.HideOrdinal:  slices.ContainsFunc(pod.Ordinals(), func(key string) bool { return sees(meta("Labels", key)) }),
		pod.HideIndex:    sees(meta("Annotations", pod.CompletionIndex)),
		pod.HideHostname: sees(spec("Hostname")),
		pod.HideNode:     sees(spec("Affinity")),
		pod.HideToken: sees(spec("Volumes"), spec("Containers", "VolumeMounts"), spec("InitContainers", "VolumeMounts"),
			spec("EphemeralContainers", "VolumeMounts")),
		pod.HideClaim: sees(spec("Volumes")),
	} {
		if !seen {
			out |= kind
		}
	}
	return out
}
