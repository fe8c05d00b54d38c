// SPDX-License-Identifier: Apache-2.0

package reuse

// controllers are pods as the controllers of Kubernetes make them, and the API server completes them.
func controllers() []string {
	return []string{
		// A StatefulSet's.
		`{"metadata":{"name":"web-0","generateName":"web-","uid":"11111111-0000-4000-8000-000000000001","creationTimestamp":"2026-01-02T03:04:05Z",
"labels":{"app":"web","apps.kubernetes.io/pod-index":"0","controller-revision-hash":"web-6c8f","statefulset.kubernetes.io/pod-name":"web-0"},
"annotations":{"example.com/note":"a"},
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{}}}],
"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"22222222-0000-4000-8000-000000000001","controller":true}]},
"spec":{"hostname":"web-0","subdomain":"web","containers":[{"name":"app","image":"registry.example/app:1","ports":[{"containerPort":8080}],"volumeMounts":[
{"name":"data","mountPath":"/data"},{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"kube-api-access-x7k2p","projected":{"sources":[]}}]}}`,
		// A DaemonSet's.
		`{"metadata":{"generateName":"agent-","labels":{"app":"agent","pod-template-generation":"1"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"22222222-0000-4000-8000-000000000002","controller":true}]},
"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-1"]}]}]}}},
"initContainers":[{"name":"first","image":"registry.example/first:1","volumeMounts":[{"name":"kube-api-access-b9z8q","mountPath":"/token"}]}],
"containers":[{"name":"app","image":"registry.example/app:1","env":[{"name":"A","value":"1"}],"volumeMounts":[{"name":"kube-api-access-b9z8q","mountPath":"/token"}]}],
"volumes":[{"name":"kube-api-access-b9z8q","emptyDir":{}}]}}`,
		// An indexed Job's.
		`{"metadata":{"generateName":"sum-3-","labels":{"job-name":"sum","batch.kubernetes.io/job-completion-index":"3"},"annotations":{"batch.kubernetes.io/job-completion-index":"3"},
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"sum","uid":"22222222-0000-4000-8000-000000000003","controller":true}]},
"spec":{"hostname":"sum-3","restartPolicy":"Never","containers":[{"name":"app","image":"registry.example/app:1"}]}}`,
		// A StatefulSet's whose volume an annotation brings too.
		`{"metadata":{"generateName":"web-","annotations":{"sidecar.istio.io/userVolume":"{\"data\":{\"persistentVolumeClaim\":{\"claimName\":\"data-web-0\"}}}"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"22222222-0000-4000-8000-000000000004","controller":true}]},
"spec":{"hostname":"web-0","containers":[{"name":"app","image":"registry.example/app:1"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}}]}}`,
		// Nobody's, with two tokens, and with volumes of the names that templates bring.
		`{"metadata":{"name":"alone","annotations":{"sidecar.istio.io/userVolume":"{\"x\":{\"emptyDir\":{}}}","sidecar.istio.io/userVolumeMount":"{\"kube-api-access-aaaaa\":{\"mountPath\":\"/t\"}}"}},
"spec":{"containers":[{"name":"app","image":"registry.example/app:1","volumeMounts":[{"name":"kube-api-access-aaaaa","mountPath":"/a"},{"name":"kube-api-access-bbbbb","mountPath":"/b"}]},
{"name":"istio-proxy","image":"auto","volumeMounts":[{"name":"kube-api-access-aaaaa","mountPath":"/a"}]}],
"volumes":[{"name":"kube-api-access-aaaaa","emptyDir":{}},{"name":"kube-api-access-bbbbb","emptyDir":{}},{"name":"istio-envoy","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"data","emptyDir":{}}]}}`,
	}
}
