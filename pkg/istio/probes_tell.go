// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// probers is what the agent is told, by the path at which it answers.
type probers map[string]*prober

// tell gives the handlers to the agent, beside those that it knows already. On a pod that was injected
// before, what it knows wins: the handlers there were the author's, those here may be its own.
func (p probers) tell(proxy map[string]any, before bool) error {
	if len(p) == 0 {
		return nil
	}
	known := probers{}
	if json.Unmarshal([]byte(pod.Text(pod.Named(pod.Items(proxy, "env"), probersEnv), "value")), &known) != nil {
		known = nil // the agent would not start with it
	}
	all := maps.Clone(known)
	if all == nil {
		all = probers{}
	}
	maps.Copy(all, p)
	if before {
		maps.Copy(all, known)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write %s: %w", probersEnv, err)
	}
	setEnv(proxy, probersEnv, string(text))
	return nil
}
