// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// request is what the audit log tells of one request on pods.
type request struct {
	Stage, Verb, RequestURI string
	ObjectRef               struct{ Namespace, Name, Subresource string }
	ResponseStatus          struct{ Code int }
	RequestObject           struct{ Metadata struct{ Name string } }
	Annotations             map[string]string
}

// mutation is the API server's note about one call of a mutating webhook.
type mutation struct {
	Configuration, Webhook string
	Mutated                bool
}

// requests reads from the audit log the answered requests of a verb on the pods of a namespace, or on
// a subresource of theirs.
func requests(t *testing.T, namespace, verb, subresource string) []request {
	t.Helper()
	log, err := os.ReadFile(shared.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	var out []request
	for line := range strings.Lines(string(log)) {
		if !strings.Contains(line, `"namespace":"`+namespace+`"`) || !strings.HasSuffix(line, "\n") {
			continue
		}
		var r request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Stage == "ResponseComplete" && r.Verb == verb && strings.Contains(r.RequestURI, "/pods") &&
			r.ObjectRef.Namespace == namespace && r.ObjectRef.Subresource == subresource {
			out = append(out, r)
		}
	}
	return out
}

// awaitRequests waits until the audit log has n such requests or more: an event may come a moment
// after its answer.
func awaitRequests(t *testing.T, n int, namespace, verb, subresource string) []request {
	t.Helper()
	var out []request
	await(t, "the request in the audit log", func() bool {
		out = requests(t, namespace, verb, subresource)
		return len(out) >= n
	})
	return out
}

// awaitCreation waits for the audit log's note of a pod's creation; a dry run is none.
func awaitCreation(t *testing.T, pod *corev1.Pod) request {
	t.Helper()
	var out request
	await(t, "the creation in the audit log", func() bool {
		for _, r := range requests(t, pod.Namespace, "create", "") {
			if r.RequestObject.Metadata.Name == pod.Name && !strings.Contains(r.RequestURI, "dryRun=") {
				out = r
				return true
			}
		}
		return false
	})
	return out
}

// calls are the calls of mutating webhooks in one round, in their order; reinvocations are round 1.
func (r request) calls(t *testing.T, round string) []mutation {
	t.Helper()
	byIndex := map[int]mutation{}
	for key, value := range r.Annotations {
		text, ok := strings.CutPrefix(key, "mutation.webhook.admission.k8s.io/round_"+round+"_index_")
		if !ok {
			continue
		}
		index, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		var m mutation
		if err := json.Unmarshal([]byte(value), &m); err != nil {
			t.Fatal(err)
		}
		byIndex[index] = m
	}
	var out []mutation
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		out = append(out, byIndex[index])
	}
	return out
}

// ours tells whether the API server called the injector, or tried to.
func (r request) ours() bool {
	for key, value := range r.Annotations {
		if strings.Contains(key, "injector.pillion.dev") || strings.Contains(value, "injector.pillion.dev") {
			return true
		}
	}
	return false
}

// failedOpen tells whether the injector was called in vain and the request went on without it.
func (r request) failedOpen() bool {
	for key, value := range r.Annotations {
		if strings.HasPrefix(key, "failed-open.mutation.webhook.admission.k8s.io/") && strings.HasSuffix(value, "injector.pillion.dev") {
			return true
		}
	}
	return false
}

// kubectl runs kubectl as a person does, and keeps data and report apart.
func kubectl(t *testing.T, stdin string, args ...string) (out, report string, err error) {
	t.Helper()
	var data, said strings.Builder
	cmd := exec.CommandContext(t.Context(), shared.KubectlPath(), append([]string{"--kubeconfig=" + shared.Kubeconfig}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+shared.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &data, &said
	err = cmd.Run()
	return data.String(), said.String(), err
}
