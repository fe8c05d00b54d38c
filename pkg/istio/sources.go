// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"bytes"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/pillion-dev/pillion/pkg/config"
)

// The keys of the ConfigMaps: those of the injector, and that of the mesh.
const (
	configKey = "config"
	valuesKey = "values"
	meshKey   = "mesh"
)

// maxDocument bounds what is looked through as YAML; an API server stores no larger object.
const maxDocument = 4 << 20

// Text is a text of the configuration and where it stands.
type Text struct {
	key    string
	body   []byte
	origin config.Origin
}

// InFile is the text with another name for its file.
func (t Text) InFile(name func(file string) string) Text {
	t.origin.File = name(t.origin.File)
	return t
}

// gather finds the texts of the keys: files of these names, and the data of ConfigMap manifests,
// alone, beside each other or in a List. A file of another name counts as the injection configuration
// where it has the shape of one and nothing else does. The other files are returned as they are.
func gather(files map[string][]byte) (found map[string]Text, rest map[string][]byte) {
	found, rest = map[string]Text{}, map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		body := bytes.TrimPrefix(files[name], []byte("\ufeff"))
		whole := wholeFile(name, body)
		switch maps := configMaps(whole); {
		case maps != nil:
			merge(found, maps)
			if dialectOf(body) != "" {
				rest[name] = files[name] // it holds a configuration of our own, too
			}
		case (name == configKey || name == valuesKey || name == meshKey) && dialectOf(body) == "":
			found[name] = whole
		default:
			rest[name] = files[name]
		}
	}
	if _, ok := found[configKey]; !ok {
		for _, name := range slices.Sorted(maps.Keys(rest)) {
			if shaped(rest[name]) {
				t := wholeFile(name, rest[name])
				t.key = configKey
				found[configKey] = t
				delete(rest, name)
				break
			}
		}
	}
	return found, rest
}

// Holds tells whether a file or a ConfigMap among files is the text of a key.
func Holds(files map[string][]byte, key string) bool {
	found, _ := gather(files)
	_, ok := found[key]
	return ok
}

// wholeFile is the text that a file is.
func wholeFile(name string, body []byte) Text {
	return Text{name, body, config.Origin{File: name, First: 1, Exact: true}}
}

// Find is the text of a key in files: of the file or the ConfigMap's key of that name, or else the only
// file, unless that is an object of Kubernetes.
func Find(files map[string][]byte, key string) (Text, bool) {
	found, rest := gather(files)
	if t, ok := found[key]; ok {
		return t, true
	}
	if len(rest) != 1 || len(files) != 1 {
		return Text{}, false
	}
	for name, body := range rest {
		t := wholeFile(name, body)
		t.key = key
		return t, !t.object()
	}
	return Text{}, false
}

// object tells whether a text is an object of Kubernetes.
func (t Text) object() bool {
	doc := t.document()
	return scalar(doc, "kind") != "" && scalar(doc, "apiVersion") != ""
}

// merge adds texts that are not there yet.
func merge(into, more map[string]Text) {
	for key, t := range more {
		if _, ok := into[key]; !ok {
			into[key] = t
		}
	}
}

// configMaps is the data of the ConfigMaps in a text, by key; nil where it holds none with a key of
// ours.
func configMaps(t Text) map[string]Text {
	if len(t.body) > maxDocument || !bytes.Contains(t.body, []byte("ConfigMap")) {
		return nil
	}
	var found map[string]Text
	dec := yaml.NewDecoder(bytes.NewReader(t.body))
	for {
		var doc yaml.Node
		if err := dec.Decode(&doc); err != nil {
			return found
		}
		for _, item := range objects(&doc) {
			if keys := t.keys(item); found == nil {
				found = keys
			} else {
				merge(found, keys)
			}
		}
	}
}

// keys is what a ConfigMap holds under our keys; nil for nothing, and for another object.
func (t Text) keys(object *yaml.Node) map[string]Text {
	if scalar(object, "kind") != "ConfigMap" {
		return nil
	}
	var found map[string]Text
	data := member(object, "data")
	for _, key := range []string{configKey, valuesKey, meshKey} {
		value := member(data, key)
		if value == nil || value.Kind != yaml.ScalarNode {
			continue
		}
		if found == nil {
			found = map[string]Text{}
		}
		found[key] = Text{key, []byte(value.Value), t.at(value)}
	}
	return found
}

// objects are the objects of a document: itself, or the items of a List.
func objects(doc *yaml.Node) []*yaml.Node {
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		doc = doc.Content[0]
	}
	if items := member(doc, "items"); items != nil && items.Kind == yaml.SequenceNode {
		return items.Content
	}
	return []*yaml.Node{doc}
}

func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalar(n *yaml.Node, key string) string {
	if v := member(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// at is where the text of a scalar stands. A literal block keeps its lines.
func (t Text) at(n *yaml.Node) config.Origin {
	line, literal := n.Line, n.Style&yaml.LiteralStyle != 0
	if literal {
		line++
	}
	at := t.origin.At(line)
	return config.Origin{File: at.File, First: at.Line, Exact: literal && t.origin.Exact}
}

// document is the first document of a text; nil where it is no YAML.
func (t Text) document() *yaml.Node {
	if len(t.body) > maxDocument {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(t.body, &doc) != nil || doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// fields begin the lines of an injection configuration that is no YAML.
var fields = regexp.MustCompile(`(?m)^(templates|policy|defaultTemplates|aliases):`)

// shaped tells whether a text has the shape of an injection configuration: a map of templates, or a
// policy with default templates, and no kind. One that is no YAML, by a slip, is known by its lines.
func shaped(body []byte) bool {
	doc := Text{body: body}.document()
	if doc == nil {
		return len(body) <= maxDocument && !kindLine.Match(body) && fields.Match(body)
	}
	if scalar(doc, "kind") != "" {
		return false
	}
	templates := member(doc, "templates")
	if templates != nil {
		return templates.Kind == yaml.MappingNode
	}
	return member(doc, "policy") != nil && member(doc, "defaultTemplates") != nil
}

// kindLine is in every object of Kubernetes.
var kindLine = regexp.MustCompile(`(?m)^kind:`)
