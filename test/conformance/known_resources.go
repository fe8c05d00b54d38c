// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// resourceKeys are the annotations for the proxy's resources: a request and its limit.
var resourceKeys = [][2]string{
	{"sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyCPULimit"},
	{"sidecar.istio.io/proxyMemory", "sidecar.istio.io/proxyMemoryLimit"},
}

// badResources are the annotations that no API server would accept on a pod that has them from no other
// place: less than nothing, and a request above its limit.
func (in *input) badResources() []string {
	spec := pod.Object(in.pod, "spec")
	for _, list := range pod.ContainerLists {
		if pod.Named(pod.Items(spec, list), proxy)["resources"] != nil {
			return nil
		}
	}
	var out []string
	for _, pair := range resourceKeys {
		var both []string
		for _, key := range pair {
			text, read := in.read(key)
			q, err := pod.ParseQuantity(text)
			if !read || err != nil {
				continue
			}
			both = append(both, text)
			if q.Sign() < 0 {
				out = append(out, key)
			}
		}
		if len(both) < 2 {
			continue
		}
		request, _ := pod.ParseQuantity(both[0])
		limit, _ := pod.ParseQuantity(both[1])
		if request.Cmp(limit) > 0 {
			out = append(out, pair[0])
		}
	}
	return out
}

// read is an annotation that a selected template reads.
func (in *input) read(key string) (string, bool) {
	text, ok := in.annotations()[key].(string)
	names := func(template string) bool { return strings.Contains(in.file.Injection.Templates[template], key) }
	return text, ok && slices.ContainsFunc(in.selected(), names)
}

func resourcesContradict(_ *runner, in *input) bool { return len(in.badResources()) > 0 }

// resourcesRefused: the refusal names each annotation with its value.
func resourcesRefused(_ *runner, p *pair) error {
	var named []string
	for _, key := range p.in.badResources() {
		text, _ := p.in.read(key)
		named = append(named, fmt.Sprintf("invalid value '%s' for annotation '%s'", text, key))
	}
	return p.refusedInstead(named...)
}
