// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"
	"strings"
)

// deploymentPod is a Deployment's pod as the API server sends it: two application containers and an init
// container, probes, the service account's volume, every default filled in.
const deploymentPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"orders-7d9f5c6b8d-","creationTimestamp":null,
"labels":{"app":"orders","app.kubernetes.io/name":"orders","app.kubernetes.io/version":"1.4.2","pod-template-hash":"7d9f5c6b8d"},
"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9102","example.com/build":"20260102.3"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"orders-7d9f5c6b8d","uid":"1f3f4a5e-0000-4000-8000-000000000001","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:name":{}}}}}}]},
"spec":{"volumes":[{"name":"settings","configMap":{"name":"orders","defaultMode":420}},{"name":"kube-api-access-x7k2p","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],
"initContainers":[{"name":"migrate","image":"registry.example/orders-migrate:1.4.2","command":["/migrate"],"args":["--to","latest"],"env":[{"name":"DATABASE_URL","valueFrom":{"secretKeyRef":{"name":"orders-db","key":"url"}}}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
"containers":[{"name":"app","image":"registry.example/orders:1.4.2","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"admin","containerPort":8081,"protocol":"TCP"}],
"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"north"},{"name":"POD_IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}},{"name":"DATABASE_URL","valueFrom":{"secretKeyRef":{"name":"orders-db","key":"url"}}}],
"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"250m","memory":"512Mi"}},
"volumeMounts":[{"name":"settings","mountPath":"/etc/orders"},{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"livenessProbe":{"httpGet":{"path":"/livez","port":"admin","scheme":"HTTP"},"initialDelaySeconds":10,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
"readinessProbe":{"httpGet":{"path":"/readyz","port":"admin","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3},
"lifecycle":{"preStop":{"exec":{"command":["sleep","5"]}}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"runAsNonRoot":true,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}},
{"name":"exporter","image":"registry.example/exporter:2.1","ports":[{"name":"metrics","containerPort":9102,"protocol":"TCP"}],"resources":{"limits":{"memory":"64Mi"},"requests":{"cpu":"10m","memory":"64Mi"}},
"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"readinessProbe":{"httpGet":{"path":"/","port":9102,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"orders","serviceAccount":"orders","securityContext":{"fsGroup":2000},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{}}`

// replica has hidden values of every kind, each made of n, and what only looks like them.
func replica(n int) string {
	r := strings.NewReplacer("NAME", fmt.Sprintf("db-%d", n), "INDEX", fmt.Sprint(n), "TOKEN", fmt.Sprintf("%s%05d", TokenVolume, n),
		"SECOND", fmt.Sprintf("%sa%04d", TokenVolume, n), "UID", fmt.Sprintf("1f3f4a5e-0000-4000-8000-%012d", n),
		"TIME", fmt.Sprintf("2026-01-02T03:04:%02dZ", n), "NODE", fmt.Sprintf("node-%d.example", n))
	return r.Replace(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME","generateName":"db-","namespace":"shop","uid":"UID","resourceVersion":"INDEX","creationTimestamp":"TIME",` +
		`"labels":{"app":"db","apps.kubernetes.io/pod-index":"INDEX","batch.kubernetes.io/job-completion-index":"INDEX","controller-revision-hash":"db-6f","statefulset.kubernetes.io/pod-name":"NAME"},` +
		`"annotations":{"batch.kubernetes.io/job-completion-index":"INDEX","note":"caf\u00e9 <\"x\">\n"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"UID","controller":true,"blockOwnerDeletion":true}],` +
		`"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"TIME","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"k:{\"name\":\"db\"}":{".":{}}}}}]},` +
		`"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-NAME"}},{"name":"TOKEN","projected":{"sources":[]}},{"name":"SECOND","emptyDir":{}},` +
		`{"name":"scratch","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"kept","uid":"kept"},"spec":{"volumeName":"kept"}}}}],` +
		`"initContainers":[{"name":"init","volumeMounts":[{"name":"SECOND","mountPath":"/a"}]}],` +
		`"containers":[{"name":"db","image":"registry.example/db:1","volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"TOKEN","mountPath":"/t"}]}],` +
		`"ephemeralContainers":[{"name":"debug","volumeMounts":[{"name":"TOKEN","mountPath":"/t"}]}],` +
		`"nodeSelector":{"kubernetes.io/os":"linux"},"nodeName":"fixed","hostNetwork":true,"os":{"name":"linux"},"hostname":"NAME","subdomain":"db",` +
		`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["NODE"]}]}]}}}},"status":{}}`)
}
