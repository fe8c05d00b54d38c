// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// manifests have comments, empty documents, a pod template without metadata, and numbers that a
// careless tool would spoil.
const manifests = `# what the shop runs
---
apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data:
  text: |
    ---
    not a document
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tidy}
spec:
  schedule: "5 4 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: OnFailure, containers: [{name: app, image: "registry.example/tidy:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {build: "20231107142255", hash: "1e3"}}
spec:
  progressDeadlineSeconds: 86400
  selector: {matchLabels: {app: web, zip: "0123"}}
  template:
    metadata: {labels: {app: web, zip: "0123"}}
    spec:
      securityContext: {runAsUser: 1000650000}
      containers:
      - {name: app, image: "registry.example/web:1", args: ["1e3", "yes", "null", "~", ""]}
---
`

// What the command line writes is what the API server takes, with every value as it stood.
func TestOfflineOutputApplies(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, nil)
	var report bytes.Buffer
	cmd := exec.Command(path, "inject", "-n", ns, "-f", "-")
	cmd.Stdin, cmd.Stderr = strings.NewReader(manifests), &report
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("inject: %v\n%s", err, report.String())
	}
	for _, how := range []string{"client", "server"} {
		if _, said, err := kubectl(t, string(out), "apply", "-n", ns, "--dry-run="+how, "--validate=strict", "-f", "-"); err != nil || strings.Contains(said, "Warning") {
			t.Errorf("kubectl apply --dry-run=%s: %v\n%s\n%s", how, err, said, out)
		}
	}
	stored, said, err := kubectl(t, string(out), "apply", "-n", ns, "--dry-run=server", "-o", "jsonpath={..initContainers[*].name} {..args[*]} {..zip}", "-f", "-")
	if err != nil || !strings.HasPrefix(stored, "fluent-bit fluent-bit ") || !strings.Contains(stored, "1e3 yes null ~") || !strings.Contains(stored, "0123") {
		t.Errorf("stored %q, %v\n%s", stored, err, said)
	}
}
