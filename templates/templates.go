// SPDX-License-Identifier: Apache-2.0

// Package templates is the configuration that the injector has built in, with its templates. It holds
// files and knows nothing about them.
package templates

import (
	"embed"
	"fmt"
)

// Config is the name of the configuration among the Files.
const Config = "config.yaml"

//go:embed *.yaml
var embedded embed.FS

// Files are the configuration and the templates that it names, by their base names, as a
// configuration is read. The map and the bytes are the caller's own.
func Files() map[string][]byte {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic(fmt.Errorf("list the built-in templates: %w", err)) // they are part of the binary
	}
	files := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		text, err := embedded.ReadFile(entry.Name())
		if err != nil {
			panic(fmt.Errorf("read the built-in template %s: %w", entry.Name(), err))
		}
		files[entry.Name()] = text
	}
	return files
}
