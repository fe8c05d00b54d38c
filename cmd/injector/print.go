// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// printer gives the function that prints a list in the wanted format. JSON and YAML are always a
// list.
func printer[T any](format string, table func(io.Writer, []T) error) (func(io.Writer, []T) error, error) {
	switch format {
	case "table":
		return table, nil
	case "json":
		return func(w io.Writer, list []T) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			return enc.Encode(nonNil(list))
		}, nil
	case "yaml":
		return func(w io.Writer, list []T) error {
			out, err := yaml.Marshal(nonNil(list))
			if err != nil {
				return err
			}
			_, err = w.Write(out)
			return err
		}, nil
	}
	return nil, usage("want table, json or yaml", "-o %q is not known", format)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
