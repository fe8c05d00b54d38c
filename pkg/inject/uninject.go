// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"github.com/pillion-dev/pillion/pkg/finish"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Uninject takes off what an injection put on, as the pod's status record lists it: the exact
// inverse of Inject. It needs no configuration. A pod without a record comes back with an empty
// patch; a record that does not fit the pod is refused, since nothing else tells what was added.
func Uninject(in pod.Doc) (Result, error) {
	record, found, err := finish.ReadRecord(in.Head().Metadata.Annotations)
	if err != nil {
		return Result{}, badRecord(err)
	}
	if !found {
		return Result{}, nil
	}
	tree, err := in.Tree()
	if err != nil {
		return Result{}, unreadable(err)
	}
	if err := podShape(tree); err != nil {
		return Result{}, err
	}
	base, _, err := undo(tree, record, nil)
	if err != nil {
		return Result{}, badRecord(err)
	}
	return Result{Tree: base, Patch: patch.Between(tree, base), Hash: record.Hash, HashWithoutImages: record.HashWithoutImages}, nil
}

func badRecord(err error) error {
	return &reason.Refusal{
		Reason: reason.StatusRecordInvalid,
		Path:   statusPath,
		Detail: err.Error(),
		Hint:   "remove the annotation and the added containers by hand, or start from the manifest as it was before injection",
	}
}
