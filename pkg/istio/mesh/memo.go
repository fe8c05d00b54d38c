// SPDX-License-Identifier: Apache-2.0

package mesh

import "sync"

// The bounds of a memo. What is beyond them is worked out again.
const (
	maxEntries = 1024
	maxCost    = 1 << 20
)

// memo keeps results that are costly to make. When it is full it starts anew.
type memo[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]V
	cost    int
}

func (m *memo[K, V]) get(key K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.entries[key]
	return v, ok
}

// put keeps a result, of so many bytes, and returns what is kept: of two that were made at once, the
// first.
func (m *memo[K, V]) put(key K, v V, cost int) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.entries[key]; ok {
		return first
	}
	if m.entries == nil || len(m.entries) >= maxEntries || m.cost+cost > maxCost {
		m.entries, m.cost = make(map[K]V), 0
	}
	m.entries[key] = v
	m.cost += cost
	return v
}
