// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Plain is a small server without TLS, for probes or metrics. It starts first and stops last, so
// that the drain can be watched.
type Plain struct {
	Name     string
	Listener net.Listener
	Handler  http.Handler
}

const (
	plainWriteTimeout = 30 * time.Second
	plainStopTimeout  = 2 * time.Second // a scrape that hangs must not hold up the stop
)

func (p Plain) server(l *slog.Logger) *manager.Server {
	stop := plainStopTimeout
	return &manager.Server{
		Name:            p.Name,
		Listener:        p.Listener,
		ShutdownTimeout: &stop,
		Server: &http.Server{
			Handler:           p.Handler,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       bodyTimeout,
			WriteTimeout:      plainWriteTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			Protocols:         http1(),
			ErrorLog:          log.New(errorLog{l}, "", 0),
		},
	}
}
