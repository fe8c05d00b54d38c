// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/pillion-dev/pillion/pkg/annotation"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// maxStructure bounds what the parser makes of the output.
const maxStructure = 50_000

// layer parses what was rendered and checks that it is a partial pod.
func (r *run) layer() (map[string]any, error) {
	if structure(r.out) > maxStructure {
		return nil, tooMuch("the template renders more than %d values", maxStructure)
	}
	root, err := r.template.shelf.parse(r.out)
	if err != nil {
		return nil, outputFault(err)
	}
	b := builder{layer: true}
	if !r.template.source.Bare {
		b.run = r
	}
	v, err := b.build(root, pod.Schema())
	if err != nil {
		return nil, outputFault(err)
	}
	tree, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, invalid(1, "", "want a partial pod with metadata and spec, got "+pod.Describe(v), "")
	}
	if f := check(tree); f != nil {
		f.line = lineOf(root, f.path)
		f.path = pod.Dotted(f.path)
		return nil, f
	}
	stripped, _ := strip(tree).(map[string]any)
	if stripped == nil {
		stripped = map[string]any{}
	}
	delete(stripped, "apiVersion")
	delete(stripped, "kind")
	return stripped, nil
}

// outputFault gives a fault of the rendered text the form of one of the rendering.
func outputFault(err error) error {
	var at *misplaced
	if !errors.As(err, &at) {
		return err
	}
	return invalid(at.line, at.pointer, at.detail, "")
}

func invalid(line int, pointer, detail, hint string) *fault {
	return &fault{why: reason.TemplateOutputInvalid, at: -1, line: line, path: pod.Dotted(pointer), detail: detail, hint: hint}
}

// check returns the first fault of a layer, with the field's pointer as path.
func check(tree map[string]any) *fault {
	if f := checkTop(tree); f != nil {
		return f
	}
	faults := pod.Schema().Check(tree)
	if len(faults) > 0 {
		f := &fault{why: reason.TemplateOutputInvalid, path: faults[0].Pointer, detail: faults[0].Detail, hint: fieldHint(faults[0].Pointer)}
		if more := len(faults) - 1; more > 0 {
			f.detail += fmt.Sprintf(" (and %d more)", more)
		}
		return f
	}
	metadata, _ := tree["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if f := checkKeys(labels, "/metadata/labels", content.IsLabelKey); f != nil {
		return f
	}
	if f := checkLabelValues(labels); f != nil {
		return f
	}
	return checkKeys(annotations, "/metadata/annotations", func(key string) []string {
		return content.IsLabelKey(strings.ToLower(key))
	})
}

// checkTop refuses what a template has no say in.
func checkTop(tree map[string]any) *fault {
	only := func(m any, pointer string, allowed ...string) *fault {
		fields, _ := m.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !slices.Contains(allowed, name) {
				return &fault{
					why: reason.TemplateOutputInvalid, path: string(pod.AppendToken([]byte(pointer), name)),
					detail: "a template must not set this", hint: "a template sets metadata.labels, metadata.annotations and spec",
				}
			}
		}
		return nil
	}
	if f := only(tree, "", "apiVersion", "kind", "metadata", "spec"); f != nil {
		return f
	}
	if f := only(tree["metadata"], "/metadata", "labels", "annotations"); f != nil {
		return f
	}
	for _, is := range [][2]string{{"apiVersion", "v1"}, {"kind", "Pod"}} {
		if got, set := tree[is[0]]; set && got != is[1] {
			return &fault{why: reason.TemplateOutputInvalid, path: "/" + is[0], detail: "want " + is[1] + ", got " + pod.Describe(got)}
		}
	}
	if spec, _ := tree["spec"].(map[string]any); spec["ephemeralContainers"] != nil {
		return &fault{why: reason.TemplateOutputInvalid, path: "/spec/ephemeralContainers", detail: "a template must not set this", hint: "ephemeral containers are added to running pods only"}
	}
	return nil
}

// fieldHint names the field that was probably meant.
func fieldHint(pointer string) string {
	t := pod.Schema()
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		if t != nil && t.Kind == pod.List {
			t = t.Elem
			continue
		}
		if i == len(tokens)-1 && t != nil && t.Kind == pod.Struct && t.Field(token) == nil {
			if near := reason.Nearest(token, slices.Sorted(maps.Keys(t.Fields))); near != "" {
				return "did you mean " + near + "?"
			}
		}
		t = t.Field(token)
	}
	return ""
}

// checkKeys refuses our own keys, and those that the API server would refuse.
func checkKeys(m map[string]any, pointer string, judge func(string) []string) *fault {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		path := string(pod.AppendToken([]byte(pointer), key))
		if strings.HasPrefix(key, annotation.Domain+"/") {
			return &fault{why: reason.ReservedKey, path: path, detail: "only the injector writes keys under " + annotation.Domain + "/", hint: "use a domain of your own"}
		}
		if faults := judge(key); len(faults) > 0 {
			return &fault{why: reason.LabelInvalid, path: path, detail: pod.Describe(key) + ": " + faults[0]}
		}
	}
	return nil
}

func checkLabelValues(labels map[string]any) *fault {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, _ := labels[key].(string)
		if faults := content.IsLabelValue(value); len(faults) > 0 {
			return &fault{
				why: reason.LabelInvalid, path: string(pod.AppendToken([]byte("/metadata/labels"), key)),
				detail: pod.Describe(value) + ": " + faults[0], hint: "pipe it through labelValue before quote",
			}
		}
	}
	return nil
}

// strip drops the nulls, in place: a null means that the field is absent.
func strip(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = strip(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if item == nil {
				delete(v, key)
				continue
			}
			v[key] = strip(item)
		}
	}
	return v
}

// lineOf finds the line of a field, or of the innermost one around it that the text has.
func lineOf(n *yaml.Node, pointer string) int {
	line := 1
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] {
		at, inner := child(n, unescape.Replace(token))
		if inner == nil {
			break
		}
		n, line = inner, at
	}
	return line
}

// child finds a field or an item of a node, and its line.
func child(n *yaml.Node, name string) (line int, inner *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i].Line, n.Content[i]
		}
		return 0, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Value == name {
			return key.Line, n.Content[i+1]
		}
	}
	return 0, nil
}
