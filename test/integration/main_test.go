// SPDX-License-Identifier: Apache-2.0

// Package integration tests the product against a real API server with real controllers. One
// control plane serves all tests of the package; each test works in namespaces of its own.
package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pillion-dev/pillion/test/controlplane"
)

// shared is set before the first test runs and never changes.
var shared *controlplane.ControlPlane

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run is a function of its own because os.Exit runs no deferred call.
func run(m *testing.M) (code int) {
	plane, err := controlplane.Start(context.Background(), controlplane.Options{
		Dir:               os.Getenv("CONTROL_PLANE_DIR"), // set: the logs stay there
		ControllerManager: true,
		Scheduler:         true,
		Audit:             true,
		Logf:              func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	shared = plane
	return m.Run()
}

// namespace makes a namespace for one test, ready for pods, and removes it with the test.
func namespace(t *testing.T, labels map[string]string) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	if err := shared.Namespace(t.Context(), name, labels); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeNamespace(t, name) })
	return name
}

func removeNamespace(t *testing.T, name string) {
	// The context of a test has ended by now.
	if err := shared.Client().CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// as gives the client configuration of somebody with no more rights than bindings gave them.
func as(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// impersonating writes a kubeconfig of a user who has only the rights that bindings gave them.
func impersonating(user string) (path string, err error) {
	config, err := clientcmd.LoadFromFile(shared.Kubeconfig)
	if err != nil {
		return "", err
	}
	for _, info := range config.AuthInfos {
		info.Impersonate = user
	}
	path = filepath.Join(shared.Dir, "kubeconfig-"+user)
	return path, clientcmd.WriteToFile(*config, path)
}
