// SPDX-License-Identifier: Apache-2.0

//go:build race

package render

// raced tells that the race detector is on: it drops pooled memory at random, so allocations cannot be
// counted.
const raced = true
