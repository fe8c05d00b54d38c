// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// decisionLine is a line of a golden decision that tells a pod's fate.
var decisionLine = regexp.MustCompile(`(?m)^pod/(\S+) -n (\S+): (injected|skipped)\b`)

// matrix holds the API server's selectors, and the engine behind them, to every row of the golden
// matrix: what the command line says offline is what happens.
func matrix(t *testing.T, _ *injector) {
	archive, err := txtar.ParseFile("../golden/inject/matrix.txtar")
	if err != nil {
		t.Fatal(err)
	}
	fates := map[string]bool{} // "namespace/pod" to injected
	for _, m := range decisionLine.FindAllStringSubmatch(section(t, archive, "decision"), -1) {
		fates[m[2]+"/"+m[1]] = m[3] == "injected"
	}
	prefix := "matrix-" // of namespaces, for the test's own
	rows := 0
	for doc := range strings.SplitSeq(section(t, archive, "in.yaml"), "\n---\n") {
		var pod corev1.Pod // a namespace has no field that matters here and that a pod has not
		if err := yaml.Unmarshal([]byte(doc), &pod); err != nil {
			t.Fatal(err)
		}
		if pod.Kind == "Namespace" {
			if err := shared.Namespace(t.Context(), prefix+pod.Name, pod.Labels); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { removeNamespace(t, prefix+pod.Name) })
			continue
		}
		want, ok := fates[pod.Namespace+"/"+pod.Name]
		if !ok {
			t.Fatalf("the golden file does not tell the fate of %s", pod.Name)
		}
		rows++
		pod.Namespace = prefix + pod.Namespace
		got, err := create(t, &pod)
		if err != nil {
			t.Errorf("%s: %v", pod.Name, err)
			continue
		}
		if injected(got) != want || (len(got.Spec.InitContainers) > 0) != want {
			t.Errorf("%s: injected %t, want %t", pod.Name, injected(got), want)
		}
	}
	if rows == 0 || rows != len(fates) {
		t.Errorf("%d rows of %d", rows, len(fates))
	}
}

func section(t *testing.T, archive *txtar.Archive, name string) string {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("the golden file has no section %s", name)
	}
	return string(archive.Files[i].Data)
}
