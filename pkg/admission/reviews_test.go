// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
)

type reviewFunc func(context.Context, *Request) (Response, error)

func (f reviewFunc) Review(ctx context.Context, req *Request) (Response, error) { return f(ctx, req) }

const testUID = "7c1f0a52-5b1d-4d0a-9a51-2f4f0f6f1b01"

// reviewV1 is an AdmissionReview v1 of a pod creation, with more fields of the request.
func reviewV1(fields string) string {
	return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"` + testUID + `",` +
		`"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},` +
		`"requestKind":{"group":"","version":"v1","kind":"Pod"},"requestResource":{"group":"","version":"v1","resource":"pods"},` +
		`"namespace":"shop","operation":"CREATE","userInfo":{"username":"system:serviceaccount:kube-system:replicaset-controller",` +
		`"uid":"3f1d","groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"]},` +
		`"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"},` + fields + `}}`
}
