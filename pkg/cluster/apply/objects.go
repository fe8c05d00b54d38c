// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
)

// Seen reads configurations from a cache; see Objects.
type Seen interface {
	Configuration(ctx context.Context, name string) (*Configuration, error)
}

// InCluster are the configurations of a real API server: read from a cache, written to the server.
type InCluster struct {
	Seen
	Client client.MutatingWebhookConfigurationInterface
}

// Apply is a server-side apply with force: the fields in the patch are this manager's from now on.
func (c InCluster) Apply(ctx context.Context, name, manager string, patch []byte) (*Configuration, error) {
	force := true
	return c.Client.Patch(ctx, name, types.ApplyPatchType, patch, metav1.PatchOptions{
		FieldManager: manager,
		Force:        &force,
	})
}
