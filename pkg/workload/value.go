// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeOf is a new node for a tree value. flow tells that it will stand in a flow collection.
func nodeOf(value any, flow bool) (*yaml.Node, error) {
	switch v := value.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}, nil
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}, nil
	case json.Number:
		return numberNode(v)
	case string:
		return textNode(v, flow, false), nil
	case []any:
		return listNode(v, flow)
	case map[string]any:
		return mapNode(v, flow)
	}
	return nil, fmt.Errorf("%T is no tree value", value)
}

// numberNode keeps a number's literal. One that YAML readers take for text is refused.
func numberNode(literal json.Number) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: literal.String()}
	n.Tag = n.ShortTag()
	value, err := resolve(n.Value)
	if err != nil {
		return nil, err
	}
	if tag := tagOf(value); tag != "!!int" && tag != "!!float" || n.Tag != "!!int" && n.Tag != "!!float" {
		return nil, fmt.Errorf("the number %s is too large to be written", literal)
	}
	return n, nil
}

func listNode(list []any, flow bool) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: collection(len(list), flow)}
	for _, item := range list {
		c, err := nodeOf(item, flow)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
	return n, nil
}

// mapNode puts the name first and the image second, as people write containers, and the rest in
// the order of the alphabet.
func mapNode(m map[string]any, flow bool) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: collection(len(m), flow)}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if ra, rb := rank(a), rank(b); ra != rb {
			return ra - rb
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		c, err := nodeOf(m[key], flow)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, textNode(key, flow, true), c)
	}
	return n, nil
}

func rank(key string) int {
	switch key {
	case "name":
		return 0
	case "image":
		return 1
	}
	return 2
}

func collection(size int, flow bool) yaml.Style {
	if flow || size == 0 {
		return yaml.FlowStyle
	}
	return 0
}

// textNode is a string: plain where every reader, of YAML 1.1 or 1.2, takes it for a string; a
// literal block where it has lines; in single quotes where double ones would need escapes; in double
// quotes otherwise.
func textNode(text string, flow, key bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	switch {
	case plainText(text) && !(flow && strings.Contains(text, ":")):
		n.Style = 0
	case !flow && !key && strings.Contains(text, "\n") && blockText.MatchString(text):
		n.Style = yaml.LiteralStyle
	case strings.ContainsAny(text, `"\`) && lineText.MatchString(text):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

var (
	// A letter first, and nothing inside that could be an indicator; a colon not before a space.
	plainForm = regexp.MustCompile(`^[A-Za-z/_](?:[A-Za-z0-9_./@%+=~-]|:[A-Za-z0-9_./@%+=~-]| [A-Za-z0-9_./@%+=~-])*$`)
	// A quantity or a duration, which no reader takes for a number.
	unitForm = regexp.MustCompile(`^[1-9][0-9]*(?:m|k|M|G|T|Ki|Mi|Gi|Ti|s|h|ms)$`)
	// Lines that begin and end with something that shows, so that a block holds them as they are.
	blockText = regexp.MustCompile(`^[!-~](?:[ -~]*[!-~])?(?:\n+[ -~]*[!-~])*\n?$`)
	lineText  = regexp.MustCompile(`^[ -~]*$`)
)

func plainText(text string) bool {
	if unitForm.MatchString(text) {
		return true
	}
	if !plainForm.MatchString(text) {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "yes", "n", "no", "true", "false", "on", "off", "null", "nan", "inf", "infinity":
		return false
	}
	return true
}
