// SPDX-License-Identifier: Apache-2.0

//go:build unix

package measure

import (
	"syscall"
	"time"
)

// cpu is the CPU time that all threads of the process have taken.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails for a bad argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
