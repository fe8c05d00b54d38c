// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Nobody but us looks at what names a controller, and it stands in YAML.
func TestOwnersAreJudged(t *testing.T) {
	got := ownerCauses([]pod.Owner{
		{APIVersion: "v1\n", Kind: "\n", Name: "none controls"},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "shop-7d9f", Controller: true},
		{APIVersion: "v1\nx: y", Kind: "Set of: \"any\" {kind}", Name: "a\u2028b", Controller: true},
	})
	want := []reason.Cause{
		{Path: "metadata.ownerReferences[2].apiVersion", Detail: `invalid value 'v1\nx: y' for metadata.ownerReferences[2].apiVersion: it holds the character U+000A, want printable ones only`},
		{Path: "metadata.ownerReferences[2].name", Detail: `invalid value 'a\u2028b' for metadata.ownerReferences[2].name: it holds the character U+2028, want printable ones only`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// The owner is part of what a pod is checked for.
func TestBrokenOwnerIsRefused(t *testing.T) {
	r := &run{Work: &inject.Work{}, d: &dialect{}, head: headOf(nil, nil)}
	r.head.Metadata.OwnerReferences = []pod.Owner{{Kind: "Set", Name: "a\n  privileged: true", Controller: true}}
	if err := r.check(); err == nil {
		t.Error("a name with a line break passes")
	}
}
