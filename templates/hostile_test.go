// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"text/template/parse"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/config"
)

// hostile are texts that would do harm if anything took them for more than text.
var hostile = []string{
	"x\n  - name: extra\n    image: registry.example/extra:1\n    securityContext: {privileged: true}",
	"x\r\n    securityContext: {privileged: true}",
	`x", "--admin=0.0.0.0`,
	`x'}, {name: extra, image: 'registry.example/extra:1`,
	"x: {privileged: true} # ",
	"{{ .Values.secret }}",
	`{{ with secret "secret/data/other" }}{{ .Data }}{{ end }}`,
	`x" }}{{ env "HOME" }}{{ with secret "y`,
	"$(POD_NAME)", "${env:HOME}", "$HOME", "`id`", "$(id)", "x; id", "x && id",
	"*anchor", "&anchor x", "!!binary eA==", "| x", "> x", "- x", "? x", "yes", "null", "~", "1e3", "0o17",
	"../../etc/passwd", "/../x", "x\x00", "x\u2028y", "\ufeffx", "\uE0000\uE001", "\xff", "", " ", "---", "...",
	strings.Repeat("x", 70_000),
}

// TestHostileAnnotations sets every annotation to every hostile text. It is refused, or it changes
// nothing but texts.
func TestHostileAnnotations(t *testing.T) {
	for name, c := range compile(t) {
		for _, p := range c.Parameters {
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				a := ask{annotations: maps.Clone(settings[name][p.Name].with)}
				if a.annotations == nil {
					a.annotations = map[string]string{}
				}
				a.annotations[p.Annotation] = settings[name][p.Name].value
				if p.Name == "containers" {
					a.annotations[p.Annotation] = "app"
				}
				want := shape(t, "", c.must(t, a))
				for _, text := range hostile {
					a.annotations[p.Annotation] = text
					tree, err := c.layer(t, a)
					if err != nil {
						if !strings.Contains(err.Error(), p.Annotation) {
							t.Errorf("%.40q: the refusal does not name the annotation: %v", text, err)
						}
						continue
					}
					if diff := cmp.Diff(want, shape(t, "", tree)); diff != "" {
						t.Errorf("%.40q changes the layer's shape (-want +got):\n%s", text, diff)
					}
				}
			})
		}
	}
}

// TestQuotingStandsAlone puts the hostile texts past the parameters' bounds: the templates' quoting
// holds without them. Of a list only the shape without the list's own signs is known.
func TestQuotingStandsAlone(t *testing.T) {
	for name, c := range compile(t) {
		for _, p := range c.Parameters {
			if p.Type != config.TypeString || p.Name == "containers" {
				continue
			}
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				a := ask{annotations: settings[name][p.Name].with, instead: map[string]any{p.Name: "x=y"}}
				want := shape(t, "", c.must(t, a))
				for _, text := range hostile {
					if text == "" || len(text) > 1<<12 {
						continue // absent, and past the bounds of the sandbox
					}
					if p.Name == "secrets" || p.Name == "instances" {
						text = "x=" + strings.NewReplacer(",", ";", "=", "-").Replace(text)
					}
					a.instead[p.Name] = text
					if diff := cmp.Diff(want, shape(t, "", c.must(t, a))); diff != "" {
						t.Errorf("%q changes the layer's shape (-want +got):\n%s", text, diff)
					}
				}
			})
		}
	}
}

// TestSecretPathsStayPaths reads what Vault is given as its own template: whatever the path, it is one
// argument of one call.
func TestSecretPathsStayPaths(t *testing.T) {
	c := compile(t)["vault-agent"]
	for _, text := range hostile {
		path := strings.NewReplacer(",", ";", "=", "-").Replace(text)
		if !utf8.ValidString(path) || len(path) > 1<<12 {
			continue
		}
		tree := c.must(t, ask{native: true, instead: map[string]any{"secrets": "file=" + path}})
		var agent struct {
			Template []struct{ Contents string }
		}
		for _, env := range objects(brought(tree)[0], "env") {
			if env["name"] == "AGENT_CONFIG" {
				if err := json.Unmarshal([]byte(env["value"].(string)), &agent); err != nil {
					t.Fatal(err)
				}
			}
		}
		parsed := parse.New("contents")
		parsed.Mode = parse.SkipFuncCheck
		if _, err := parsed.Parse(agent.Template[0].Contents, "", "", map[string]*parse.Tree{}); err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		with, ok := parsed.Root.Nodes[0].(*parse.WithNode)
		if !ok || len(parsed.Root.Nodes) != 1 || len(with.Pipe.Cmds) != 1 {
			t.Fatalf("%q becomes %s", path, parsed.Root)
		}
		if got := with.Pipe.Cmds[0].Args[1].(*parse.StringNode).Text; got != path {
			t.Errorf("the path %q becomes %q", path, got)
		}
	}
}

// shape is a value without its scalars; also that of the documents inside the two variables that
// hold a whole configuration.
func shape(t *testing.T, key string, value any) any {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			out[k] = shape(t, k, item)
		}
		if text, ok := v["value"].(string); ok && (v["name"] == "OTEL_AGENT_CONFIG" || v["name"] == "AGENT_CONFIG") {
			var inner map[string]any
			if err := yaml.UnmarshalStrict([]byte(text), &inner); err != nil {
				t.Errorf("%s is no document: %v\n%s", v["name"], err, text)
			}
			out["value"] = shape(t, "", inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = shape(t, key, item)
		}
		return out
	}
	return fmt.Sprintf("%s is a %T", key, value)
}
