// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/pillion-dev/pillion/pkg/cluster/apply"
)

// nowhere is a cluster whose API server is away.
func nowhere(t *testing.T) *rest.Config {
	t.Helper()
	l := listen(t)
	_ = l.Close()
	return &rest.Config{Host: "http://" + l.Addr().String()}
}

// get is the status of a plain GET.
func get(t *testing.T, transport http.RoundTripper, url string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

// Without an API server a process starts all the same, asks callers to come again, and ends when told
// to; while it drains, its probes are still answered. Without a cluster it answers at once.
func TestManagerWithoutAnAPIServer(t *testing.T) {
	id := newIdentity(t)
	for name, c := range map[string]struct {
		config   *rest.Config
		register *apply.Options
		status   int
	}{
		"away":    {nowhere(t), &apply.Options{Mode: apply.Static, Wanted: noneWanted, CABundle: func() []byte { return []byte("x") }}, http.StatusServiceUnavailable},
		"offline": {nil, nil, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			hooks, probes := listen(t), listen(t)
			o := Options{Config: c.config, Register: c.register, UserAgent: "test", Server: id.options(echo())}
			o.Server.Listener = hooks
			o.Plain = []Plain{{Name: "probes", Listener: probes, Handler: echo()}}
			m, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan time.Time, 1)
			m.Server().after = func(time.Duration) <-chan time.Time { return over }
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- m.Start(ctx) }()

			transport := &http.Transport{TLSClientConfig: id.client(), DisableKeepAlives: true}
			if got := get(t, transport, "https://"+hooks.Addr().String()+"/inject"); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
			if m.Facts().Synced() {
				t.Error("facts without a cluster")
			}
			cancel()
			if got := get(t, transport, "https://"+hooks.Addr().String()+"/inject"); got != c.status {
				t.Errorf("in the drain: status %d, want %d", got, c.status)
			}
			if got := get(t, transport, "http://"+probes.Addr().String()+"/"); got != http.StatusOK {
				t.Errorf("probe in the drain: status %d", got)
			}
			over <- time.Time{}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// The server drains from the moment it is told to stop, however long other parts take to end.
func TestReadinessGoesFirst(t *testing.T) {
	id := newIdentity(t)
	s, err := NewServer(id.options(echo()))
	if err != nil {
		t.Fatal(err)
	}
	drains := make(chan bool)
	s.after = func(time.Duration) <-chan time.Time { close(drains); return nil }
	m := &Manager{server: s, run: func(ctx context.Context) error {
		<-ctx.Done()
		select {
		case <-drains:
			return nil
		case <-time.After(10 * time.Second):
			return errors.New("the server waits for the other parts")
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Start(ctx); err != nil {
		t.Error(err)
	}
}

func noneWanted([]byte) ([]*apply.Configuration, error) { return nil, nil }

func TestOfflineEndsWithItsFirstFailure(t *testing.T) {
	id := newIdentity(t)
	o := Options{Server: id.options(echo())}
	o.Server.Listener = listen(t)
	closed := listen(t)
	_ = closed.Close()
	o.Plain = []Plain{{Name: "probes", Listener: closed, Handler: echo()}}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	m.Server().after = atOnce
	if err := m.Start(t.Context()); err == nil {
		t.Error("a port that fails is not told")
	}
}

func TestNewManagerRefusesNonsense(t *testing.T) {
	id := newIdentity(t)
	for name, o := range map[string]Options{
		"no handler":          {Config: nowhere(t)},
		"no handler, offline": {},
		"offline registrar":   {Server: id.options(echo()), Register: &apply.Options{Mode: apply.Static}},
		"no bundle":           {Config: nowhere(t), Server: id.options(echo()), Register: &apply.Options{Mode: apply.Static}},
		"bad client":          {Config: &rest.Config{Host: "::"}, Server: id.options(echo())},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if _, err := Load(file); err == nil {
		t.Error("a kubeconfig that does not exist was read")
	}
	text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
clusters: [{name: k, cluster: {server: "https://api.example:6443"}}], users: [{name: u, user: {token: t}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := Load(file)
	if err != nil || config.Host != "https://api.example:6443" {
		t.Errorf("%v, %v", config, err)
	}
}
