// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"maps"
	"slices"
	"testing"
)

// podText is a typical pod as the API server sends it: two containers, an init container, probes and
// the service account's volume.
const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"shop-6c9f-","namespace":"shop",
"labels":{"app":"shop","pod-template-hash":"6c9f"},"annotations":{"prometheus.io/scrape":"true"}},
"spec":{"volumes":[{"name":"kube-api-access-x1","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],
"initContainers":[{"name":"warm","image":"registry.example/warm:1","resources":{},
"volumeMounts":[{"name":"kube-api-access-x1","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
"containers":[{"name":"app","image":"registry.example/app:1","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],
"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}},
"volumeMounts":[{"name":"kube-api-access-x1","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"livenessProbe":{"httpGet":{"path":"/live","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10},
"readinessProbe":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10}},
{"name":"helper","image":"registry.example/helper:1","resources":{},
"volumeMounts":[{"name":"kube-api-access-x1","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
"restartPolicy":"Always","terminationGracePeriodSeconds":30,"serviceAccountName":"default","securityContext":{},
"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]}}`

// injected is the pod with what an injection adds; shared tells whether it shares what it does not
// touch with the pod.
func injected(b *testing.B, shared bool) (before, after map[string]any) {
	before = tree(b, podText).(map[string]any)
	after = before
	if !shared {
		after = tree(b, podText).(map[string]any)
	}
	after = maps.Clone(after)
	meta, spec := maps.Clone(after["metadata"].(map[string]any)), maps.Clone(after["spec"].(map[string]any))
	labels := maps.Clone(meta["labels"].(map[string]any))
	labels["pillion.dev/injected"] = "true"
	meta["labels"] = labels
	sidecar := tree(b, `{"name":"sidecar","image":"registry.example/sidecar:1","env":[{"name":"X","value":"1"}],"ports":[{"containerPort":9000}]}`)
	spec["initContainers"] = slices.Insert(slices.Clone(spec["initContainers"].([]any)), 0, sidecar)
	spec["volumes"] = append(slices.Clone(spec["volumes"].([]any)), tree(b, `{"name":"spool","emptyDir":{}}`))
	containers := slices.Clone(spec["containers"].([]any))
	for i := range containers {
		c := maps.Clone(containers[i].(map[string]any))
		env, _ := c["env"].([]any)
		c["env"] = append(slices.Clone(env), tree(b, `{"name":"SIDECAR","value":"here"}`))
		containers[i] = c
	}
	spec["containers"] = containers
	after["metadata"], after["spec"] = meta, spec
	return before, after
}

func BenchmarkBetween(b *testing.B) {
	for name, shared := range map[string]bool{"shared": true, "apart": false} {
		before, after := injected(b, shared)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Between(before, after)
			}
		})
	}
}

func BenchmarkMarshal(b *testing.B) {
	ops := Between(injected(b, true))
	dst := Marshal(ops)
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendJSON(dst[:0], ops)
	}
}

func BenchmarkApply(b *testing.B) {
	before, after := injected(b, true)
	ops := Between(before, after)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Apply(before, ops); err != nil {
			b.Fatal(err)
		}
	}
}
