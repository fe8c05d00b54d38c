// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"testing"
)

// every is the list of paths. The benchmarks take the corpus that CORPUS names; the tests must count the
// same everywhere.
func every(tb testing.TB, corpus string) []path {
	tb.Helper()
	list, err := allPaths(corpus)
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// BenchmarkFloor is what every other time is to be compared with.
func BenchmarkFloor(b *testing.B) {
	p := named(every(b, os.Getenv("CORPUS")), "floor")
	b.ReportAllocs()
	for b.Loop() {
		p.run()
	}
}

func BenchmarkPath(b *testing.B) {
	for _, p := range every(b, os.Getenv("CORPUS")) {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.run()
			}
		})
	}
}
