// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Read is Parse for bytes that are known to be one valid JSON value, in UTF-8 and with no name twice in an
// object, such as those of a value within a larger one that was decoded. It takes less than a third of
// Parse's time, since it does not judge what it passes. The head shares the bytes, which must not change
// afterwards. Of bytes that are not valid it may read nonsense.
func Read(raw []byte) (Doc, error) {
	r := reader{scanner: scanner{raw: raw}, head: new(Head)}
	if r.pod(); r.odd {
		return Parse(raw) // which reads it all the same, or tells what is wrong
	}
	return Doc{raw: raw, head: r.head}, nil
}

// reader scans a pod for its head.
type reader struct {
	scanner
	head *Head

	// copied is what stands at base in the bytes, and what the head's strings are parts of: the metadata
	// takes one allocation, not one for each string.
	copied string
	base   int
}

func (r *reader) pod() {
	for ok := r.expect('{'); ok; ok = r.more() {
		switch name := r.name(); string(name) {
		case "metadata":
			r.metadata()
		case "spec":
			r.spec()
		default:
			r.other(name)
		}
	}
	r.odd = r.odd || r.peek() != 0
}

// other skips the value of a name that was not looked for; one with an escape may be one that was.
func (r *reader) other(name []byte) {
	r.odd = r.odd || bytes.IndexByte(name, '\\') >= 0
	r.skip()
}

// metadata finds the parts first, since what they span is copied at once.
func (r *reader) metadata() {
	var name, generateName, namespace, owners span
	var labels, annotations table
	all := span{r.at, r.at}
	for ok := r.expect('{'); ok; ok = r.more() {
		switch key := r.name(); string(key) {
		case "name":
			name = r.text()
		case "generateName":
			generateName = r.text()
		case "namespace":
			namespace = r.text()
		case "labels":
			labels = r.table()
		case "annotations":
			annotations = r.table()
		case "ownerReferences":
			owners = r.nest('[')
		default:
			r.other(key)
			continue
		}
		all.to = r.at
	}
	if r.odd {
		return
	}
	r.copy(all)
	m := &r.head.Metadata
	m.Name, m.GenerateName, m.Namespace = r.string(name), r.string(generateName), r.string(namespace)
	m.Labels, m.Annotations = r.strings(labels), r.strings(annotations)
	m.OwnerReferences = r.owners(owners)
}

func (r *reader) spec() {
	spec := &r.head.Spec
	for ok := r.expect('{'); ok; ok = r.more() {
		switch name := r.name(); string(name) {
		case "hostNetwork":
			spec.HostNetwork = r.flag()
		case "nodeName":
			spec.NodeName = r.alone(r.text())
		case "nodeSelector":
			selector := r.table()
			r.copy(selector.span)
			spec.NodeSelector = r.strings(selector)
		case "os":
			r.os()
		case "affinity":
			at := r.nest('{')
			spec.Affinity = r.raw[at.from:at.to:at.to]
		default:
			r.other(name)
		}
	}
}

func (r *reader) os() {
	for ok := r.expect('{'); ok; ok = r.more() {
		name := r.name()
		if string(name) != "name" {
			r.other(name)
			continue
		}
		r.head.Spec.OS.Name = r.alone(r.text())
	}
}

// nest is where the object or list stands that comes next.
func (r *reader) nest(open byte) span {
	r.odd = r.odd || r.peek() != open
	from := r.at
	r.skip()
	return span{from, r.at}
}

// table is where an object of strings stands, and how many it has; the zero table is none.
type table struct {
	span
	members int
}

func (r *reader) table() table {
	r.peek()
	from, members := r.at, 0
	for ok := r.expect('{'); ok; ok = r.more() {
		r.key()
		r.text()
		members++
	}
	return table{span{from, r.at}, members}
}

// copy makes the string that the next strings are parts of.
func (r *reader) copy(part span) {
	r.copied, r.base = string(r.raw[part.from:part.to]), part.from
}

// alone is a string that stands by itself.
func (r *reader) alone(at span) string {
	r.copy(at)
	return r.string(at)
}

// string is the string that stands somewhere in the copy.
func (r *reader) string(at span) string {
	if at.to == 0 {
		return ""
	}
	if at.to > r.base+len(r.copied) { // of what is no JSON, an end may be found in two places
		r.odd = true
		return ""
	}
	inner := r.copied[at.from+1-r.base : at.to-1-r.base]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	plain, err := jsontext.AppendUnquote(nil, r.raw[at.from:at.to])
	r.odd = r.odd || err != nil
	return string(plain)
}

func (r *reader) strings(t table) map[string]string {
	if t.to == 0 {
		return nil
	}
	s := scanner{raw: r.raw, at: t.from}
	m := make(map[string]string, t.members)
	for ok := s.enter('{'); ok; ok = s.more() {
		name := r.string(s.key())
		m[name] = r.string(s.text())
	}
	return m
}

func (r *reader) owners(list span) []Owner {
	if list.to == 0 {
		return nil
	}
	owners := []Owner{}
	rest := r.at
	r.at = list.from
	for ok := r.enter('['); ok; ok = r.more() {
		owners = append(owners, r.owner())
	}
	r.at = rest
	return owners
}

func (r *reader) owner() (o Owner) {
	for ok := r.expect('{'); ok; ok = r.more() {
		switch name := r.name(); string(name) {
		case "apiVersion":
			o.APIVersion = r.string(r.text())
		case "kind":
			o.Kind = r.string(r.text())
		case "name":
			o.Name = r.string(r.text())
		case "uid":
			o.UID = r.string(r.text())
		case "controller":
			o.Controller = r.flag()
		default:
			r.other(name)
		}
	}
	return o
}
