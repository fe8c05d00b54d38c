// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

// meshExample is the configuration of the cases that bring none of their own.
const meshExample = "../../docs/examples/istio"

// goldenIstio: as goldenInject, in the Istio dialect. What an injection did cannot be undone there:
// the original keeps no way back.
func goldenIstio(t *testing.T, g *golden) {
	in, flags := g.section("in.yaml"), g.flags()
	if !slices.Contains(flags, "--config") {
		flags = append([]string{"--config", meshExample}, flags...)
	}
	goldenManifest(t, g, in, append(flags, "--dialect", "istio"))
}
