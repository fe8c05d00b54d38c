// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"fmt"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// Record is the status record: what was injected, and the way back.
type Record struct {
	Decision          string // injected
	Reason            string // snake_case
	Revision          string
	Templates         []string
	Hash              string // of all that the templates brought
	HashWithoutImages string // the same but for the images: an image-only change leaves it
	Undo              any    // as State.Undo gave it
}

// maxRecord bounds the annotation's value, in bytes.
const maxRecord = 128 << 10

// status writes the record and the label. The way back is taken with both in place, so that it
// takes them off too.
func status(s *State) error {
	s.set("true", "metadata", "labels", annotation.Injected)
	s.set("", "metadata", "annotations", annotation.Status)
	s.Record.Undo = s.Undo(s.Before, s.After)
	record := string(s.Record.encode())
	if len(record) > maxRecord {
		return fmt.Errorf("the status record has %d bytes, of at most %d", len(record), maxRecord)
	}
	s.set(record, "metadata", "annotations", annotation.Status)
	return nil
}

func (r Record) encode() []byte {
	templates := make([]any, len(r.Templates))
	for i, t := range r.Templates {
		templates[i] = t
	}
	return pod.Encode(map[string]any{
		"decision":          r.Decision,
		"reason":            r.Reason,
		"revision":          r.Revision,
		"templates":         templates,
		"hash":              r.Hash,
		"hashWithoutImages": r.HashWithoutImages,
		"undo":              r.Undo,
	})
}

// ReadRecord reads a pod's status record. It is no record, with no error, where the annotation is
// missing; the error tells why one that is there was not written by us.
func ReadRecord(annotations map[string]string) (Record, bool, error) {
	raw, ok := annotations[annotation.Status]
	if !ok {
		return Record{}, false, nil
	}
	if len(raw) > maxRecord {
		return Record{}, false, fmt.Errorf("it has %d bytes, of at most %d", len(raw), maxRecord)
	}
	value, err := pod.Decode([]byte(raw))
	if err != nil {
		return Record{}, false, fmt.Errorf("it is no JSON: %w", err)
	}
	m, ok := value.(map[string]any)
	if !ok || m["undo"] == nil {
		return Record{}, false, fmt.Errorf("it is no record: want an object with decision, templates, hash and undo")
	}
	r := Record{
		Decision: pod.Text(m, "decision"), Reason: pod.Text(m, "reason"), Revision: pod.Text(m, "revision"),
		Hash: pod.Text(m, "hash"), HashWithoutImages: pod.Text(m, "hashWithoutImages"), Undo: m["undo"],
	}
	for _, item := range pod.Items(m, "templates") {
		if name, ok := item.(string); ok {
			r.Templates = append(r.Templates, name)
		}
	}
	return r, true, nil
}
