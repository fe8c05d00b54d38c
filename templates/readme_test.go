// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/render"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeNamesTheData holds the contract to the data that templates are given.
func TestReadmeNamesTheData(t *testing.T) {
	text := readme(t)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[render.Data]()) {
		if !strings.Contains(text, "\n| `."+field.Name+"` |") {
			t.Errorf("the table of what a template reads lacks .%s", field.Name)
		}
	}
}

func TestReadmeNamesTheBounds(t *testing.T) {
	text := readme(t)
	for _, bound := range []string{
		fmt.Sprintf("| %d,%03d |", render.MaxTicks/1000, render.MaxTicks%1000),
		fmt.Sprintf("| %d MiB |", render.MaxOutput>>20),
		fmt.Sprintf("| %d KiB |", render.MaxText>>10),
		fmt.Sprintf("| %d,%03d |", render.MaxItems/1000, render.MaxItems%1000),
		fmt.Sprintf("| %d deep |", render.MaxDepth),
	} {
		if !strings.Contains(text, bound) {
			t.Errorf("the table of the bounds lacks %s", bound)
		}
	}
}

// TestReadmeExample loads the first template that a reader copies, and injects with it.
func TestReadmeExample(t *testing.T) {
	blocks := block.FindAllStringSubmatch(readme(t), -1)
	c, err := config.Parse(map[string][]byte{"greeter.yaml": []byte(blocks[0][1]), "config.yaml": []byte(blocks[1][1])})
	if err != nil {
		t.Fatal(err)
	}
	e, err := inject.New(c, inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := run(t, e, document(t, map[string]any{
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{"greeter.example/greeting": "good morning"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/web:1"}}},
	}))
	greeter := objects(object(result.Tree, "spec"), "initContainers")
	if len(greeter) != 1 || greeter[0]["args"].([]any)[1] != "good morning" {
		t.Errorf("the sidecar is %v", greeter)
	}
	if got := object(result.Tree, "metadata", "labels")["greeter.example/workload"]; got != "web" {
		t.Errorf("the label is %v", got)
	}
}

// TestReadmeQuoting compiles each line of the page's list of good and refused placements.
func TestReadmeQuoting(t *testing.T) {
	params := []config.Parameter{{Name: "greeting", Type: config.TypeString}, {Name: "cpu", Type: config.TypeQuantity}}
	blocks := block.FindAllStringSubmatch(readme(t), -1)
	lines := 0
	for line := range strings.Lines(blocks[2][1]) {
		code, verdict, _ := strings.Cut(line, "  # ")
		_, findings := render.Compile(render.Source{Name: "line", Text: code, Params: params})
		if refused := strings.HasPrefix(verdict, "refused"); refused != (len(findings) > 0) {
			t.Errorf("%s: the findings are %v", strings.TrimSpace(line), findings)
		}
		lines++
	}
	if lines < 5 {
		t.Errorf("%d lines", lines)
	}
}
