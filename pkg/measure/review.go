// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Review is the AdmissionReview in which an API server asks for the pod that a ReplicaSet's controller
// creates in a namespace. The namespace may be any text; the object must be JSON.
func Review(namespace string, object []byte) []byte {
	quoted, _ := jsontext.AppendQuote(nil, namespace) // of invalid UTF-8, which is an error, the quote is valid
	return fmt.Appendf(nil, envelope, quoted, object)
}

// envelope has a place for the namespace and one for the pod.
const envelope = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"7c1f0a52-5b1d-4d0a-9a51-2f4f0f6f1b01",` +
	`"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},` +
	`"requestKind":{"group":"","version":"v1","kind":"Pod"},"requestResource":{"group":"","version":"v1","resource":"pods"},` +
	`"namespace":%s,"operation":"CREATE","userInfo":{"username":"system:serviceaccount:kube-system:replicaset-controller",` +
	`"uid":"5d4b1c0e-33a5-4f0e-9f0c-6a1d2d1b7c11","groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"]},` +
	`"object":%s,"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}}`
