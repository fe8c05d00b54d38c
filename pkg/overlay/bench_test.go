// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"testing"

	"github.com/pillion-dev/pillion/pkg/pod"
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

const layerText = `{"metadata":{"annotations":{"logs.pillion.dev/shipped":"true"}},"spec":{
"containers":[{"name":"log-shipper","image":"registry.example/shipper:1","args":["--config=/etc/shipper.conf"],
"env":[{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"LEVEL","value":"info"}],
"ports":[{"name":"metrics","containerPort":2020}],"resources":{"requests":{"cpu":"10m","memory":"32Mi"},"limits":{"memory":"64Mi"}},
"securityContext":{"runAsNonRoot":true,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}},
"readinessProbe":{"httpGet":{"path":"/health","port":2020}},"volumeMounts":[{"name":"spool","mountPath":"/spool"}]},
{"name":"app","env":[{"name":"LOG_DIR","value":"/spool"}],"volumeMounts":[{"name":"spool","mountPath":"/spool"}]}],
"volumes":[{"name":"spool","emptyDir":{"sizeLimit":"1Gi"}}],"imagePullSecrets":[{"name":"shared"}]}}`

func BenchmarkMerge(b *testing.B) {
	schema, base, layer := pod.Schema(), tree(b, podText), tree(b, layerText)
	merged := Merge(schema, base, layer)
	for name, base := range map[string]any{"first": base, "again": merged} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Merge(schema, base, layer)
			}
		})
	}
}

func BenchmarkChanges(b *testing.B) {
	schema, base := pod.Schema(), tree(b, podText)
	merged := Merge(schema, base, tree(b, layerText))
	b.ReportAllocs()
	for b.Loop() {
		Changes(schema, base, merged)
	}
}

func BenchmarkRevert(b *testing.B) {
	schema, base := pod.Schema(), tree(b, podText)
	merged := Merge(schema, base, tree(b, layerText))
	changes := Changes(schema, base, merged)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Revert(schema, merged, changes); err != nil {
			b.Fatal(err)
		}
	}
}
