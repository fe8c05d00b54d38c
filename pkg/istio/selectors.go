// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// note tells of a field of the configuration that has no effect.
type note struct{ field, detail string }

// selectors are alternatives: one that matches is enough.
type selectors []selector

type selector struct {
	labels.Selector
	text string
}

// compileSelectors leaves out empty selectors, which never match, and invalid ones, with a note on
// each: a slip in one must not stop the injection of the whole mesh.
func compileSelectors(field string, list []metav1.LabelSelector) (selectors, []note) {
	var out selectors
	var notes []note
	for i := range list {
		s, err := metav1.LabelSelectorAsSelector(&list[i])
		switch {
		case err != nil:
			notes = append(notes, note{fmt.Sprintf("%s[%d]", field, i), "the selector is ignored: " + shown(err.Error())})
		case !s.Empty():
			out = append(out, selector{s, s.String()})
		}
	}
	return out, notes
}

// match is the text of the first selector that matches.
func (s selectors) match(given map[string]string) (string, bool) {
	for _, sel := range s {
		if sel.Matches(labels.Set(given)) {
			return sel.text, true
		}
	}
	return "", false
}
