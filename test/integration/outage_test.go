// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/annotation"
)

// What a crash of the injector means: nothing at all for pods that would not be injected; for the
// others what the failure policy says. When it is back, on whatever port and with whatever
// certificate, pods are injected again.
func TestOutage(t *testing.T) {
	t.Parallel()
	for policy, check := range map[string]func(*testing.T, *corev1.Pod, error){
		"Fail": func(t *testing.T, _ *corev1.Pod, err error) {
			want := `failed calling webhook "rev.namespace.injector.pillion.dev"`
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a refusal that says %s", err, want)
			}
		},
		"Ignore": func(t *testing.T, pod *corev1.Pod, err error) {
			if err != nil {
				t.Fatal(err)
			}
			if injected(pod) || len(pod.Spec.InitContainers) > 0 {
				t.Errorf("an injector that is down has injected: %v", pod.Labels)
			}
			if r := awaitCreation(t, pod); !r.failedOpen() {
				t.Errorf("the audit log does not tell that the webhook failed: %v", r.Annotations)
			}
		},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			in := serve(t, "outage-"+strings.ToLower(policy), "--failure-policy", policy)
			in.kill(t)
			pod, err := create(t, bare(in.namespace, "asked"))
			check(t, pod, err)
			unaffected(t, in)
			in.start(t)
			pod, err = create(t, bare(in.namespace, "afterwards"))
			if err != nil || !injected(pod) {
				t.Errorf("with the injector back: %v", err)
			}
		})
	}
}

// unaffected creates pods that the API server does not send to the injector.
func unaffected(t *testing.T, in *injector) {
	t.Helper()
	optedOut, hostNetwork, elsewhere := bare(in.namespace, "opted-out"), bare(in.namespace, "host-network"), bare("default", "not-asked")
	optedOut.Labels = map[string]string{annotation.Inject: annotation.Disabled}
	hostNetwork.Spec.HostNetwork = true
	for _, pod := range []*corev1.Pod{optedOut, hostNetwork, elsewhere} {
		if _, err := dryRun(t, pod); err != nil {
			t.Errorf("%s, while the injector is down: %v", pod.Name, err)
		}
	}
}

// A stop fails no request: until the drain is over, the API server goes on calling and is answered.
func TestDrain(t *testing.T) {
	t.Parallel()
	const workers, each, before = 8, 15, 24
	in := serve(t, "drain", "--drain", "10s")
	answers := make(chan string, workers*each)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				pod, err := dryRun(t, bare(in.namespace, "worked"))
				switch {
				case err != nil:
					answers <- err.Error()
				case !injected(pod):
					answers <- "not injected"
				default:
					answers <- ""
				}
			}
		})
	}
	for i := range workers * each {
		if i == before {
			in.terminate(t)
		}
		if wrong := <-answers; wrong != "" {
			t.Errorf("request %d: %s", i, wrong)
		}
	}
	group.Wait()
	if status, body := get(t, in.health+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("ready in the drain: HTTP %d: %s", status, body)
	}
	if status, body := get(t, in.health+"/healthz"); status != http.StatusOK {
		t.Errorf("not alive in the drain: HTTP %d: %s", status, body)
	}
	await(t, "the process ends by itself", in.ended)
	if code := in.cmd.ProcessState.ExitCode(); code != 0 || in.told(t, "stopped serving webhooks") != 1 {
		t.Errorf("exit code %d:\n%s", code, in.said(t))
	}
}

// A dry run shows what would be, and leaves nothing behind: no pod, no count of a pod injected.
func TestDryRun(t *testing.T) {
	t.Parallel()
	in := serve(t, "dry-run")
	const requests, sizes = "injector_admission_requests_total", "injector_patch_bytes_count"
	dry, real := []string{`decision="injected"`, `dry_run="true"`}, []string{`decision="injected"`, `dry_run="false"`}
	before := in.metric(t, requests, dry...)

	manifest := `{apiVersion: v1, kind: Pod, metadata: {name: would-be}, spec: {containers: [{name: app, image: "registry.example/app:1"}]}}`
	out, report, err := kubectl(t, manifest, "create", "--dry-run=server", "-n", in.namespace, "-f", "-", "-o", "jsonpath={.spec.initContainers[*].name}")
	if err != nil || out != "fluent-bit" {
		t.Errorf("kubectl shows the init containers %q: %v %s", out, err, report)
	}
	if _, err := shared.Client().CoreV1().Pods(in.namespace).Get(t.Context(), "would-be", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the pod of a dry run: %v, want NotFound", err)
	}
	await(t, "the dry run is counted", func() bool { return in.metric(t, requests, dry...) == before+1 })
	if n, m := in.metric(t, requests, real...), in.metric(t, sizes); n != 0 || m != 0 {
		t.Errorf("%v pods and %v patches counted, want none", n, m)
	}
	if _, err := create(t, bare(in.namespace, "is")); err != nil {
		t.Fatal(err)
	}
	await(t, "the pod is counted", func() bool { return in.metric(t, requests, real...) == 1 })
	if n, m := in.metric(t, requests, dry...), in.metric(t, sizes, `template="log-shipper"`); n != before+1 || m != 1 {
		t.Errorf("%v dry runs and %v patches counted, want %v and 1", n, m, before+1)
	}
}
