// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// The bounds of what is read. An annotation is written by anybody who may create a pod.
const (
	maxText       = 1 << 20 // bytes of a mesh configuration or a resource
	maxAnnotation = 64 << 10
	maxDepth      = 100 // maps and lists in each other
	maxFaults     = 100 // that are told at once
)

// source is a text and where it stands.
type source struct {
	text   []byte
	origin config.Origin
}

// fault is something wrong, or odd, at a path of a document: the names of fields, [n] for an item
// and [key] for an entry of a map.
type fault struct {
	path    []string
	detail  string
	hint    string
	unknown string // as in config.Error
	known   []string
}

// yamlLine finds the line in the message of a YAML error, which has no other place for it.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// tree reads the first YAML document of the text, with the rules of YAML 1.1 that istiod reads by.
func (s source) tree(most int) (any, *config.Error) {
	if len(s.text) > most {
		return nil, s.whole(fmt.Sprintf("the text has %d bytes, and at most %d are read", len(s.text), most))
	}
	if s.explodes(8 * most) {
		return nil, s.whole("its aliases repeat too much")
	}
	raw, err := yaml.YAMLToJSON(s.text)
	if err != nil {
		found := yamlLine.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(found[1])
		at := s.origin.At(line)
		return nil, &config.Error{File: at.File, Line: at.Line, Detail: "not YAML: " + strings.TrimPrefix(err.Error(), found[0])}
	}
	tree, err := pod.Decode(raw)
	if err != nil {
		return nil, s.whole("not YAML: " + err.Error())
	}
	if deeper(tree, maxDepth) {
		return nil, s.whole(fmt.Sprintf("more than %d maps and lists in each other", maxDepth))
	}
	return tree, nil
}

// whole is a fault of the whole text.
func (s source) whole(detail string) *config.Error {
	return &config.Error{File: s.origin.File, Line: s.origin.First, Detail: detail}
}

// deeper tells whether a tree has more levels than wanted.
func deeper(tree any, levels int) bool {
	switch v := tree.(type) {
	case map[string]any:
		for _, item := range v {
			if levels == 0 || deeper(item, levels-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return levels == 0 || deeper(item, levels-1) })
	}
	return false
}

// explodes tells whether aliases make the text longer than so many bytes. One kilobyte of aliases of
// aliases could fill the memory.
func (s source) explodes(most int) bool {
	if !bytes.Contains(s.text, []byte("&")) || !bytes.Contains(s.text, []byte("*")) {
		return false
	}
	root := s.node()
	if root == nil {
		return true // what cannot be measured is not read
	}
	e := expansion{most: most, sizes: map[*yamlv3.Node]int{}}
	return e.size(root) >= most
}

// expansion measures a document with its aliases written out.
type expansion struct {
	most  int
	sizes map[*yamlv3.Node]int
}

func (e *expansion) size(n *yamlv3.Node) int {
	if n == nil {
		return 0
	}
	if size, ok := e.sizes[n]; ok {
		return size
	}
	e.sizes[n] = e.most // a node that holds itself never ends
	size := len(n.Value) + 8
	if n.Kind == yamlv3.AliasNode {
		size += e.size(n.Alias)
	}
	for _, child := range n.Content {
		size = min(e.most, size+e.size(child))
	}
	e.sizes[n] = size
	return size
}

// node is the first document with its lines; nil where it is none.
func (s source) node() *yamlv3.Node {
	var doc yamlv3.Node
	if yamlv3.NewDecoder(bytes.NewReader(s.text)).Decode(&doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// place gives faults their lines and their order.
func (s source) place(faults []fault) config.Errors {
	if len(faults) == 0 {
		return nil
	}
	var root *yamlv3.Node
	if len(s.text) <= maxText {
		root = s.node()
	}
	list := make(config.Errors, 0, len(faults))
	for _, f := range faults {
		at := s.origin.At(lineOf(root, f.path))
		list = append(list, config.Error{
			File: at.File, Line: at.Line, Field: dotted(f.path), Detail: f.detail, Hint: f.hint, Unknown: f.unknown, Known: f.known,
		})
	}
	slices.SortStableFunc(list, func(a, b config.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Detail, b.Detail))
	})
	return list
}

// lineOf is the line of a path, or of the nearest place around it.
func lineOf(n *yamlv3.Node, path []string) int {
	line := 0
	for _, token := range path {
		n = member(n, token)
		if n == nil {
			break
		}
		line = n.Line
	}
	return line
}

// member is the value of a field, an item or an entry.
func member(n *yamlv3.Node, token string) *yamlv3.Node {
	inner := strings.TrimSuffix(strings.TrimPrefix(token, "["), "]")
	switch {
	case n == nil:
	case n.Kind == yamlv3.AliasNode:
		return member(n.Alias, token)
	case n.Kind == yamlv3.SequenceNode:
		if i, err := strconv.Atoi(inner); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	case n.Kind == yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == inner {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// dotted writes a path, such as extensionProviders[1].name.
func dotted(path []string) string {
	var b strings.Builder
	for i, token := range path {
		if i > 0 && token != "" && token[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}
