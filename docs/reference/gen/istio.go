// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pillion-dev/pillion/pkg/istio"
)

// istioKeys is the page of the Istio dialect's labels and annotations.
func istioKeys() []byte {
	var b bytes.Buffer
	b.WriteString(notice + "# Labels and annotations of the Istio dialect\n\n")
	b.WriteString("What these keys mean is [Istio's](../istio.md); what is listed here is read or written by the injector or by the templates that come with Istio. ")
	b.WriteString("A value that cannot be what its key wants, such as a port that is no port or a text with a line break, refuses the pod (INJ303); ")
	b.WriteString("a key that looks like one of these and is none is told as a warning (INJ202, INJ203).\n\n")
	b.WriteString("| key | place | values | meaning |\n|---|---|---|---|\n")
	for _, k := range istio.Keys() {
		place := k.Place.String()
		if k.Written {
			place += ", also written by the injection"
		}
		values := k.Type
		if k.Bounds != "" {
			values += ": " + k.Bounds
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, place, cell(values), cell(k.Doc))
	}
	return b.Bytes()
}

// cell is a text in a table, where a bar would end it.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
