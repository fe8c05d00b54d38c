// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy keeps what shows a webhook at work: the pods as they were sent, and the annotations
// that webhooks and their patches leave on every event.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  resources: [{group: "", resources: [pods]}]
- level: Metadata
`

func (c *ControlPlane) startAPIServer(context.Context) error {
	env, err := c.environment()
	if err != nil {
		return err
	}
	c.stops = append(c.stops, env.Stop)
	config, err := env.Start()
	if err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, tail(c.logPath(etcd)), tail(c.logPath(apiServer)))
	}
	c.Config = config
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.Kubeconfig = filepath.Join(c.Dir, "kubeconfig")
	if err := os.WriteFile(c.Kubeconfig, env.KubeConfig, 0o600); err != nil {
		return err
	}
	return os.WriteFile(c.pki("ca.crt"), config.CAData, 0o600)
}

// environment prepares etcd and the API server. Both get a log file, and a folder for the
// certificates that kube-controller-manager can find again.
func (c *ControlPlane) environment() (*envtest.Environment, error) {
	no := false
	env := &envtest.Environment{
		UseExistingCluster:       &no, // whatever the environment says: never a cluster of the user's
		BinaryAssetsDirectory:    c.options.Assets,
		ControlPlaneStartTimeout: healthTimeout,
		ControlPlaneStopTimeout:  healthTimeout,
	}
	env.WebhookInstallOptions.LocalServingCertDir = filepath.Join(c.Dir, "webhook")
	api := env.ControlPlane.GetAPIServer()
	store := &envtest.Etcd{DataDir: filepath.Join(c.Dir, "etcd")}
	env.ControlPlane.Etcd = store

	var err error
	if store.Path, err = c.leash(etcd); err != nil {
		return nil, err
	}
	if store.Out, err = c.log(etcd); err != nil {
		return nil, err
	}
	if api.Path, err = c.leash(apiServer); err != nil {
		return nil, err
	}
	if api.Out, err = c.log(apiServer); err != nil {
		return nil, err
	}
	store.Err, api.Err = store.Out, api.Out
	api.CertDir = c.pki("")
	return env, c.configure(api)
}

func (c *ControlPlane) configure(api *envtest.APIServer) error {
	flags := api.Configure().
		Set("authorization-mode", "Node", "RBAC").
		Set("service-account-issuer", "https://kubernetes.default.svc")
	if c.options.ControllerManager {
		flags.Disable("disable-admission-plugins") // envtest turns ServiceAccount off
	}
	if !c.options.Audit {
		return nil
	}
	c.AuditLog = filepath.Join(c.Dir, "audit.log")
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	flags.Set("audit-log-path", c.AuditLog).
		Set("audit-policy-file", policy).
		Set("audit-log-mode", "blocking") // an event is in the file before its request is answered
	return os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

func (c *ControlPlane) pki(name string) string { return filepath.Join(c.Dir, "pki", name) }
