// SPDX-License-Identifier: Apache-2.0

// Command demo shows the main job on a real control plane: it starts one on loopback, serves the
// injector beside it, creates a Deployment, and shows its pod as it was asked for and as it is.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pillion-dev/pillion/test/controlplane"
)

const binary = "bin/injector"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo: error:", err)
		os.Exit(1)
	}
}

// demo is what the steps share.
type demo struct {
	ctx context.Context
	cp  *controlplane.ControlPlane
	dir string

	begin time.Time
}

func run(ctx context.Context) (err error) {
	begin := time.Now()
	dir, err := os.MkdirTemp("", "pillion-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	say("A control plane on loopback: etcd, kube-apiserver, kube-controller-manager")
	cp, err := controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(dir, "control-plane"), ControllerManager: true,
		Logf: func(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	d := &demo{ctx, cp, dir, begin}
	stop, err := d.serve()
	if err != nil {
		return err
	}
	defer stop()
	for _, step := range []func() error{d.inject, d.skip, d.explain, d.keep} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf("\n== "+format+"\n", args...) }

// serve starts the injector and waits until the API server calls it.
func (d *demo) serve() (stop func(), err error) {
	args := []string{
		"serve", "--kubeconfig", d.cp.Kubeconfig, "--bind-address", "127.0.0.1", "--port", "0", "--health-port", "0", "--metrics-port", "0",
		"--registration", "afterReady", "--drain", "1s",
	}
	say("The injector: injector %s", strings.Join(args, " "))
	log, err := os.Create(filepath.Join(d.dir, "injector.log"))
	if err != nil {
		return nil, err
	}
	cmd := controlplane.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w; make build makes it", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log tells how it ended
		close(ended)
	}()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
		_ = log.Close()
	}
	if err := d.called(ended); err != nil {
		stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w; the injector says:\n%s", err, text)
	}
	fmt.Println("  registered: the API server now calls it for labelled namespaces and pods")
	return stop, nil
}

// called waits until the API server calls the injector, which is a moment after its webhook
// configuration was written: a pod that is only asked about comes back with the mark.
func (d *demo) called(ended <-chan struct{}) error {
	return d.until("a call of the webhook", func() (bool, error) {
		select {
		case <-ended:
			return false, errors.New("the injector has ended")
		default:
		}
		out, err := d.kubectl(trial, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.metadata.labels}")
		return err == nil && strings.Contains(out, "pillion.dev/injected"), nil
	})
}

// until asks again until the answer is yes, for at most a minute.
func (d *demo) until(what string, ask func() (bool, error)) error {
	deadline := time.Now().Add(time.Minute)
	for {
		yes, err := ask()
		if yes || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s did not come within a minute", what)
		}
		select {
		case <-d.ctx.Done():
			return d.ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const trial = `apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: default, labels: {pillion.dev/inject: enabled}}
spec: {containers: [{name: app, image: "registry.example/app:1"}]}
`

const namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {pillion.dev/inject: enabled}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {logs.pillion.dev/memory: 96Mi}
    spec:
      containers:
      - name: web
        image: registry.example/web:1
`

const hostPod = `apiVersion: v1
kind: Pod
metadata: {name: node-tool, namespace: shop}
spec:
  hostNetwork: true
  containers:
  - name: tool
    image: registry.example/tool:1
`

const containers = `{range .metadata.labels.pillion\.dev/injected}    label           pillion.dev/injected={@}{"\n"}{end}` +
	`{range .spec.initContainers[*]}    init container  {.name}  {.image}  restartPolicy={.restartPolicy}{"\n"}{end}` +
	`{range .spec.containers[*]}    container       {.name}  {.image}{"\n"}{end}` +
	`{range .spec.volumes[*]}    volume          {.name}{"\n"}{end}`

func (d *demo) inject() error {
	say("A namespace with the label, and a Deployment as its author wrote it")
	fmt.Print(indent(namespace + "---\n" + deployment))
	if _, err := d.kubectl(namespace+"---\n"+deployment, "apply", "-f", "-"); err != nil {
		return err
	}
	var pod string
	err := d.until("the Deployment's pod", func() (bool, error) {
		var err error
		pod, err = d.kubectl("", "get", "pods", "-n", "shop", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}")
		return pod != "", err
	})
	if err != nil {
		return err
	}
	say("Its pod, read back from the API server: kubectl get pod %s -n shop", pod)
	out, err := d.kubectl("", "get", "pod", pod, "-n", "shop", "-o", "jsonpath="+containers)
	if err != nil {
		return err
	}
	fmt.Print(out)
	if !strings.Contains(out, "fluent-bit") {
		return fmt.Errorf("pod %s has no sidecar", pod)
	}
	memory, err := d.kubectl("", "get", "pod", pod, "-n", "shop", "-o", `jsonpath={.spec.initContainers[?(@.name=="fluent-bit")].resources}`)
	if err != nil {
		return err
	}
	fmt.Printf("    its resources, with the annotation's 96Mi: %s\n", memory)
	if !strings.Contains(memory, "96Mi") {
		return errors.New("the annotation had no effect")
	}
	return nil
}

func (d *demo) skip() error {
	say("A pod on the node's network is left alone")
	if _, err := d.kubectl(hostPod, "apply", "-f", "-"); err != nil {
		return err
	}
	out, err := d.kubectl("", "get", "pod", "node-tool", "-n", "shop", "-o", "jsonpath="+containers)
	if err != nil {
		return err
	}
	fmt.Print(out)
	if strings.Contains(out, "fluent-bit") {
		return errors.New("the host-network pod was injected")
	}
	return nil
}

func (d *demo) explain() error {
	say("Why: injector explain")
	cmd := exec.CommandContext(d.ctx, binary, "explain", "-f", "-")
	cmd.Stdin = strings.NewReader(namespace + "---\n" + deployment + "---\n" + hostPod)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: one of them is not injected
		return fmt.Errorf("explain: %w", err)
	}
	fmt.Print(string(out))
	return nil
}

// keep leaves everything running for a person to look at.
func (d *demo) keep() error {
	if os.Getenv("KEEP") == "" {
		say("Done after %.0f s, and nothing is left behind. KEEP=1 make demo leaves it running", time.Since(d.begin).Seconds())
		return nil
	}
	say("Still running; Ctrl-C ends it")
	fmt.Printf("  export KUBECONFIG=%s\n  %s get pods -A\n  log of the injector: %s\n", d.cp.Kubeconfig, d.cp.KubectlPath(), filepath.Join(d.dir, "injector.log"))
	<-d.ctx.Done()
	return nil
}

func (d *demo) kubectl(stdin string, args ...string) (string, error) {
	return d.cp.Kubectl(d.ctx, stdin, args...)
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}
