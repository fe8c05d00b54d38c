// SPDX-License-Identifier: Apache-2.0

// Package pod is a pod as the JSON tree that the API server sent, decoded only as far as asked: the
// head decides, the tree is patched, and fields that this binary does not know stay in place. It
// also holds the schema of a pod, read from the API's own Go types.
package pod

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
)

// Doc is one pod. It does not change.
type Doc struct {
	raw  []byte
	head *Head
}

// Head is the part of a pod that decisions read.
type Head struct {
	Metadata Metadata `json:"metadata"`
	Spec     HeadSpec `json:"spec"`
}

// Metadata is a pod's metadata, as far as decisions read it.
type Metadata struct {
	Name            string            `json:"name"`
	GenerateName    string            `json:"generateName"`
	Namespace       string            `json:"namespace"`
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	OwnerReferences []Owner           `json:"ownerReferences"`
}

// Owner is an owner reference.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// HeadSpec is a pod's spec, as far as decisions read it.
type HeadSpec struct {
	HostNetwork  bool              `json:"hostNetwork"`
	NodeName     string            `json:"nodeName"`
	NodeSelector map[string]string `json:"nodeSelector"`
	OS           struct {
		Name string `json:"name"`
	} `json:"os"`
	Affinity jsontext.Value `json:"affinity"`
}

// ErrNoObject tells that there is no pod at all where one must be.
var ErrNoObject = errors.New("no object")

// Parse reads a pod's head and keeps the bytes, which must not change afterwards. The error names
// the field that has the wrong type.
func Parse(raw []byte) (Doc, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return Doc{}, ErrNoObject
	}
	head := new(Head)
	if err := json.Unmarshal(raw, head); err != nil {
		return Doc{}, plain(err)
	}
	return Doc{raw: raw, head: head}, nil
}

// FromTree is the pod that a tree holds.
func FromTree(tree map[string]any) (Doc, error) { return Parse(Encode(tree)) }

// Head is the pod's head; it must not be changed.
func (d Doc) Head() *Head { return d.head }

// Raw is the pod's bytes; they must not be changed.
func (d Doc) Raw() []byte { return d.raw }

// Tree decodes the whole pod. Every call gives a tree of its own.
func (d Doc) Tree() (map[string]any, error) {
	tree, ok := treeOf(d.raw).(map[string]any)
	if !ok {
		return nil, ErrNoObject
	}
	return tree, nil
}

// Typed is the pod that a tree holds as the API's Go type, for reading only: fields that this binary
// does not know are missing from it. Quantities are guarded first, since the type's own decoder may
// not return from one.
func Typed(tree map[string]any) (*corev1.Pod, error) { return typed(tree, nil) }

// Typed is the same of the Doc's own tree, without writing it down again.
func (d Doc) Typed(tree map[string]any) (*corev1.Pod, error) { return typed(tree, d.raw) }

func typed(tree map[string]any, raw []byte) (*corev1.Pod, error) {
	guard := checker{only: Quantity}
	if guard.value(Schema(), tree); len(guard.faults) > 0 {
		return nil, guard.faults[0]
	}
	if raw == nil {
		raw = Encode(tree)
	}
	typed := new(corev1.Pod)
	if err := json.Unmarshal(raw, typed); err != nil {
		return nil, plain(err)
	}
	return typed, nil
}

// plain puts a decoder's error into the words of the field and the fault.
func plain(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Errorf("%s: a JSON %s cannot be read as %s", Dotted(string(semantic.JSONPointer)), kindName(semantic.JSONKind), typeName(semantic.GoType))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.JSONPointer != "" {
		return fmt.Errorf("%s: %w", Dotted(string(syntactic.JSONPointer)), syntactic.Err)
	}
	return err
}
