// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	patience  = 2 * time.Second // how long a namespace may be on its way to the cache
	maxUnseen = 1024            // beyond, all of them are given their time anew
)

// unseen are the namespaces that the API server knows and the cache does not yet: a pod often comes
// right behind its namespace. The API server is asked to call again, for a while; then the pod is
// judged without the namespace's labels, so that a cache that is cut off stops no pod.
type unseen struct {
	since sync.Map // name to time.Time
	size  atomic.Int64
}

// wait tells whether to ask for another call.
func (u *unseen) wait(namespace string, now time.Time) bool {
	since, known := u.since.LoadOrStore(namespace, now)
	if !known && u.size.Add(1) > maxUnseen {
		u.since.Clear()
		u.size.Store(0)
	}
	waited := now.Sub(since.(time.Time))
	return waited >= 0 && waited < patience
}

// seen forgets a namespace that the cache knows now.
func (u *unseen) seen(namespace string) {
	if u.size.Load() == 0 {
		return
	}
	if _, there := u.since.LoadAndDelete(namespace); there {
		u.size.Add(-1)
	}
}
