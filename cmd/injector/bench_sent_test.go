// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// workloadYAML is a workload of a kind around one pod.
func workloadYAML(apiVersion, kind string) string {
	pod := `{metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: registry.example/app:1, ports: [{containerPort: 80}]}]}}`
	template := "spec: {template: " + pod + "}"
	switch kind {
	case "Pod":
		template = strings.TrimSuffix(strings.TrimPrefix(pod, "{metadata: {labels: {app: web}}, "), "}")
	case "CronJob":
		template = "spec: {jobTemplate: {" + template + "}}"
	case "PodTemplate":
		template = "template: " + pod
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web, namespace: shop}\n%s\n", apiVersion, kind, template)
}

// A webhook is told no owner: it must read the same one from the pod as the manifest tells, in both
// dialects, or it would render another pod.
func TestBenchSendsPodsOfTheirOwners(t *testing.T) {
	engines := map[string]*inject.Engine{"pillion": engineOf(t, nil), "istio": engineOf(t, []string{"--config", meshExample})}
	for kind, c := range map[string]struct{ reason, apiVersion string }{
		"Pod":                   {"its own", "v1"},
		"PodTemplate":           {"nobody stands between", "v1"},
		"ReplicationController": {"nobody stands between", "v1"},
		"ReplicaSet":            {"nobody stands between", "apps/v1"},
		"Deployment":            {"a ReplicaSet with the template's hash", "apps/v1"},
		"StatefulSet":           {"pods with names of their own", "apps/v1"},
		"DaemonSet":             {"nobody stands between", "apps/v1"},
		"Job":                   {"nobody stands between", "batch/v1"},
		"CronJob":               {"a Job with the minute in its name", "batch/v1"},
		"Rollout":               {"a ReplicaSet with a hash of another name", "argoproj.io/v1alpha1"},
		"DeploymentConfig":      {"a ReplicationController", "apps.openshift.io/v1"},
	} {
		one := subjectsOf(t, []byte(workloadYAML(c.apiVersion, kind)))[0]
		doc, err := pod.Parse(asSent(one, 0))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		tree, err := doc.Tree()
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if faults := pod.Schema().Check(tree); faults != nil {
			t.Errorf("%s: %v", kind, faults)
		}
		for dialect, e := range engines {
			r, err := e.Inject(doc, inject.Facts{Namespace: "shop", Selected: true})
			if err != nil {
				t.Fatalf("%s, %s: %v", kind, dialect, err)
			}
			got := [2]string{r.Owner.Kind, r.Owner.Name}
			if diff := cmp.Diff([2]string{kind, "web"}, got); diff != "" {
				t.Errorf("%s, dialect %s: %s (-want +got):\n%s", kind, dialect, c.reason, diff)
			}
		}
	}
}

// Replicas differ, and the second gets the outcome of the first.
func TestBenchReplicas(t *testing.T) {
	b, err := (&benchFlags{output: "table"}).engines(t.Context(), engineFlags{revision: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"v1 Pod", "apps/v1 Deployment", "apps/v1 StatefulSet", "batch/v1 CronJob"} {
		one := subjectsOf(t, []byte(workloadYAML(strings.Fields(kind)[0], strings.Fields(kind)[1])))[0]
		trial, err := b.trial(one)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(trial.review, trial.again) || !trial.reusable || !trial.injects() {
			t.Errorf("%s: reusable %v, injected %v:\n%s\n%s", kind, trial.reusable, trial.injects(), trial.review, trial.again)
		}
	}
}

// FuzzBenchSends: what is made of any pod is one, and nothing is lost that its author wrote.
func FuzzBenchSends(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"spec":null,"metadata":null}`, `{"spec":{"containers":[{"name":"app","ports":[{"containerPort":80},7]},null]}}`,
		`{"metadata":"x","spec":[]}`, `{"metadata":{"labels":7},"spec":{"volumes":{},"containers":{},"initContainers":[{"volumeMounts":"x"}]}}`,
		`{"spec":{"automountServiceAccountToken":false,"serviceAccountName":"own","tolerations":[],"restartPolicy":"Never"}}`,
		`{"metadata":{"labels":{"pod-template-hash":"own"},"annotations":{"a":"b"}},"spec":{"containers":[{"name":"app","env":[{"name":"A","value":"\ud83d\ude00"}]}]}}`,
	} {
		f.Add([]byte(seed), "Deployment", "web")
	}
	f.Add([]byte(`{}`), "StatefulSet", "")
	f.Fuzz(func(t *testing.T, raw []byte, kind, name string) {
		doc, err := pod.Parse(raw)
		if err != nil {
			return
		}
		one := subject{doc: doc, facts: inject.Facts{Owner: &inject.Owner{APIVersion: "v1", Kind: kind, Name: name}}}
		for replica := range 2 {
			sent, err := pod.Decode(asSent(one, replica))
			if err != nil {
				t.Fatal(err)
			}
			again, err := doc.Tree()
			if err != nil {
				return // it is sent as it is
			}
			before, after := pod.Object(again, "spec"), pod.Object(sent.(map[string]any), "spec")
			for key, value := range before {
				if key == "hostname" || key == "volumes" || key == "containers" || key == "initContainers" || value == nil {
					continue
				}
				if diff := cmp.Diff(value, after[key]); diff != "" {
					t.Errorf("spec.%s (-before +after):\n%s", key, diff)
				}
			}
		}
	})
}
