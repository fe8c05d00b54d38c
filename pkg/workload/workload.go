// SPDX-License-Identifier: Apache-2.0

// Package workload is a manifest stream to the pods inside it and back. Read cuts a YAML or JSON
// stream into its documents and finds the pod of every workload; Pod.Apply carries a patch out
// inside the document; Bytes gives the stream back. A document that no patch touched comes back
// byte for byte. Of a touched one the lines that the patch does not reach do too; where its shape
// does not allow that (a flow mapping at the top, aliases into the pod), it is written anew, with
// comments, key order, quoting and number literals kept, and blank lines lost. Either way the new
// text is read back and compared before it is given out.
package workload

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
	"go.yaml.in/yaml/v3"
)

// The bounds of a stream.
const (
	MaxBytes = 16 << 20  // of the whole input
	maxNodes = 1_000_000 // of one document, with its aliases written out
	maxDepth = 100       // of a pod
	maxLists = 3         // Lists inside Lists
)

// Error is a document that cannot be read, or that cannot be written back.
type Error struct {
	Document int    // counts from 1, without the empty ones
	Line     int    // in the stream, from 1
	Path     string // in the document, such as spec.template.spec.containers[0]; may be empty
	Err      error
}

// Error tells the document, the line, the path and the fault.
func (e *Error) Error() string {
	where := fmt.Sprintf("document %d (line %d): ", e.Document, e.Line)
	if e.Path != "" {
		where += e.Path + ": "
	}
	return where + e.Err.Error()
}

// Unwrap is the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// Stream is a manifest stream. It is changed by Pod.Apply alone, and is not safe for use by
// several goroutines.
type Stream struct{ parts []part }

// part is a run of the stream's bytes. It holds a document, or nothing but comments and blanks.
type part struct {
	raw []byte
	doc *Document
}

// Documents lists the documents that hold something, in the order of the stream.
func (s *Stream) Documents() []*Document {
	var docs []*Document
	for _, p := range s.parts {
		if p.doc != nil {
			docs = append(docs, p.doc)
		}
	}
	return docs
}

// Pods lists the pods of every document, in the order of the stream.
func (s *Stream) Pods() []*Pod {
	var pods []*Pod
	for _, d := range s.Documents() {
		pods = append(pods, d.pods...)
	}
	return pods
}

// Namespaces are the Namespace objects of the stream, by name. The last one of a name holds, as it
// would when the stream is applied in order.
func (s *Stream) Namespaces() map[string]Namespace {
	found := map[string]Namespace{}
	for _, d := range s.Documents() {
		for _, n := range d.namespaces {
			found[n.name] = n.Namespace
		}
	}
	return found
}

// Bytes is the stream with every patch carried out. It fails, naming the document, rather than
// give out text that reads as something else.
func (s *Stream) Bytes() ([]byte, error) {
	var out []byte
	for _, p := range s.parts {
		if p.doc == nil || p.doc.was == nil {
			out = append(out, p.raw...)
			continue
		}
		text, err := p.doc.print()
		if err != nil {
			return nil, p.doc.fail(p.doc.root, nil, fmt.Errorf("write %s back: %w", p.doc.Kind, err))
		}
		out = append(out, text...)
	}
	return out, nil
}

// Namespace is what injection asks of a Namespace object.
type Namespace struct{ Labels, Annotations map[string]string }

type namedNamespace struct {
	name string
	Namespace
}

// Retired is an object whose API version is no longer served. It is passed through as it is: its
// pods are not found.
type Retired struct {
	APIVersion, Kind, Namespace, Name string
	Line                              int
	Replacement                       string // the API version that took its place
}

// Object names the object for a report: cronjob/old -n shop.
func (r Retired) Object() string { return object(r.Kind, r.Name, r.Namespace) }

// Document is one document of the stream: an object, or a List of objects.
type Document struct {
	Index                             int // counts from 1, without the empty documents
	Line                              int // in the stream, from 1
	APIVersion, Kind, Namespace, Name string

	pods       []*Pod
	retired    []Retired
	namespaces []namedNamespace

	src      source
	root     *yaml.Node
	was      *yaml.Node // root before the first patch; nil in an untouched document
	expanded bool       // root is no longer what the text says: aliases were written out
}

// Pods lists the pods in the document: none in one that is no workload, several in a List.
func (d *Document) Pods() []*Pod { return slices.Clone(d.pods) }

// Retired lists the objects in the document whose API version is no longer served.
func (d *Document) Retired() []Retired { return slices.Clone(d.retired) }

// source is the text of a document.
type source struct {
	text []byte // without the byte order mark
	bom  []byte
	line int  // of the stream, where the text begins
	at   int  // where the JSON value begins in the text
	json bool // else YAML
}

// lineOf is the line of a node in the stream.
func (s source) lineOf(n *yaml.Node) int {
	switch {
	case s.json && n.Line > 0:
		return s.line + bytes.Count(s.text[:n.Line-1], []byte("\n"))
	case n.Line > 0:
		return s.line + n.Line - 1
	}
	return s.line
}

// fail is an error at a node; the path is an RFC 6901 pointer.
func (d *Document) fail(n *yaml.Node, path []byte, err error) error {
	return &Error{Document: d.Index, Line: d.src.lineOf(n), Path: pod.Dotted(string(path)), Err: err}
}
