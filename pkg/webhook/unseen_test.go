// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
)

// arriving is a cache into which namespaces come one by one.
type arriving map[string]map[string]string

func (a arriving) Namespace(name string) (labels, annotations map[string]string, known bool) {
	labels, known = a[name]
	return labels, nil, known
}

func (arriving) OldNodes() []inject.Node { return nil }

func (arriving) NodeKnown(string) bool { return false }

// A pod that comes right behind its namespace is asked to come again, until the cache has the
// namespace; one whose namespace never comes is judged without it.
func TestUnseenNamespaceIsWaitedFor(t *testing.T) {
	now := time.Unix(1000, 0)
	cache := arriving{}
	m := testMutator(testEngine(t, testConfig), cache)
	m.Now = func() time.Time { return now }
	ask := func(namespace string) error {
		_, err := m.Review(t.Context(), create(namespace, plainPod))
		return err
	}
	if err := ask("new"); !errors.Is(err, admission.ErrNotReady) {
		t.Errorf("at once: got %v", err)
	}
	now = now.Add(time.Second)
	if err := ask("new"); !errors.Is(err, admission.ErrNotReady) {
		t.Errorf("after a second: got %v", err)
	}
	if err := ask("other"); !errors.Is(err, admission.ErrNotReady) {
		t.Errorf("another one has its own time: got %v", err)
	}
	now = now.Add(time.Second)
	if err := ask("new"); err != nil {
		t.Errorf("after two seconds: got %v", err)
	}
	cache["other"] = map[string]string{"pillion.dev/inject": "disabled"}
	if err := ask("other"); err != nil {
		t.Errorf("seen: got %v", err)
	}
	now = now.Add(-time.Hour)
	if err := ask("new"); err != nil {
		t.Errorf("a clock that jumps back makes nobody wait: got %v", err)
	}
}

func TestUnseenIsBounded(t *testing.T) {
	var u unseen
	for i := range 10 * maxUnseen {
		u.wait(fmt.Sprint("namespace-", i), time.Unix(0, 0))
	}
	n := 0
	u.since.Range(func(any, any) bool { n++; return true })
	if n > maxUnseen {
		t.Errorf("%d namespaces are remembered", n)
	}
	u.seen("none of them")
}
