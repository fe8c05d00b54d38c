// SPDX-License-Identifier: Apache-2.0

// Package reuse holds a law: what becomes of a pod is the same, to the byte, whether finished injections are
// kept for pods of the same shape or not, and however many.
package reuse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// sizes are the bytes that finished injections may take: exactly the newest one, a few, and all.
var sizes = []int64{1, 64 << 10, 64 << 20}

// A Law holds engines of one configuration, which keep more or less, to one that keeps nothing.
type Law struct {
	plain   *inject.Engine
	keeping []*inject.Engine
	reused  atomic.Int64
}

// New compiles the engines.
func New(compile func(reuse int64) (*inject.Engine, error)) (*Law, error) {
	plain, err := compile(0)
	if err != nil {
		return nil, err
	}
	l := &Law{plain: plain}
	for _, size := range sizes {
		e, err := compile(size)
		if err != nil {
			return nil, err
		}
		l.keeping = append(l.keeping, e)
	}
	return l, nil
}

// Engines are those that keep something.
func (l *Law) Engines() []*inject.Engine { return slices.Clone(l.keeping) }

// Reused is how many pods took the outcome of an earlier one so far.
func (l *Law) Reused() int { return int(l.reused.Load()) }

// Hold gives every engine the pod, and tells where an outcome differs from that of the engine that keeps
// nothing, which it gives too.
func (l *Law) Hold(raw []byte, f inject.Facts) (inject.Result, error) {
	want, wantErr := once(l.plain, raw, f)
	told := outcome(want, wantErr)
	for i, e := range l.keeping {
		got, err := once(e, raw, f)
		if also := outcome(got, err); also != told {
			return want, fmt.Errorf("with %d bytes to keep outcomes (reused: %t), the pod ends otherwise%s", sizes[i], got.Reused, apart(told, also))
		}
		if !got.Reused || len(got.JSON()) == 0 {
			continue
		}
		l.reused.Add(1)
		if err := proved(want, got, raw); err != nil {
			return want, err
		}
	}
	return want, nil
}

// once gives an engine the pod as the webhook does, which knows that it is one JSON value.
func once(e *inject.Engine, raw []byte, f inject.Facts) (inject.Result, error) {
	if _, err := pod.Parse(raw); err != nil {
		return inject.Result{}, err
	}
	doc, err := pod.Read(slices.Clone(raw))
	if err != nil {
		return inject.Result{}, err
	}
	return e.Inject(doc, f)
}

// proved fails where the proof of a reused patch ends otherwise than that of the patch itself.
func proved(want, got inject.Result, raw []byte) error {
	doc, err := pod.Read(raw)
	if err != nil {
		return err
	}
	if a, b := want.Prove(doc), got.Prove(doc); (a == nil) != (b == nil) {
		return fmt.Errorf("the proof of the patch says %v, that of the reused one %v", a, b)
	}
	return nil
}

// outcome is all of a result that goes out, as text.
func outcome(r inject.Result, err error) string {
	text := ""
	if err != nil {
		text = err.Error()
	}
	rest, broken := json.Marshal([]any{r.Warnings, r.Templates, r.Owner, r.Namespace, r.Hash, r.HashWithoutImages})
	if broken != nil {
		return broken.Error()
	}
	return fmt.Sprintf("error %q\n%#v\n%s\n%s", text, r.Decision, r.JSON(), rest)
}

// apart shows the first place where two texts differ.
func apart(want, got string) string {
	const before, after = 60, 160
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	part := func(s string) string {
		return strings.ToValidUTF8(s[max(0, at-before):min(len(s), at+after)], "?")
	}
	return fmt.Sprintf(":\nwant …%s…\n got …%s…", part(want), part(got))
}
