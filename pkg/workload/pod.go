// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Pod is a pod inside a document: a bare Pod, or the pod template of a workload.
type Pod struct {
	doc   *Document
	node  *yaml.Node // a mapping that shares no node with anything else
	path  []byte     // of the node in the document, an RFC 6901 pointer
	owner owner
	json  []byte
}

// owner is the object that a pod stands in.
type owner struct {
	apiVersion, kind, namespace, name string
	bare                              bool // the object is the pod
}

// JSON is the pod as a Pod object of its own. A template gets apiVersion and kind and nothing else:
// it may lack metadata, and has no name. Scalars mean what kubectl reads in them.
func (p *Pod) JSON() []byte { return slices.Clone(p.json) }

// Owner names the object that the pod stands in: the workload, or the pod itself. A pod that has
// only a generateName is named by that and a star.
func (p *Pod) Owner() (kind, name, namespace string) {
	return p.owner.kind, p.owner.name, p.owner.namespace
}

// APIVersion is that of the object which Owner names.
func (p *Pod) APIVersion() string { return p.owner.apiVersion }

// Bare tells that the object is the pod itself, rather than a workload with a template.
func (p *Pod) Bare() bool { return p.owner.bare }

// Object names the object for a report: deployment/web -n shop.
func (p *Pod) Object() string { return object(p.owner.kind, p.owner.name, p.owner.namespace) }

// Line is where the pod begins in the stream.
func (p *Pod) Line() int { return p.doc.src.lineOf(p.node) }

// Pointer is where the pod stands in its document, an RFC 6901 pointer: empty for a bare Pod,
// /spec/template for a Deployment's.
func (p *Pod) Pointer() string { return string(p.path) }

// Document is the document that holds the pod.
func (p *Pod) Document() *Document { return p.doc }

func object(kind, name, namespace string) string {
	if name == "" {
		name = "(unnamed)"
	}
	text := strings.ToLower(shown(kind)) + "/" + shown(name)
	if namespace != "" {
		text += " -n " + shown(namespace)
	}
	return text
}

// shown is a name as a terminal may see it: a manifest's own text must not steer it.
func shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
