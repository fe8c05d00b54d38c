// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// checkVariables judges environment variables that an annotation holds. Templates write their names as they
// are, and their values between quotes: what ends the text there, and has a line of its own after that,
// could become a field or a container. A value of several lines alone cannot, and one with quotes neither.
func checkVariables(field string, variables map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if err := checkText(name); err != nil {
			return fmt.Errorf("%s: the name %s: %w", field, quoted(name), err)
		}
		if value := variables[name]; strings.ContainsAny(value, lineBreaks) && strings.ContainsAny(value, `"'`) {
			return fmt.Errorf("%s[%s]: it holds quotes and several lines, want one of the two", field, shown(name))
		}
	}
	return nil
}

// checkDatadog judges the environment of a Datadog agent. What is no object is the template's affair.
func checkDatadog(text string) error {
	given := jsonObject(text)
	variables := make(map[string]string, len(given))
	for name := range given {
		variables[name] = pod.Text(given, name)
	}
	return checkVariables("variables", variables)
}

// checkMetadata judges the variables that the pod's own ProxyConfig adds to those of the mesh.
func (r *run) checkMetadata() error {
	mesh := r.d.config.Mesh.Mesh().GetDefaultConfig().GetProxyMetadata()
	own := maps.Clone(r.d.config.Mesh.Proxy(nil, "", nil, r.head.Metadata.Annotations).GetProxyMetadata())
	maps.DeleteFunc(own, func(name, value string) bool { return mesh[name] == value })
	return checkVariables("proxyMetadata", own)
}
