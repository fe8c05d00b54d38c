// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"bytes"
	"regexp"
)

// bare takes the only file there is for the template of pods, as the original's offline injection does
// with a file that holds no configuration.
func (p *parser) bare(files map[string][]byte) bool {
	if len(files) != 1 {
		return false
	}
	for name, body := range files {
		t := wholeFile(name, bytes.TrimPrefix(body, []byte("\ufeff")))
		if !t.templateAlone() {
			return false
		}
		p.Templates = []Template{{Name: mainTemplate, Text: string(t.body), Origin: t.origin}}
	}
	return true
}

// templateAlone tells whether a text may be a template: it has actions or the fields of a pod, and is no
// object and no configuration with a slip in it.
func (t Text) templateAlone() bool {
	if t.object() || kindLine.Match(t.body) || fields.Match(t.body) {
		return false
	}
	return bytes.Contains(t.body, []byte("{{")) || podLine.Match(t.body)
}

// podLine begins a part of a pod.
var podLine = regexp.MustCompile(`(?m)^(metadata|spec):`)
