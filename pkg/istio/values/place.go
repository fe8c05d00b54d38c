// SPDX-License-Identifier: Apache-2.0

package values

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/pillion-dev/pillion/pkg/config"
)

// place gives faults the lines of their fields, and the order of the lines. JSON is YAML here.
func place(faults config.Errors, text []byte, origin config.Origin) {
	var doc yamlv3.Node
	if !origin.Exact || yamlv3.NewDecoder(bytes.NewReader(text)).Decode(&doc) != nil || len(doc.Content) != 1 {
		return
	}
	for i, f := range faults {
		faults[i].Line = origin.At(lineOf(doc.Content[0], f.Field)).Line
	}
	slices.SortStableFunc(faults, func(a, b config.Error) int { return cmp.Compare(a.Line, b.Line) })
}

// lineOf is the line of a path, or of the nearest place around it.
func lineOf(n *yamlv3.Node, path string) int {
	line := n.Line
	for n != nil && path != "" {
		line = n.Line
		n, path = step(n, path)
	}
	if n != nil {
		line = n.Line
	}
	return line
}

// step is the member with which a path begins, and the rest of the path.
func step(n *yamlv3.Node, path string) (member *yamlv3.Node, rest string) {
	if n.Kind == yamlv3.SequenceNode {
		index, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); err == nil && i < len(n.Content) {
			return n.Content[i], strings.TrimPrefix(rest, ".")
		}
		return nil, ""
	}
	for i := 0; n.Kind == yamlv3.MappingNode && i+1 < len(n.Content); i += 2 {
		rest, ok := strings.CutPrefix(path, n.Content[i].Value)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return n.Content[i+1], strings.TrimPrefix(rest, ".")
		}
	}
	return nil, ""
}
