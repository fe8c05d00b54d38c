// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/pillion-dev/pillion/pkg/patch"
)

// served is an injector that serves in this process, and its log.
type served struct {
	t                        *testing.T
	webhook, health, metrics string // addresses
	lines                    chan string
	line                     string // of the log, that was read last
	stop                     context.CancelFunc
	code                     chan int
}

// serveOffline runs serve until the test ends or stops it, and waits until it serves.
func serveOffline(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	log, sink := io.Pipe()
	s := &served{t: t, lines: make(chan string, 1000), stop: stop, code: make(chan int, 1)}
	args = append([]string{"serve", "--offline", "--bind-address", "127.0.0.1", "--port", "0", "--health-port", "0", "--metrics-port", "0", "--drain", "1ms"}, args...)
	go func() {
		s.code <- run(ctx, args, streams{strings.NewReader(""), io.Discard, sink})
		sink.Close()
	}()
	go func() {
		defer close(s.lines)
		for scan := bufio.NewScanner(log); scan.Scan(); {
			s.lines <- scan.Text()
		}
	}()
	t.Cleanup(func() {
		stop()
		for range s.lines { // until run has returned
		}
	})
	s.health, s.metrics = s.wait("probes and metrics", "health"), s.last("metrics")
	s.webhook = s.wait("listening", "webhook")
	s.wait("serving webhooks", "address")
	return s
}

// wait reads the log up to a message and returns one of its values.
func (s *served) wait(message, key string) string {
	s.t.Helper()
	for s.line = range s.lines {
		if s.last("msg") == message {
			return s.last(key)
		}
	}
	s.t.Fatalf("the log ends without %q", message)
	return ""
}

// last is a value of the line of the log that was read last.
func (s *served) last(key string) string {
	s.t.Helper()
	var line map[string]any
	if err := json.Unmarshal([]byte(s.line), &line); err != nil {
		s.t.Fatalf("%s: %v", s.line, err)
	}
	value, _ := line[key].(string)
	return value
}

func (s *served) get(url string) (int, string) {
	s.t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// review posts a pod, and gives the answer and the names of the certificate.
func (s *served) review(pod string) (*admissionv1.AdmissionResponse, []string) {
	s.t.Helper()
	body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","namespace":"shop",
"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},"object":` + pod + `}}`
	// Offline nobody hands out the CA; whom the certificate vouches for is looked at below.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post("https://"+s.webhook+"/inject?timeout=5s", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&review); err != nil || review.Response == nil {
		s.t.Fatalf("HTTP %d: %v", resp.StatusCode, err)
	}
	if resp.TLS.Version != tls.VersionTLS13 {
		s.t.Errorf("it speaks %s", tls.VersionName(resp.TLS.Version))
	}
	return review.Response, resp.TLS.PeerCertificates[0].DNSNames
}

const plainPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"app","image":"registry.example/app:1"}]}}`

func TestServeOffline(t *testing.T) {
	s := serveOffline(t)
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n"} {
		if code, body := s.get("http://" + s.health + path); code != http.StatusOK || body != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	response, names := s.review(plainPod)
	if !response.Allowed || !bytes.Contains(response.Patch, []byte("fluent-bit")) {
		t.Errorf("the answer is %+v", response)
	}
	if want := []string{"injector.pillion-system.svc", "injector.pillion-system.svc.cluster.local", "localhost"}; !slices.Equal(want, names) {
		t.Errorf("the certificate is for %s", names)
	}
	want := `injector_admission_requests_total{decision="injected",dry_run="false",operation="CREATE",reason="policy_enabled",revision="default",webhook="inject"} 1`
	if _, body := s.get("http://" + s.metrics + "/metrics"); !strings.Contains(body, want) {
		t.Errorf("the metrics lack %s:\n%s", want, body)
	}
	s.stop()
	s.wait("stopped", "")
	if code := <-s.code; code != exitOK {
		t.Errorf("exit %d", code)
	}
}

// TestServeSameAsInject holds the patch over the wire to what inject writes for the same flags.
func TestServeSameAsInject(t *testing.T) {
	flags := []string{"--config", filepath.Join(examples, "config"), "--revision", "canary", "--native", "off"}
	s := serveOffline(t, flags...)
	response, names := s.review(plainPod)
	if !slices.Contains(names, "injector-canary.pillion-system.svc") {
		t.Errorf("the certificate is for %s", names)
	}
	var ops []patch.Op
	if err := json.Unmarshal(response.Patch, &ops); err != nil {
		t.Fatal(err)
	}
	var pod, want any
	if err := json.Unmarshal([]byte(plainPod), &pod); err != nil {
		t.Fatal(err)
	}
	got, err := patch.Apply(pod, ops)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(command(t, append([]string{"inject", "-n", "shop", "-f", "-"}, flags...), []byte(plainPod))), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inject and serve differ (-inject +serve):\n%s", diff)
	}
}

// TestServeReload puts a bad configuration in place of a good one, and then a better one.
func TestServeReload(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		temp := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, filepath.Join(dir, "config.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	template := func(name string) string {
		return configHead + "defaultTemplates: [a]\ntemplates:\n- name: a\n  text: |\n    spec: {containers: [{name: " + name + ", image: \"registry.example/a:1\"}]}\n"
	}
	write(template("first"))
	s := serveOffline(t, "--config", dir)
	write(template("first") + "polcy: enabled\n")
	if why := s.wait("the new configuration cannot be used; the old one stays in force", "error"); !strings.Contains(why, "polcy: unknown field") {
		t.Errorf("the log says %s", why)
	}
	if hint := s.last("hint"); hint != "did you mean policy?" {
		t.Errorf("the log gives the hint %q", hint)
	}
	if response, _ := s.review(plainPod); !bytes.Contains(response.Patch, []byte("first")) {
		t.Errorf("the old configuration is not in force: %s", response.Patch)
	}
	if _, body := s.get("http://" + s.metrics + "/metrics"); !strings.Contains(body, "\ninjector_config_last_reload_successful 0\n") {
		t.Error("the metrics do not tell of the bad configuration")
	}
	write(template("second"))
	s.wait("configuration in force", "hash")
	if response, _ := s.review(plainPod); !bytes.Contains(response.Patch, []byte("second")) {
		t.Errorf("the new configuration is not in force: %s", response.Patch)
	}
	if _, body := s.get("http://" + s.metrics + "/metrics"); !strings.Contains(body, "\ninjector_config_last_reload_successful 1\n") {
		t.Error("the metrics do not tell of the good configuration")
	}
}
