// SPDX-License-Identifier: Apache-2.0

// Package values reads the values of Istio's charts that go with the injection templates, and checks
// that every field that Istio knows has the type that it wants.
package values

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
)

// The bounds of what is read.
const (
	maxText   = 1 << 20 // bytes; an API server stores no larger ConfigMap
	maxDepth  = 100     // maps and lists in each other
	maxFaults = 100     // that are told at once
)

// yamlLine finds the line in the message of a YAML error, which has no other place for it.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// Parse reads the text of the key values, JSON or YAML, into the tree that templates see: maps,
// lists, string, bool, nil, and float64 for every number. A known field of a wrong type is a fault;
// fields that Istio does not know are welcome. The error is config.Errors.
func Parse(text []byte, origin config.Origin) (map[string]any, error) {
	tree, fault := read(text, origin)
	if fault != nil {
		return nil, config.Errors{*fault}
	}
	values, ok := tree.(map[string]any)
	if !ok {
		detail := "there are no values"
		if tree != nil {
			detail = "want a map, got " + describe(tree)
		}
		return nil, config.Errors{{File: origin.File, Line: origin.First, Detail: detail, Hint: `put the values of the chart under the key "values", at least {"global": {}}`}}
	}
	c := checker{origin: origin}
	c.value("", reflect.TypeFor[chart](), values, 0)
	if len(c.faults) > 0 {
		place(c.faults, text, origin)
		return nil, c.faults
	}
	return values, nil
}

// read is the tree of a text. The charts write JSON; in YAML aliases are not read, since a short text
// of them could fill the memory.
func read(text []byte, origin config.Origin) (any, *config.Error) {
	whole := func(detail string) *config.Error {
		return &config.Error{File: origin.File, Line: origin.First, Detail: detail}
	}
	if len(text) > maxText {
		return nil, whole(fmt.Sprintf("the text has %d bytes, and at most %d are read", len(text), maxText))
	}
	raw := text
	if !json.Valid(text) {
		if bytes.Contains(text, []byte("&")) && bytes.Contains(text, []byte("*")) && aliased(text) {
			fault := whole("YAML aliases are not read here")
			fault.Hint = "write the values out"
			return nil, fault
		}
		var err error
		if raw, err = yaml.YAMLToJSON(text); err != nil {
			found := yamlLine.FindStringSubmatch(err.Error())
			line, _ := strconv.Atoi(found[1])
			at := origin.At(line)
			return nil, &config.Error{File: at.File, Line: at.Line, Detail: "neither JSON nor YAML: " + strings.TrimPrefix(err.Error(), found[0])}
		}
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, whole("neither JSON nor YAML: " + err.Error())
	}
	return tree, nil
}

// aliased tells whether a YAML text has aliases, or may have.
func aliased(text []byte) bool {
	var doc yamlv3.Node
	return yamlv3.NewDecoder(bytes.NewReader(text)).Decode(&doc) != nil || hasAlias(&doc)
}

func hasAlias(n *yamlv3.Node) bool {
	if n.Kind == yamlv3.AliasNode {
		return true
	}
	for _, child := range n.Content {
		if hasAlias(child) {
			return true
		}
	}
	return false
}
