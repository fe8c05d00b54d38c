// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
	"go.yaml.in/yaml/v3"
)

// encode is a pod's JSON, with apiVersion and kind put to a template.
func (p *Pod) encode(n *yaml.Node) ([]byte, error) {
	r := reader{doc: p.doc, path: p.path}
	value, err := r.value(n, 0)
	if err != nil {
		return nil, err
	}
	tree := value.(map[string]any)
	if !p.owner.bare {
		tree["apiVersion"], tree["kind"] = "v1", "Pod"
	}
	return pod.Encode(tree), nil
}

// reader turns nodes without aliases into a tree.
type reader struct {
	doc  *Document
	path []byte
}

func (r *reader) fail(n *yaml.Node, err error) error { return r.doc.fail(n, r.path, err) }

func (r *reader) value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, r.fail(n, errDepth)
	}
	mark := len(r.path)
	defer func() { r.path = r.path[:mark] }()
	switch n.Kind {
	case yaml.ScalarNode:
		value, err := r.scalar(n)
		if err != nil {
			return nil, r.fail(n, err)
		}
		return value, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			r.path = strconv.AppendInt(append(r.path[:mark], '/'), int64(i), 10)
			var err error
			if list[i], err = r.value(c, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		return r.mapping(n, depth)
	}
	return nil, r.fail(n, errors.New("an alias where none can be"))
}

func (r *reader) mapping(n *yaml.Node, depth int) (any, error) {
	mark := len(r.path)
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := r.key(n.Content[i])
		if err != nil {
			return nil, r.fail(n.Content[i], err)
		}
		r.path = pod.AppendToken(r.path[:mark], key)
		if _, twice := m[key]; twice {
			return nil, r.fail(n.Content[i], errors.New("duplicate key"))
		}
		if m[key], err = r.value(n.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// key reads a key, which must be a string. Words such as n and on, which YAML 1.1 alone takes for
// truth values, are read as their author means them.
func (r *reader) key(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("want a string as key, got %s", describe(n))
	}
	value, err := r.scalar(n)
	if err != nil {
		return "", err
	}
	key, ok := value.(string)
	if !ok && n.ShortTag() == "!!str" {
		return n.Value, nil
	}
	if !ok {
		return "", fmt.Errorf("want a string as key, got %s: put it in quotes", n.Value)
	}
	return key, nil
}

func (r *reader) scalar(n *yaml.Node) (any, error) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tagged := n.Style&yaml.TaggedStyle != 0
	switch {
	case r.doc.src.json && (n.Tag == "!!int" || n.Tag == "!!float"):
		return pod.Number(n.Value), nil
	case !tagged && n.Style&quoted != 0, tagged && n.ShortTag() == "!!str", isMerge(n):
		return n.Value, nil
	}
	value, err := resolve(n.Value)
	if err != nil || !tagged {
		return value, err
	}
	if tag := n.ShortTag(); tag != tagOf(value) && (tag != "!!float" || tagOf(value) != "!!int") {
		return nil, fmt.Errorf("the tag %s does not go with %s", tag, pod.Describe(n.Value))
	}
	return value, nil
}

func tagOf(value any) string {
	switch value.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case int64:
		return "!!int"
	case json.Number:
		return "!!float"
	}
	return "!!str"
}

var (
	floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	digitForm = regexp.MustCompile(`^-?[1-9][0-9]*$`)
)

// resolve is what kubectl reads in a plain scalar: YAML 1.1 without its sexagesimal numbers and
// dates. So yes is true, 0123 is 83 and 1e3 is 1000.
func resolve(text string) (any, error) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, nil
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, nil
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return nil, fmt.Errorf("JSON has no number %s", text)
	}
	if !strings.ContainsRune("+-.0123456789", rune(text[0])) {
		return text, nil
	}
	plain := text
	if text[0] != '.' {
		plain = strings.ReplaceAll(text, "_", "")
		if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
			return json.Number(strconv.FormatUint(u, 10)), nil
		}
	}
	if digitForm.MatchString(plain) {
		return json.Number(plain), nil // keeps every digit, where a float would not
	}
	if !floatForm.MatchString(plain) {
		return text, nil
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		return text, nil
	}
	literal, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return pod.Number(string(literal)), nil
}
