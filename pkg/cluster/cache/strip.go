// SPDX-License-Identifier: Apache-2.0

package cache

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The strippers run before an object enters the cache, so memory follows what is asked, not what the
// cluster holds: a node's status alone can be 30 KiB of image names. Whatever else an informer may
// hand them (the tombstone of an object it lost track of) passes untouched.

func stripNamespace(in any) (any, error) {
	ns, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: ns.TypeMeta, ObjectMeta: lean(&ns.ObjectMeta)}, nil
}

func stripNode(in any) (any, error) {
	node, ok := in.(*corev1.Node)
	if !ok {
		return in, nil
	}
	out := &corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: lean(&node.ObjectMeta)}
	out.Annotations = nil
	out.Status.NodeInfo.KubeletVersion = node.Status.NodeInfo.KubeletVersion
	return out, nil
}

func stripConfiguration(in any) (any, error) {
	c, ok := in.(*admissionregistrationv1.MutatingWebhookConfiguration)
	if !ok {
		return in, nil
	}
	out := *c
	out.ManagedFields = nil
	return &out, nil
}

// lean keeps the identity, the labels and the annotations. kubectl's copy of the last applied object
// goes: no template reads it, and it is often larger than all the rest.
func lean(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            m.Name,
		UID:             m.UID,
		ResourceVersion: m.ResourceVersion,
		Labels:          m.Labels,
		Annotations:     without(m.Annotations, corev1.LastAppliedConfigAnnotation),
	}
}

func without(m map[string]string, key string) map[string]string {
	if _, ok := m[key]; !ok {
		return m
	}
	out := make(map[string]string, len(m)-1)
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}
