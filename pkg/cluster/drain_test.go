// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	hammers    = 16
	beforeStop = 50 // requests of each
	afterStop  = 20
)

// The law of the drain: whoever keeps asking while the server stops is answered, every time, and told
// to come back on another connection.
func TestDrainFailsNoRequest(t *testing.T) {
	id := newIdentity(t)
	o := id.options(echo())
	o.Listener = listen(t)
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan time.Time, 1)
	s.after = func(time.Duration) <-chan time.Time { return over }
	stop := start(t, s)

	transport := &http.Transport{TLSClientConfig: id.client(), MaxIdleConnsPerHost: hammers}
	defer transport.CloseIdleConnections()
	var asked, draining sync.WaitGroup
	var closed, kept atomic.Int64
	url := "https://" + o.Listener.Addr().String() + "/inject"
	asked.Add(hammers)
	for range hammers {
		draining.Go(func() {
			for range beforeStop {
				ask(t, s, transport, url, &closed, &kept)
			}
			asked.Done()
			for !s.draining.Load() {
				ask(t, s, transport, url, &closed, &kept)
			}
			for range afterStop {
				ask(t, s, transport, url, &closed, &kept)
			}
		})
	}
	asked.Wait()
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	draining.Wait()
	if s.Ready() {
		t.Error("ready while it drains")
	}
	over <- time.Time{}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", o.Listener.Addr().String()); err == nil {
		t.Error("the port is open after the stop")
	}
	if closed.Load() < hammers*afterStop || kept.Load() < hammers*beforeStop {
		t.Errorf("%d answers closed their connection and %d kept it", closed.Load(), kept.Load())
	}
}

// ask sends one request; one that began during the drain must close its connection.
func ask(t *testing.T, s *Server, transport *http.Transport, url string, closed, kept *atomic.Int64) {
	draining := s.draining.Load()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Error(err)
		return
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Errorf("a request failed: %v", err)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || draining && !response.Close {
		t.Errorf("draining %t: status %d, Connection: close %t", draining, response.StatusCode, response.Close)
	}
	if response.Close {
		closed.Add(1)
		return
	}
	kept.Add(1)
}

// A request that is under way when the port closes is answered, whether it began before the drain or
// in it, and its connection is closed.
func TestRequestUnderWayIsAnswered(t *testing.T) {
	id := newIdentity(t)
	entered, release := make(chan bool, 2), make(chan bool)
	o := id.options(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- true
		<-release
		w.WriteHeader(http.StatusOK)
	}))
	o.Listener = listen(t)
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	over, closing := make(chan time.Time, 1), make(chan bool)
	s.after = func(time.Duration) <-chan time.Time { return over }
	s.http.RegisterOnShutdown(func() { close(closing) })
	stop := start(t, s)

	var closed, kept atomic.Int64
	var asked sync.WaitGroup
	transport := &http.Transport{TLSClientConfig: id.client()}
	url := "https://" + o.Listener.Addr().String() + "/inject"
	asked.Go(func() { ask(t, s, transport, url, &closed, &kept) })
	<-entered
	s.Drain()
	asked.Go(func() { ask(t, s, transport, url, &closed, &kept) })
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	over <- time.Time{}
	<-closing
	close(release)
	asked.Wait()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if closed.Load() != 2 {
		t.Errorf("%d of 2 answers closed their connection", closed.Load())
	}
}

// A handler that never ends holds up the stop for its time, not for ever.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id, l := newIdentity(t), newPipes()
		entered, release := make(chan bool), make(chan bool)
		o := id.options(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-release
		}))
		o.Listener, o.WebhookTimeout = l, 30*time.Second
		s, err := NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.http.TLSConfig.SessionTicketsDisabled = true
		stop := start(t, s)
		conn := l.dial(t, id.client())
		go func() { _, _ = io.WriteString(conn, "GET /inject HTTP/1.1\r\nHost: x\r\n\r\n") }()
		<-entered
		begun := time.Now()
		if err := stop(); err == nil {
			t.Error("a request that was cut off is not told")
		}
		if took := time.Since(begun); took < defaultDrain+30*time.Second || took > s.stopTime() {
			t.Errorf("the stop took %s, of at most %s", took, s.stopTime())
		}
		close(release)
		_ = conn.Close()
	})
}

func TestDrainTwiceIsOnce(t *testing.T) {
	id := newIdentity(t)
	s, err := NewServer(id.options(echo()))
	if err != nil {
		t.Fatal(err)
	}
	drains := 0
	s.after = func(time.Duration) <-chan time.Time { drains++; return nil }
	s.Drain()
	s.Drain()
	if drains != 1 || s.Ready() {
		t.Errorf("%d drains, ready %t", drains, s.Ready())
	}
}
