// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/pillion-dev/pillion/pkg/render"
)

// The bounds of the skeletons that are kept. One takes many times the memory of its key, which the
// annotations of a pod may make long.
const (
	maxSkeletons    = 128
	maxSkeletonKeys = 2 << 20 // bytes, of all keys together
	maxKeysSeen     = 4096
)

// layers reads rendered texts. A text that has come before, but for what fills its holes, is not parsed
// again: for the stock template that saves half of an injection, and two thirds of what it allocates.
type layers struct {
	mu    sync.RWMutex
	known map[string]learnt
	bytes int
	seen  map[uint64]struct{} // hashes of the keys that came once: making a skeleton costs two more parses
	seed  maphash.Seed
	keys  sync.Pool // of *[]byte
}

// learnt is what there is for a key: the widest class of holes for which there is a skeleton, and that
// skeleton where the key is of that class.
type learnt struct {
	widest   class
	skeleton *skeleton
}

func (c *layers) read(name string, r render.Rendered) *layer {
	space, _ := c.keys.Get().(*[]byte)
	if space == nil {
		space = new([]byte)
	}
	defer c.keys.Put(space)
	holes := holesOf(r, lined)
	key := keyWith((*space)[:0], name, r.Text, holes)
	*space = key
	widest := lined
	k, ok := c.find(key)
	if ok && k.widest < lined {
		widest = k.widest
		holes = holesOf(r, k.widest)
		key = keyWith(key[:0], name, r.Text, holes)
		k, ok = c.find(key)
	}
	if ok && k.skeleton != nil {
		if l, ok := k.skeleton.fill(r.Text, holes); ok {
			return l
		}
	}
	l := readLayer(name, r.Text)
	if !ok && l.err == nil && !strings.Contains(r.Text, holeName) && len(key) <= maxSkeletonKeys/8 && c.again(key) {
		c.learn(name, r, l, widest)
	}
	return l
}

func (c *layers) find(key []byte) (learnt, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.known[string(key)]
	return k, ok
}

// again tells whether a key came before.
func (c *layers) again(key []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxKeysSeen {
		c.seen, c.seed = make(map[uint64]struct{}), maphash.MakeSeed()
	}
	hash := maphash.Bytes(c.seed, key)
	_, before := c.seen[hash]
	c.seen[hash] = struct{}{}
	return before
}

// learn makes the skeleton with the widest holes that can be had, from a class on; the last has none.
func (c *layers) learn(name string, r render.Rendered, l *layer, widest class) {
	for ; ; widest-- {
		holes := holesOf(r, widest)
		s := build(l, r.Text, holes)
		if s == nil && widest > solid {
			continue
		}
		c.keep(string(keyWith(nil, name, r.Text, holesOf(r, lined))), learnt{widest: widest})
		c.keep(string(keyWith(nil, name, r.Text, holes)), learnt{widest, s})
		return
	}
}

func (c *layers) keep(key string, k learnt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, again := c.known[key]; !again {
		if c.known == nil || len(c.known) >= maxSkeletons || c.bytes+len(key) > maxSkeletonKeys {
			c.known, c.bytes = make(map[string]learnt), 0
		}
		c.bytes += len(key)
	}
	c.known[key] = k
}
