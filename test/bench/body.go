// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"regexp"

	"github.com/pillion-dev/pillion/pkg/measure"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// A body is a review as the API server sends it, in which some values can be written over: taking another
// pod must not cost anything.
type body struct {
	bytes []byte
	slots []slot
	turn  uint64
}

// slot is a place for digits. It holds turn/after, modulo the limit.
type slot struct {
	at, width    int
	after, limit uint64
}

const (
	moment  = "2026-01-02T03:04:05Z"                 // of all times
	uid     = "0b1f0b52-6a53-4a0e-8bd5-000000000000" // of the pod
	token   = "kube-api-access-00000"                // the service account's volume
	shape   = "s0000000000"                          // the value of a label and of an annotation
	shapeAt = "example.com/shape"
)

var anyToken = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)

// replicas are the reviews of the replicas of one workload: the pods differ as its controller and the API
// server make them differ.
func (s setup) replicas() *body { return s.review(false) }

// shapes are the reviews of pods of different workloads.
func (s setup) shapes() *body { return s.review(true) }

func (s setup) review(shapes bool) *body {
	object := pod.Clone(s.object)
	meta := pod.Object(object, "metadata")
	meta["uid"], meta["creationTimestamp"] = uid, moment
	for _, item := range pod.Items(meta, "managedFields") {
		item.(map[string]any)["time"] = moment
	}
	if shapes {
		rename(meta)
	}
	b := &body{bytes: measure.Review(s.namespace, anyToken.ReplaceAll(pod.Encode(object), []byte(token)))}
	b.slot(uid, slot{at: len(uid) - 10, width: 10})
	b.slot(token, slot{at: len(token) - 5, width: 5})
	b.slot(moment, slot{at: 17, width: 2, limit: 60})
	b.slot(moment, slot{at: 14, width: 2, after: 60, limit: 60})
	b.slot(shape, slot{at: 1, width: 10})
	return b
}

// rename makes the pod one of another workload: templates read of its name and labels, so that what they
// render is another text each time.
func rename(meta map[string]any) {
	for _, at := range []string{"labels", "annotations"} {
		meta[at] = pod.With(pod.Object(meta, at), shapeAt, shape)
	}
	labels := pod.Object(meta, "labels")
	name := shape + "-" + pod.Text(labels, "pod-template-hash")
	meta["generateName"] = name + "-"
	for _, item := range pod.Items(meta, "ownerReferences") {
		item.(map[string]any)["name"] = name
	}
	for _, key := range []string{"app", "app.kubernetes.io/name"} {
		if labels[key] != nil {
			labels[key] = shape
		}
	}
}

// slot makes a place in every occurrence of a text, counted from its beginning.
func (b *body) slot(text string, s slot) {
	for at := 0; ; at += len(text) {
		next := bytes.Index(b.bytes[at:], []byte(text))
		if next < 0 {
			return
		}
		at += next
		b.slots = append(b.slots, slot{at + s.at, s.width, max(1, s.after), s.limit})
	}
}

// next is the review of the next pod; it stands where the last one stood.
func (b *body) next() []byte {
	b.turn++
	return b.number(b.turn)
}

// number is the review of the pod of a number.
func (b *body) number(turn uint64) []byte {
	for _, s := range b.slots {
		n := turn / s.after
		if s.limit > 0 {
			n %= s.limit
		}
		for i := s.at + s.width - 1; i >= s.at; i-- {
			b.bytes[i] = byte('0' + n%10)
			n /= 10
		}
	}
	return b.bytes
}
