// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// Prove carries the patch out on the pod that came in, and holds the outcome to the engine's own
// result and to the API's strict decoding: no fault may be there that the pod did not have before.
// The API server rejects a pod whose patch does not apply, whatever the failure policy says.
func (r Result) Prove(in pod.Doc) error {
	before, err := in.Tree()
	if err != nil {
		return fmt.Errorf("prove the patch: %w", err)
	}
	ops, err := r.ops()
	if err != nil {
		return fmt.Errorf("prove the patch: %w", err)
	}
	after, err := patch.Apply(before, ops)
	if err != nil {
		return fmt.Errorf("prove the patch: %w", err)
	}
	if r.Tree != nil && !alike(after, r.Tree) {
		return fmt.Errorf("prove the patch: it does not give the pod that was meant")
	}
	faults := pod.Schema().Check(after)
	if len(faults) == 0 {
		return nil
	}
	known := map[string]int{}
	for _, f := range pod.Schema().Check(before) {
		known[place(f)]++
	}
	for _, f := range faults {
		if known[place(f)]--; known[place(f)] < 0 {
			return fmt.Errorf("prove the patch: the pod it makes is none: %w", f)
		}
	}
	return nil
}

// ops are the patch's operations, of a reused outcome too.
func (r Result) ops() ([]patch.Op, error) {
	if !r.Reused || r.Wire == nil {
		return r.Patch, nil
	}
	tree, err := pod.Decode(r.Wire)
	if err != nil {
		return nil, err
	}
	return patch.Of(tree)
}

// alike tells whether two trees are the same pod: null is as good as absent.
func alike(got any, want map[string]any) bool {
	tree, ok := got.(map[string]any)
	return ok && (pod.Equal(tree, want) || len(patch.Between(tree, want)) == 0)
}

// place is a fault without the indices, which a patch may shift, and without the list of its
// container, which may have changed: a sidecar that the author wrote down becomes a native one.
func place(f pod.Fault) string {
	tokens := strings.Split(f.Pointer, "/")
	for i, token := range tokens {
		if token == pod.ContainerLists[1] {
			tokens[i] = pod.ContainerLists[0]
		} else if strings.Trim(token, "0123456789") == "" {
			tokens[i] = ""
		}
	}
	return strings.Join(tokens, "/") + " " + f.Detail
}
