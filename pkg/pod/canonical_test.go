// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// The oracle is the API's own type: what it writes is canonical, and says what the input said.
func TestCanonicalIsWhatTheAPIWrites(t *testing.T) {
	for name, text := range map[string]string{
		"quantities":  `{"resources":{"limits":{"cpu":"1000m","memory":"1024Mi"},"requests":{"cpu":0.5}}}`,
		"zero values": `{"args":[],"stdin":false,"workingDir":"","env":[{"name":"A","value":""}],"ports":[{"containerPort":1,"hostPort":0}]}`,
		"kept zeros":  `{"securityContext":{"runAsUser":0,"privileged":false},"envFrom":[{"configMapRef":{"name":"a","optional":false}}]}`,
		"nulls":       `{"args":null,"securityContext":null}`,
		"no quantity": `{"command":["1000m"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			c := corev1.Container{Name: "c"}
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			members := in.(map[string]any)
			members["name"] = "c"
			if members["resources"] == nil {
				members["resources"] = map[string]any{} // always written
			}
			if diff := cmp.Diff(want, Canonical(Schema().At("spec", "containers", "*"), in)); diff != "" {
				t.Errorf("-API +Canonical:\n%s", diff)
			}
		})
	}
}
