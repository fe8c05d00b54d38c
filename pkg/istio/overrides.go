// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// text is the containers as the annotation holds them: in the form of the API's own types, which
// tools compare, unless that would lose a field that they do not know.
func (c *containers) text() string {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, list := range [][]any{c.Containers, c.InitContainers} {
		if len(list) == 0 {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(`"` + pod.ContainerLists[i] + `":[`)
		for j, item := range list {
			if j > 0 {
				out.WriteByte(',')
			}
			out.Write(containerJSON(item))
		}
		out.WriteByte(']')
	}
	out.WriteByte('}')
	return out.String()
}

func containerJSON(tree any) []byte {
	raw := pod.Encode(tree)
	if len(pod.Schema().At("spec", "containers").Elem.Check(tree)) > 0 {
		return raw
	}
	var typed corev1.Container
	if json.Unmarshal(raw, &typed) != nil {
		return raw
	}
	out, err := json.Marshal(typed)
	if err != nil {
		return raw
	}
	return out
}
