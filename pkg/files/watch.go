// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// usualInterval is a good deal shorter than the kubelet's own delay of up to a minute.
const usualInterval = 2 * time.Second

// Watched is what to watch.
type Watched struct {
	Path     string
	Interval time.Duration     // between two readings; 0 is two seconds
	Known    map[string][]byte // what the caller has read already, so that no change between is lost
}

// Watch reads a path again and again until the context ends, and calls changed whenever the answer
// is another than last time: other content, an error, or an end of errors. It compares content, so
// it sees a swapped link and a touched file alike for what they are. A file that is read while it
// is being written is told too, and told again when it is whole.
func Watch(ctx context.Context, w Watched, changed func(files map[string][]byte, err error)) {
	interval := w.Interval
	if interval <= 0 {
		interval = usualInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := sum(w.Known, nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		files, err := Read(w.Path)
		if now := sum(files, err); now != last {
			last = now
			changed(files, err)
		}
	}
}

// sum is one number for an answer of Read. Lengths stand before texts, so that no two answers are
// written alike.
func sum(files map[string][]byte, err error) [sha256.Size]byte {
	h := sha256.New()
	write := func(text []byte) {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash takes everything
		_, _ = h.Write(text)
	}
	if err != nil {
		write([]byte(err.Error()))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		write([]byte(name))
		write(files[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}
