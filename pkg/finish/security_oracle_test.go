// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// genome turns a text into choices; past its end every choice is the first, with which a container
// keeps to the restricted standard.
type genome struct {
	text    []byte
	at      int
	choices int // asked for so far
}

func (g *genome) of(options ...string) string {
	g.choices++
	if g.at >= len(g.text) {
		return options[0]
	}
	g.at++
	return options[int(g.text[g.at-1])%len(options)]
}

// member is one of the values under a key, with a comma before it; empty for an empty value.
func (g *genome) member(key string, values ...string) string {
	value := g.of(values...)
	if value == "" {
		return ""
	}
	return fmt.Sprintf(`,%q:%s`, key, value)
}

const (
	runtimeDefault = `{"type":"RuntimeDefault"}`
	localhost      = `{"type":"Localhost"}`
	unconfined     = `{"type":"Unconfined"}`
)

// common are the members that a pod's security context shares with a container's.
func (g *genome) common() string {
	return g.member("runAsUser", "", "7", "0") +
		g.member("appArmorProfile", "", runtimeDefault, localhost, unconfined) +
		g.member("windowsOptions", "", `{"hostProcess":true}`, `{"hostProcess":false}`, `{}`) +
		g.member("seLinuxOptions", "", `{"type":"container_t"}`, `{"type":"container_engine_t"}`, `{"type":"spc_t"}`, `{"user":"u"}`, `{"role":"r"}`, `{}`)
}

func (g *genome) container() string {
	context := `{"x":0` + g.common() +
		g.member("runAsNonRoot", "true", "", "false") + g.member("seccompProfile", runtimeDefault, "", localhost, unconfined) +
		g.member("privileged", "", "true", "false") + g.member("allowPrivilegeEscalation", "false", "true", "") +
		g.member("procMount", "", `"Default"`, `"Unmasked"`) +
		g.member("capabilities", `{"drop":["ALL"]}`, `{"drop":["ALL","KILL"],"add":["NET_BIND_SERVICE"]}`, `{"drop":["KILL"],"add":["NET_RAW"]}`, `{"drop":["ALL"],"add":["CHOWN"]}`, `{}`, "") + `}`
	handlers := []string{"{}", `{"httpGet":{"port":1,"host":"h"}}`, `{"tcpSocket":{"port":1,"host":"h"}}`, `{"httpGet":{"port":1}}`}
	return `{"name":"side","image":"i","securityContext":` + context + g.member("ports", "", `[{"containerPort":1}]`, `[{"containerPort":1,"hostPort":2}]`) +
		g.member("livenessProbe", handlers...) + g.member("readinessProbe", handlers...) + g.member("startupProbe", handlers...) +
		`,"lifecycle":{"preStop":` + g.of(handlers...) + `,"postStart":` + g.of(handlers...) + `}}`
}

func (g *genome) volumes() string {
	return g.of(`[]`, `[{"name":"v","emptyDir":{}}]`, `[{"name":"v","hostPath":{"path":"/"}}]`, `[{"name":"v","nfs":{"server":"s","path":"/"}}]`, `[{"name":"v","image":{}}]`, `[{"name":"v","csi":{"driver":"d"}},{"name":"w","iscsi":{"targetPortal":"p","iqn":"i","lun":1}}]`)
}

// pod is a pod whose spec begins with shared, the part that no container has.
func (g *genome) pod() (whole, shared string) {
	shared = `"x":0` + g.member("hostUsers", "", "true", "false") + g.member("hostNetwork", "", "true", "false") + `,"securityContext":{"x":0` + g.common() +
		g.member("runAsNonRoot", "", "true", "false") + g.member("seccompProfile", "", runtimeDefault, localhost, unconfined) +
		g.member("sysctls", "", `[{"name":"net.ipv4.tcp_rmem"}]`, `[{"name":"kernel.msgmax"}]`, `[{"name":"net.ipv4.tcp_syncookies"}]`) + `}`
	annotations := `"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/side":` + g.of(`"runtime/default"`, `"unconfined"`, `"localhost/x"`, `""`) + `}},`
	return `{` + annotations + `"spec":{` + shared + `,"containers":[` + g.container() + `],"volumes":` + g.volumes() + `}}`, shared
}

// agree holds what we foretell against the admission itself: it refuses a pod that is all brought by
// templates exactly when we foretell it, and, where the author's part alone is admitted, one of which
// only the container and the volumes are brought.
func agree(t *testing.T, a interface {
	EvaluatePod(api.LevelVersion, *metav1.ObjectMeta, *corev1.PodSpec) []policy.CheckResult
}, enforced api.LevelVersion, genes []byte) {
	whole, shared := (&genome{text: genes}).pod()
	judge := func(text string) bool {
		var p corev1.Pod
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return policy.AggregateCheckResults(a.EvaluatePod(enforced, &p.ObjectMeta, &p.Spec)).Allowed
	}
	after := tree(t, whole)
	labels := map[string]string{enforceKey: string(enforced.Level), enforceVersionKey: enforced.Version.String()}
	admitted := judge(whole)
	if got := Security(labels, after, after); admitted != (len(got) == 0) {
		t.Fatalf("%v: all brought by templates: admitted %v, foretold %v\n%s", enforced, admitted, got, whole)
	}
	if !judge(`{"spec":{` + shared + `}}`) {
		return
	}
	spec := pod.Object(after, "spec")
	part := map[string]any{"spec": map[string]any{"containers": spec["containers"], "volumes": spec["volumes"]}}
	if got := Security(labels, after, part); admitted != (len(got) == 0) {
		t.Fatalf("%v: admitted %v, foretold %v\n%s", enforced, admitted, got, whole)
	}
}

// Every choice under every version that changed a rule, and every pair of choices under the newest.
func TestSecurityAgreesWithTheAdmission(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &genome{}
	g.pod()
	for _, level := range []api.Level{api.LevelBaseline, api.LevelRestricted} {
		for i := range g.choices {
			genes := make([]byte, i+1)
			for genes[i] = range byte(7) {
				for _, minor := range []int{19, 22, 23, 25, 27, 29, 31, 32, 34, 35, 37} {
					agree(t, evaluator, api.LevelVersion{Level: level, Version: api.MajorMinorVersion(1, minor)}, genes)
				}
				for j := range i {
					for genes[j] = range byte(7) {
						agree(t, evaluator, api.LevelVersion{Level: level, Version: api.LatestVersion()}, genes)
					}
					genes[j] = 0
				}
			}
		}
	}
}

// FuzzSecurityAgreesWithTheAdmission does so for any number of choices.
func FuzzSecurityAgreesWithTheAdmission(f *testing.F) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, uint8(0), false)
	f.Add([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, uint8(35), true)
	f.Fuzz(func(t *testing.T, genes []byte, minor uint8, restricted bool) {
		enforced := api.LevelVersion{Level: api.LevelBaseline, Version: api.MajorMinorVersion(1, 19+int(minor)%20)}
		if restricted {
			enforced.Level = api.LevelRestricted
		}
		agree(t, evaluator, enforced, genes)
	})
}
