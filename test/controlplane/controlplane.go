// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real Kubernetes control plane on loopback, for integration tests and
// for the demo: etcd, the API server and, on request, the controllers and the scheduler. Nothing of
// it outlives the process that started it, and any number of them can run side by side.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options says what to run and where.
type Options struct {
	// Dir is the folder for logs, certificates, the kubeconfig and etcd's data. It is made when it is
	// missing; what an earlier control plane left there is replaced. Empty: a temporary folder, which
	// Stop removes.
	Dir string
	// Assets is the folder of the binaries. Empty: KUBEBUILDER_ASSETS, or what make cluster built.
	Assets string
	// ControllerManager runs kube-controller-manager. The API server's ServiceAccount admission is on
	// with it, and off without it, because nobody would make the accounts.
	ControllerManager bool
	// Scheduler runs kube-scheduler.
	Scheduler bool
	// Audit makes the API server write AuditLog: requests on pods with their bodies, all others by
	// their metadata.
	Audit bool
	// Logf is told of every step, with the time that it took. It may be nil.
	Logf func(format string, args ...any)
}

// ControlPlane is a control plane that runs.
type ControlPlane struct {
	// Config is an administrator's, with rate limits that no test reaches.
	Config *rest.Config
	// Kubeconfig is the path of the same administrator's kubeconfig.
	Kubeconfig string
	// Dir is the folder of the logs: etcd.log, kube-apiserver.log and so on.
	Dir string
	// AuditLog is the path of the audit log, of one JSON object a line.
	AuditLog string

	options Options
	client  *kubernetes.Clientset
	stops   []func() error // in the order of the starts
}

// healthTimeout is generous because a first start reads 400 MB of binaries from a cold disk.
const healthTimeout = 2 * time.Minute

// Start starts a control plane and returns when all its parts are healthy and pods can be created.
// A ctx that ends cuts the start short; afterwards only Stop ends the control plane.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	assets, err := findAssets(o.Assets)
	if err != nil {
		return nil, err
	}
	o.Assets = assets
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	c := &ControlPlane{options: o, Dir: o.Dir}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.makeDir(); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	steps := []struct {
		name   string
		wanted bool
		do     func(context.Context) error
	}{
		{"etcd and kube-apiserver", true, c.startAPIServer},
		{controllerManager, c.options.ControllerManager, c.startControllerManager},
		{scheduler, c.options.Scheduler, c.startScheduler},
		{"default service account", c.options.ControllerManager, c.awaitDefaultAccount},
	}
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		begin := time.Now()
		if err := errors.Join(ctx.Err(), step.do(ctx)); err != nil {
			return fmt.Errorf("start %s: %w", step.name, err)
		}
		c.options.Logf("%s: ready after %.1f s", step.name, time.Since(begin).Seconds())
	}
	return nil
}

// Stop ends every process of the control plane, the last started first. A second call does nothing.
func (c *ControlPlane) Stop() error {
	var errs []error
	for _, stop := range slices.Backward(c.stops) {
		errs = append(errs, stop())
	}
	c.stops = nil
	return errors.Join(errs...)
}

// Client is a client set with the administrator's rights.
func (c *ControlPlane) Client() *kubernetes.Clientset { return c.client }

// Namespace creates a namespace and waits until pods can be created in it.
func (c *ControlPlane) Namespace(ctx context.Context, name string, labels map[string]string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	if !c.options.ControllerManager {
		return nil
	}
	return c.awaitAccount(ctx, name)
}

// Kubectl runs kubectl as the administrator and gives its output. What it reports besides, such as
// the API server's warnings, goes to Logf, or into the error of a failure.
func (c *ControlPlane) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	var out, report strings.Builder
	cmd := exec.CommandContext(ctx, c.KubectlPath(), append([]string{"--kubeconfig=" + c.Kubeconfig}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+c.Dir) // no preferences and no cache of the user's own
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &report
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %q: %w: %s", args, err, report.String())
	}
	if report.Len() > 0 {
		c.options.Logf("kubectl: %s", strings.TrimSpace(report.String()))
	}
	return out.String(), nil
}

// KubectlPath is the kubectl of the control plane's own release.
func (c *ControlPlane) KubectlPath() string { return filepath.Join(c.options.Assets, kubectl) }

func (c *ControlPlane) makeDir() error {
	var err error
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "control-plane-"); err != nil {
			return err
		}
		c.stops = append(c.stops, func() error { return os.RemoveAll(c.Dir) })
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	// What an earlier run left in the folder would be taken for this one's.
	for _, name := range []string{"bin", "pki", "webhook", "etcd", "audit.log"} {
		if err := os.RemoveAll(filepath.Join(c.Dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"bin", "pki", "webhook", "etcd"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (c *ControlPlane) awaitDefaultAccount(ctx context.Context) error {
	return c.awaitAccount(ctx, metav1.NamespaceDefault)
}

// awaitAccount waits for a namespace's default service account: until it is there, the API server
// refuses every pod that names no other.
func (c *ControlPlane) awaitAccount(ctx context.Context, namespace string) error {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, healthTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for the service account %s/default: %w", namespace, err)
	}
	return nil
}
