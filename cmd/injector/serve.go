// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/cluster"
	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	engine engineFlags

	bind                           string
	port, healthPort, metricsPort  int
	components                     []string
	registration, url              string
	namespace, service             string
	failurePolicy, reinvocation    string
	timeout                        int32
	offline                        bool
	kubeconfig, logLevel, tlsFloor string
	drain                          time.Duration
	reuseMemory                    string

	reuse   int64                  // reuseMemory in bytes
	foreign bool                   // the Istio dialect is served
	said    func(flag string) bool // the flag was given
}

func newServe(s streams) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the admission webhook",
		Long: `Serve answers the API server's admission reviews at /inject, over TLS with a certificate of its
own that it renews, and keeps the caBundle of its webhook configuration true.

--registration static, the default in a cluster, writes the caBundle of a configuration that
the installation made. afterReady, the default elsewhere, also makes the configuration, once
the server can answer, and makes it again when it is deleted. Nothing is removed at shutdown.

The configuration is read again whenever its files or its ConfigMaps change; a bad one keeps
the old in force.`,
		Example: `  injector serve --config /etc/injector
  injector serve --config configmap/istio-system/istio-sidecar-injector --mesh configmap/istio-system/istio --revision pillion
  injector serve --kubeconfig ~/.kube/config --bind-address 127.0.0.1`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Here alone: a signal ends the other verbs at once, for they leave nothing half done.
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serve(ctx, f, s)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *serveFlags) add(cmd *cobra.Command) {
	f.engine.add(cmd)
	fs := cmd.Flags()
	f.said = fs.Changed
	fs.Lookup("kube-version").Usage = "version of all nodes, such as 1.28 (default: the nodes are watched)"
	fs.StringVar(&f.bind, "bind-address", "", "address to listen on (default: all)")
	fs.IntVar(&f.port, "port", 9443, "port of the webhook; 0 for a free one")
	fs.IntVar(&f.healthPort, "health-port", 8081, "port of /healthz and /readyz; 0 for a free one")
	fs.IntVar(&f.metricsPort, "metrics-port", 8080, "port of /metrics; 0 for a free one")
	fs.StringSliceVar(&f.components, "components", []string{"inject"}, "components to run: inject")
	fs.StringVar(&f.registration, "registration", "", "static or afterReady (default: static in a cluster, else afterReady)")
	fs.StringVar(&f.url, "injection-url", "", "URL by which the API server reaches the webhook (default: the Service in a cluster, else the own port)")
	fs.StringVar(&f.namespace, "namespace", ownNamespace, "namespace of the injector and its Service")
	fs.StringVar(&f.service, "service", "", "name of the Service (default: injector, with the revision)")
	fs.StringVar(&f.failurePolicy, "failure-policy", "Fail", "of the webhook that afterReady makes: Fail or Ignore")
	fs.StringVar(&f.reinvocation, "reinvocation-policy", "IfNeeded", "of the webhook that afterReady makes: IfNeeded or Never")
	fs.Int32Var(&f.timeout, "webhook-timeout", 5, "of the webhook that afterReady makes, in seconds, 1 to 30")
	fs.BoolVar(&f.offline, "offline", false, "serve without a cluster: no namespace or node is known, nothing is registered")
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig (default: KUBECONFIG, or the service account in a cluster)")
	fs.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error; debug tells every decision")
	fs.StringVar(&f.tlsFloor, "tls-min-version", "1.3", "1.3, or 1.2 for proxies that terminate TLS and older FIPS builds")
	fs.DurationVar(&f.drain, "drain", 5*time.Second, "how long to go on answering after a signal to stop")
	fs.StringVar(&f.reuseMemory, "reuse-memory", "64Mi", "memory for finished injections that pods of the same shape reuse; 0 keeps none")
}

// complete checks the flags and fills in what depends on where we run.
func (f *serveFlags) complete() error {
	for _, c := range f.components {
		if c != "inject" {
			return usage("this version has inject", "--components: %q is not known", c)
		}
	}
	inCluster := os.Getenv("KUBERNETES_SERVICE_HOST") != ""
	if f.registration == "" {
		f.registration = "afterReady"
		if inCluster {
			f.registration = "static"
		}
	}
	checks := []struct {
		flag, value string
		allowed     []string
	}{
		{"registration", f.registration, []string{string(apply.Static), string(apply.AfterReady)}},
		{"failure-policy", f.failurePolicy, []string{"Fail", "Ignore"}},
		{"reinvocation-policy", f.reinvocation, []string{"IfNeeded", "Never"}},
		{"log-level", f.logLevel, []string{"debug", "info", "warn", "error"}},
		{"tls-min-version", f.tlsFloor, []string{"1.2", "1.3"}},
	}
	for _, c := range checks {
		if !slices.Contains(c.allowed, c.value) {
			return usage("want "+choice(c.allowed), "--%s %q is not known", c.flag, c.value)
		}
	}
	ports := []struct {
		flag  string
		value int
	}{{"port", f.port}, {"health-port", f.healthPort}, {"metrics-port", f.metricsPort}}
	for _, p := range ports {
		if p.value < 0 || p.value > 65535 {
			return usage("want 0 to 65535", "--%s %d is no port", p.flag, p.value)
		}
	}
	if f.timeout < 1 || f.timeout > 30 {
		return usage("want 1 to 30", "--webhook-timeout %d is not possible", f.timeout)
	}
	if f.drain < 0 || f.drain > 10*time.Minute {
		return usage("want 0s to 10m", "--drain %s is not possible", f.drain)
	}
	reuse, err := resource.ParseQuantity(f.reuseMemory)
	if err != nil || reuse.Sign() < 0 || reuse.Cmp(resource.MustParse("1Ti")) > 0 {
		return usage("want a quantity such as 64Mi, or 0", "--reuse-memory %q is not possible", f.reuseMemory)
	}
	f.reuse = reuse.Value()
	if _, err := revision.Wanted(f.wanted()); err != nil {
		return usage("", "%w", err)
	}
	if f.url == "" && f.service == "" && !inCluster && f.registration == string(apply.AfterReady) {
		f.url = ownURL
	}
	return nil
}

// choice is "a, b or c".
func choice(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// wanted is the webhook configuration that the flags ask for.
func (f *serveFlags) wanted() revision.Values {
	return f.speak(revision.Values{
		Revision: f.engine.revision, Namespace: f.namespace, Service: f.service, InjectionURL: f.url,
		ReinvocationPolicy: f.reinvocation, FailurePolicy: f.failurePolicy, TimeoutSeconds: f.timeout,
	})
}

// ownURL stands for the own port, which is known once it is open.
const ownURL = "own port"

func (f *serveFlags) minTLS() uint16 {
	if f.tlsFloor == "1.2" {
		return tls.VersionTLS12
	}
	return tls.VersionTLS13
}

// serve runs until the context ends.
func serve(ctx context.Context, f *serveFlags, s streams) error {
	if err := f.complete(); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return usage("", "--log-level: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: level}))
	cluster.RouteLogs(log.Handler())
	w, err := newWorks(ctx, f, log)
	if err != nil {
		return err
	}
	return w.run(ctx)
}

// listen opens the port of one of the three flags.
func (f *serveFlags) listen(ctx context.Context, flag string, port int) (net.Listener, error) {
	l, err := cluster.Listen(ctx, net.JoinHostPort(f.bind, strconv.Itoa(port)))
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("serve: %w", err), "choose another " + flag + ", or 0 for a free one"}
	}
	return l, nil
}
