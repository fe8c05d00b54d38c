// SPDX-License-Identifier: Apache-2.0

//go:build !race

package pod

import (
	"crypto/sha256"
	"testing"
)

// The race detector moves variables to the heap, so allocations are counted without it.
func TestAllocationBudgets(t *testing.T) {
	raw := []byte(deploymentPod)
	if n := testing.AllocsPerRun(100, func() { _, _ = Read(raw) }); n > 7 {
		t.Errorf("Read: %.0f allocations", n)
	}
	for _, pod := range []string{deploymentPod, replica(1)} {
		doc := docOf(t, pod)
		digest := sha256.New()
		if n := testing.AllocsPerRun(100, func() { doc.WriteShape(digest, HideAll) }); n > 0 {
			t.Errorf("WriteShape: %.0f allocations", n)
		}
	}
}
