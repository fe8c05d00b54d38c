// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// lineBreaks are the characters that YAML takes for the end of a line.
const lineBreaks = "\n\r\u0085\u2028\u2029"

// verbatim refuses a pod of which an annotation of several lines stands in what a template rendered, as it
// is: no quoting function leaves the breaks in place, and no indenting one the spaces behind them, so the
// pod's author could write fields and containers there. Of the keys that are known here, check has refused
// such values before.
func (r *run) verbatim(template, rendered string) error {
	given := r.head.Metadata.Annotations
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := strings.TrimSpace(given[key])
		if !strings.ContainsAny(value, lineBreaks) || !strings.Contains(rendered, value) {
			continue
		}
		return &reason.Refusal{
			Reason: reason.ParameterInvalid, Path: PodAnnotation.path(key),
			Detail: fmt.Sprintf("invalid value '%s' for annotation '%s': template %q writes it into YAML as it is, and it has several lines", shown(value), key, template),
			Hint:   "give it on one line, or have the template quote it",
		}
	}
	return nil
}
