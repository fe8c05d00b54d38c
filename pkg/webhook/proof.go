// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

const (
	sampleEvery = 256  // a patch of a known shape is proved once in as many requests
	maxShapes   = 4096 // beyond, the shapes seen so far are forgotten
)

// Proof says when a patch is proved before it is sent. By default the first of each shape is, then
// one in 256; a single failure makes it every one. Its zero value is ready to use.
type Proof struct {
	Failed func() // told of each failure; may be nil

	prove  func(inject.Result, pod.Doc) error // nil: Result.Prove
	always atomic.Bool
	count  atomic.Uint64
	seen   sync.Map // shape to nothing
	size   atomic.Int64
}

// seed makes the shapes of this process unguessable.
var seed = maphash.MakeSeed()

func (p *Proof) check(e *inject.Engine, doc pod.Doc, r inject.Result) error {
	if !p.due(e, r) {
		return nil
	}
	prove := p.prove
	if prove == nil {
		prove = inject.Result.Prove
	}
	err := prove(r, doc)
	if err != nil {
		p.always.Store(true)
		if p.Failed != nil {
			p.Failed()
		}
	}
	return err
}

func (p *Proof) due(e *inject.Engine, r inject.Result) bool {
	if p.always.Load() || e.Config().Proof == "always" {
		return true
	}
	if p.count.Add(1)%sampleEvery == 0 {
		return true
	}
	if r.Reused {
		return false // it was proved when it was made
	}
	shape := shapeOf(r)
	if _, known := p.seen.Load(shape); known {
		return false
	}
	if p.size.Add(1) > maxShapes {
		p.seen.Clear()
		p.size.Store(1)
	}
	p.seen.Store(shape, struct{}{})
	return true
}

// shapeOf is a patch without its values, of what a template rendered: what may make a patch fail to
// apply is where it points.
func shapeOf(r inject.Result) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(r.Hash)
	for _, op := range r.Patch {
		h.WriteString(op.Op)
		h.WriteString(op.Path)
		h.WriteByte(0)
	}
	return h.Sum64()
}
