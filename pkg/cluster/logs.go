// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"log/slog"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// RouteLogs sends what client-go and controller-runtime have to say to a handler of ours. It sets
// the loggers of the whole process, so a program calls it once, before New.
func RouteLogs(h slog.Handler) {
	klog.SetSlogLogger(slog.New(h))
	ctrllog.SetLogger(logr.FromSlogHandler(h))
}

// errorLog takes net/http's complaints. Most are about a client that hung up in a handshake, as
// port scanners and probes do; anything else is a fault of ours.
type errorLog struct{ log *slog.Logger }

const maxComplaint = 8 << 10

func (l errorLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line[:min(len(line), maxComplaint)]))
	if strings.HasPrefix(text, "http: panic") {
		l.log.Error("panic while serving", "error", text)
		return len(line), nil
	}
	l.log.Debug("connection failed", "error", text)
	return len(line), nil
}
