// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/revision"
	"github.com/pillion-dev/pillion/test/controlplane"
)

// program builds the product once, so that it is never an old one that is tested.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(shared.Dir, "injector")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/injector")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the injector: %w\n%s", err, out)
	}
	return path, nil
})

// injector is a process that serves one revision.
type injector struct {
	revision  string
	mesh      bool   // it speaks the Istio dialect
	account   string // whose rights it has; empty: those of a user with the least ones
	namespace string // whose pods it is asked for
	args      []string

	cmd  *exec.Cmd
	done chan struct{}
	log  string // path

	url, health, metrics string
}

// serve starts the product with no more rights than it needs, waits until the API server calls it,
// and removes it and its webhook configuration with the test. Pods of the namespaces with enrol's
// labels are its own.
func serve(t *testing.T, rev string, args ...string) *injector {
	t.Helper()
	in := &injector{revision: rev}
	in.serve(t, args...)
	return in
}

func (in *injector) serve(t *testing.T, args ...string) {
	t.Helper()
	in.log = filepath.Join(shared.Dir, "injector-"+in.revision+".log")
	in.namespace = namespace(t, in.enrol())
	if in.account == "" {
		bind(t, in.user(), true, in.configuration())
	}
	kubeconfig, err := impersonating(in.user())
	if err != nil {
		t.Fatal(err)
	}
	in.args = append([]string{
		"serve", "--kubeconfig", kubeconfig, "--revision", in.revision, "--registration", "afterReady", "--log-level", "debug",
		"--bind-address", "127.0.0.1", "--port", "0", "--health-port", "0", "--metrics-port", "0", "--drain", "0s",
	}, args...)
	t.Cleanup(func() {
		in.stop(t)
		if err := configurations().Delete(context.Background(), in.configuration(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	in.start(t)
}

// user is whose rights it has.
func (in *injector) user() string { return cmp.Or(in.account, "injector-"+in.revision) }

// enrol is the labels of a namespace whose pods this injector shall see.
func (in *injector) enrol() map[string]string {
	switch {
	case in.mesh:
		return in.meshLabels()
	case in.revision == revision.Default:
		return map[string]string{annotation.Inject: annotation.Enabled}
	}
	return map[string]string{annotation.Revision: in.revision}
}

// configuration is the name of its webhook configuration.
func (in *injector) configuration() string {
	if in.revision == revision.Default {
		return "pillion-injector"
	}
	return "pillion-injector-" + in.revision
}

// start runs the process and waits until a pod of its namespace comes out injected.
func (in *injector) start(t *testing.T) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(in.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in.cmd, in.done = controlplane.Command(path, in.args...), make(chan struct{})
	in.cmd.Stdout, in.cmd.Stderr = log, log
	if err := in.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, done := in.cmd, in.done
	go func() {
		_ = cmd.Wait() // how it ended is asked of its state
		close(done)
	}()
	await(t, "the injector's ports", func() bool {
		if in.ended() {
			t.Fatalf("the injector has ended:\n%s", in.said(t))
		}
		for _, line := range in.lines(t) {
			switch line["msg"] {
			case "listening":
				in.url = line["url"].(string)
			case "probes and metrics":
				in.health, in.metrics = "http://"+line["health"].(string), "http://"+line["metrics"].(string)
			}
		}
		return in.url != "" && in.health != ""
	})
	await(t, "the API server calls the injector", func() bool {
		pod, err := dryRun(t, bare(in.namespace, "asking"))
		return err == nil && (injected(pod) || in.mesh && meshed(pod))
	})
}

func (in *injector) ended() bool {
	select {
	case <-in.done:
		return true
	default:
		return false
	}
}

// kill ends the process as a crash does.
func (in *injector) kill(t *testing.T) {
	t.Helper()
	if err := in.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-in.done
}

// terminate asks the process to end, as the kubelet does.
func (in *injector) terminate(t *testing.T) {
	t.Helper()
	if err := in.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// stop ends the process if it still runs, and sees that it ends well.
func (in *injector) stop(t *testing.T) {
	t.Helper()
	if in.cmd == nil || in.cmd.Process == nil || in.ended() {
		return
	}
	in.terminate(t)
	await(t, "the injector ends", in.ended)
	if code := in.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the injector's exit code is %d", code)
	}
	for _, line := range in.lines(t) {
		if line["msg"] == "draining" && line["for"] != "1ns" {
			t.Errorf("without a drain, it drained for %v", line["for"])
		}
	}
	if t.Failed() {
		t.Logf("the injector's log:\n%s", in.said(t))
	}
}

func (in *injector) said(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(in.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines are the lines of its log so far.
func (in *injector) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(in.said(t)) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil { // the last one may be half written
			out = append(out, fields)
		}
	}
	return out
}

// told counts the lines of its log with a message.
func (in *injector) told(t *testing.T, message string) int {
	t.Helper()
	n := 0
	for _, line := range in.lines(t) {
		if line["msg"] == message {
			n++
		}
	}
	return n
}

// get is a plain GET of one of its ports.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// metric adds up the series of a metric that have all the labels, each written as name="value".
func (in *injector) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	status, body := get(t, in.metrics+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("metrics: HTTP %d", status)
	}
	sum := 0.0
	lines := bufio.NewScanner(strings.NewReader(body))
next:
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue next
			}
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("metric %q: %v", lines.Text(), err)
		}
		sum += n
	}
	return sum
}

// bare is the least pod.
func bare(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}}},
	}
}

func create(t *testing.T, pod *corev1.Pod) (*corev1.Pod, error) {
	return shared.Client().CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
}

func dryRun(t *testing.T, pod *corev1.Pod) (*corev1.Pod, error) {
	return shared.Client().CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// injected tells whether a pod carries the mark of an injection.
func injected(pod *corev1.Pod) bool { return pod.Labels[annotation.Injected] == "true" }
