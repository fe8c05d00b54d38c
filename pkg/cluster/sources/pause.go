// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"time"
)

const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
	healthy    = time.Minute // what lasted this long did not fail
)

// pauses are those between tries: ever longer while the tries fail soon. The zero value begins with
// the shortest.
type pauses struct{ next time.Duration }

// after waits after a try that lasted so long; false tells that the context has ended.
func (p *pauses) after(ctx context.Context, lasted time.Duration) bool {
	if p.next == 0 || lasted >= healthy {
		p.next = firstPause
	}
	pause := p.next
	p.next = min(2*pause, lastPause)
	return sleep(ctx, pause)
}

// sleep is false when the context ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
