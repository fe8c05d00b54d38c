// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	stopTimeout = 10 * time.Second
	logTail     = 4096
	// portTries is how often a component is started on another port, should somebody else take the
	// one that was free a moment ago.
	portTries = 3
)

func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	return c.run(ctx, controllerManager,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.pki("sa-signer.key"),
		"--root-ca-file="+c.pki("ca.crt"))
}

func (c *ControlPlane) startScheduler(ctx context.Context) error { return c.run(ctx, scheduler) }

// run starts a component that is a client of the API server and waits until it is healthy.
func (c *ControlPlane) run(ctx context.Context, name string, args ...string) error {
	path, err := c.leash(name)
	if err != nil {
		return err
	}
	args = append(args, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--kube-api-qps=1000", "--kube-api-burst=2000", // the default ones make a start wait for seconds
		"--kubeconfig="+c.Kubeconfig, "--authentication-kubeconfig="+c.Kubeconfig, "--authorization-kubeconfig="+c.Kubeconfig)
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		log, err := c.log(name)
		if err != nil {
			return err
		}
		cmd := exec.Command(path, append(args, "--secure-port="+strconv.Itoa(port))...)
		cmd.Stdout, cmd.Stderr = log, log
		p, err := startProcess(cmd)
		if err != nil {
			return err
		}
		if err = p.awaitHealth(ctx, port); err == nil {
			c.stops = append(c.stops, p.stop)
			return nil
		}
		err = fmt.Errorf("%w\n%s", errors.Join(err, p.stop()), tail(log.Name()))
		if !errors.Is(err, errExited) || try == portTries {
			return err
		}
	}
}

// process is a child whose end is awaited by one goroutine, which closes done.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

var errExited = errors.New("it ended")

func startProcess(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is of no interest: the log tells why
		close(p.done)
	}()
	return p, nil
}

func (p *process) awaitHealth(ctx context.Context, port int) error {
	client := &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // its certificate is made at its start
	}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("https://127.0.0.1:%d/healthz", port)
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, healthTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.done:
			return false, errExited
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return false, nil
		}
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	})
}

// stop asks the process to end, and makes it end when it does not in time.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
	}
	err := p.cmd.Process.Kill()
	<-p.done
	return errors.Join(fmt.Errorf("%s did not stop within %s", filepath.Base(p.cmd.Path), stopTimeout), err)
}

// leash writes a script that runs a binary so that the kernel ends it with the process that started
// it, however that one ends: a test binary that runs into its time limit cleans up nothing. envtest
// takes a path and nothing else, hence a script; without setpriv the binary runs off the leash.
func (c *ControlPlane) leash(name string) (string, error) {
	binary := "'" + strings.ReplaceAll(filepath.Join(c.options.Assets, name), "'", `'\''`) + "'"
	script := "#!/bin/sh\n" +
		"setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL " + binary + " \"$@\"\n" +
		"exec " + binary + " \"$@\"\n"
	path := filepath.Join(c.Dir, "bin", name)
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// Command is exec.Command for a program that shall not outlive this process: with setpriv, the kernel
// sees to it.
func Command(name string, args ...string) *exec.Cmd {
	if exec.Command("setpriv", "--pdeathsig", "KILL", "true").Run() != nil {
		return exec.Command(name, args...)
	}
	return exec.Command("setpriv", slices.Concat([]string{"--pdeathsig", "KILL", name}, args)...)
}

// log creates the log file of a component, to be closed once the component has stopped.
func (c *ControlPlane) log(name string) (*os.File, error) {
	file, err := os.Create(c.logPath(name))
	if err == nil {
		c.stops = append(c.stops, file.Close)
	}
	return file, err
}

func (c *ControlPlane) logPath(name string) string { return filepath.Join(c.Dir, name+".log") }

func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
