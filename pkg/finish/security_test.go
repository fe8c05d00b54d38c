// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// lawful is a sidecar that says all that the restricted standard asks for, whatever its pod says.
const lawful = `{"name":"lawful","image":"i","ports":[{"containerPort":80,"hostPort":0}],"livenessProbe":{"httpGet":{"port":80}},
	"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"runAsUser":7,"privileged":false,
	"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]},"seccompProfile":{"type":"RuntimeDefault"}}}`

// FuzzSecurity: whatever the pod and the templates are, nothing panics and nothing is written to; a
// container that keeps to the restricted standard is never named, nor is one of the author's, nor a
// volume or a field that no template brings; and what the baseline refuses, the restricted standard
// refuses too.
func FuzzSecurity(f *testing.F) {
	f.Add(`{"spec":{"hostNetwork":true,"containers":[{"name":"side","securityContext":{"runAsUser":0,"privileged":true}}]}}`,
		`{"spec":{"hostNetwork":true,"containers":[{"name":"side","image":"i"}],"volumes":[{"name":"v","hostPath":{}}]}}`, "v1.24")
	f.Add(`{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/side":"unconfined"}},"spec":{"hostUsers":false,
		"initContainers":[{"name":"side","ports":[{"hostPort":1}],"securityContext":{"capabilities":{"add":["X",null,{}]},"procMount":"Unmasked"}}]}}`,
		`{"spec":{"initContainers":[{"name":"side","image":"i"}]}}`, "latest")
	f.Add(`{"spec":{"os":{"name":"windows"},"volumes":[{"name":"v","nfs":{}},7],"securityContext":{"sysctls":[{"name":"a"},3]}}}`, `[]`, "v1.x")
	f.Fuzz(func(t *testing.T, podText, layerText, version string) {
		after, brought := anyTree(podText), anyTree(layerText)
		side := tree(t, lawful)
		for _, list := range pod.ContainerLists {
			spec := pod.Object(after, "spec")
			if items := pod.Items(spec, list); items != nil && pod.Named(items, "lawful") == nil {
				after = pod.With(after, "spec", pod.With(spec, list, append(slices.Clip(items), side)))
				spec = pod.Object(brought, "spec")
				brought = pod.With(brought, "spec", pod.With(spec, list, append(slices.Clip(pod.Items(spec, list)), side)))
			}
		}
		before, templates := pod.Clone(after), pod.Clone(brought)
		baseline := paths(t, "baseline", version, after, brought)
		restricted := paths(t, "restricted", version, after, brought)
		if diff := cmp.Diff(before, after) + cmp.Diff(templates, brought); diff != "" {
			t.Fatalf("an argument changed:\n%s", diff)
		}
		for _, path := range baseline {
			if !slices.Contains(restricted, path) {
				t.Fatalf("baseline names %s, restricted does not", path)
			}
		}
		allowed := allowedPaths(brought)
		for _, path := range restricted {
			if strings.Contains(path, "[lawful]") || !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(path, a) }) {
				t.Fatalf("%s is named, of %q", path, allowed)
			}
		}
	})
}

func anyTree(text string) map[string]any {
	value, _ := pod.Decode([]byte(text))
	m, _ := value.(map[string]any)
	return m
}

func paths(t *testing.T, level, version string, after, brought map[string]any) (out []string) {
	t.Helper()
	labels := map[string]string{enforceKey: level, enforceVersionKey: version}
	for _, w := range Security(labels, after, brought) {
		if w.Reason != reason.PodSecurityRefuses || !strings.HasPrefix(w.Detail, "PodSecurity "+level+" ") || utf8.RuneCountInString(w.Text()) > 120 {
			t.Fatalf("%+v", w)
		}
		out = append(out, w.Path)
	}
	return out
}

// allowedPaths are the beginnings of all paths that may be named.
func allowedPaths(brought map[string]any) (out []string) {
	spec := pod.Object(brought, "spec")
	for key := range spec {
		if key != "volumes" && key != "containers" && key != "initContainers" {
			out = append(out, "spec."+key)
		}
	}
	for _, item := range pod.Items(spec, "volumes") {
		v, _ := item.(map[string]any)
		out = append(out, "spec.volumes["+pod.Text(v, "name")+"]")
	}
	for name := range withImage(brought) {
		out = append(out, "spec.containers["+name+"]", "spec.initContainers["+name+"]", "metadata.annotations["+appArmorPrefix+name+"]")
	}
	return out
}

func TestSecurityNamesContainerAndField(t *testing.T) {
	const kept = `"allowPrivilegeEscalation":false,"runAsNonRoot":true,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"Localhost"}`
	cases := map[string]struct {
		why, level, version string
		rest                string // of the sidecar
		spec                string // of the pod's spec
		want                []string
	}{
		"privileged": {"", "baseline", "", `"securityContext":{"privileged":true}`, "", []string{"securityContext.privileged: PodSecurity baseline bans true"}},
		"net setup": {
			"what redirects traffic", "baseline", "", `"securityContext":{"capabilities":{"add":["CHOWN","NET_ADMIN","NET_RAW"]}}`, "",
			[]string{"securityContext.capabilities.add: PodSecurity baseline bans NET_ADMIN, NET_RAW"},
		},
		"nothing said": {"each field must be there", "restricted", "latest", ``, "", []string{
			"securityContext.seccompProfile.type: PodSecurity restricted wants RuntimeDefault",
			"securityContext.allowPrivilegeEscalation: PodSecurity restricted wants false",
			"securityContext.runAsNonRoot: PodSecurity restricted wants true",
			"securityContext.capabilities.drop: PodSecurity restricted wants ALL",
		}},
		"inherited": {
			"the pod speaks for its containers", "restricted", "", `"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}`,
			`"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}`, nil,
		},
		"own beats inherited": {
			"", "restricted", "", `"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"runAsNonRoot":false,"runAsUser":0,"seccompProfile":{"type":"Unconfined"}}`,
			`"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}`, []string{
				"securityContext.seccompProfile.type: PodSecurity restricted bans Unconfined",
				"securityContext.runAsNonRoot: PodSecurity restricted wants true",
				"securityContext.runAsUser: PodSecurity restricted bans 0",
			},
		},
		"usual capability": {"restricted allows one alone", "restricted", "", `"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"seccompProfile":{"type":"Localhost"},"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE","CHOWN"]}}`, "", []string{
			"securityContext.capabilities.add: PodSecurity restricted bans CHOWN",
		}},
		"host port":         {"", "baseline", "", `"ports":[{"containerPort":1},{"containerPort":2,"hostPort":80}]`, "", []string{"ports[*].hostPort: PodSecurity baseline bans 80"}},
		"host process":      {"", "baseline", "", `"securityContext":{"windowsOptions":{"hostProcess":true}}`, "", []string{"securityContext.windowsOptions.hostProcess: PodSecurity baseline bans true"}},
		"probe's host":      {"the node would call it", "baseline", "", `"readinessProbe":{"httpGet":{"host":"10.0.0.1"}}`, "", []string{"readinessProbe.httpGet.host: PodSecurity baseline bans 10.0.0.1"}},
		"probe's host, old": {"no version before has the rule", "baseline", "v1.33", `"readinessProbe":{"httpGet":{"host":"10.0.0.1"}}`, "", nil},
		"SELinux": {"", "baseline", "", `"securityContext":{"seLinuxOptions":{"type":"spc_t","user":"u","role":"r","level":"s0"}}`, "", []string{
			"securityContext.seLinuxOptions.type: PodSecurity baseline bans spc_t",
			"securityContext.seLinuxOptions.user: PodSecurity baseline bans u",
			"securityContext.seLinuxOptions.role: PodSecurity baseline bans r",
		}},
		"AppArmor":           {"", "baseline", "", `"securityContext":{"appArmorProfile":{"type":"Unconfined"}}`, "", []string{"securityContext.appArmorProfile.type: PodSecurity baseline bans Unconfined"}},
		"proc":               {"", "baseline", "", `"securityContext":{"procMount":"Unmasked"}`, "", []string{"securityContext.procMount: PodSecurity baseline bans Unmasked"}},
		"proc, own users":    {"root is nobody on the node", "baseline", "", `"securityContext":{"procMount":"Unmasked"}`, `"hostUsers":false`, nil},
		"root, own users":    {"root is nobody on the node", "restricted", "", `"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"Localhost"},"runAsUser":0}`, `"hostUsers":false`, nil},
		"Windows":            {"it has none of these", "restricted", "", `"securityContext":{"runAsNonRoot":true}`, `"os":{"name":"windows"}`, nil},
		"strange text":       {"it stays on one line", "baseline", "", `"securityContext":{"procMount":"a\nb"}`, "", []string{`securityContext.procMount: PodSecurity baseline bans "a\nb"`}},
		"all said":           {"", "restricted", "", `"securityContext":{` + kept + `}`, "", nil},
		"level that is none": {"it counts as the strictest", "strict", "", `"securityContext":{` + kept + `,"runAsUser":0}`, "", []string{"securityContext.runAsUser: PodSecurity restricted bans 0"}},
		"privileged level":   {"nothing is enforced", "privileged", "", `"securityContext":{"privileged":true}`, "", nil},
	}
	for name, c := range cases {
		rest, spec := "", ""
		if c.rest != "" {
			rest = "," + c.rest
		}
		if c.spec != "" {
			spec = "," + c.spec
		}
		after := tree(t, `{"spec":{"containers":[{"name":"app","securityContext":{"privileged":true}},{"name":"side"`+rest+`}]`+spec+`}}`)
		labels := map[string]string{enforceKey: c.level}
		if c.version != "" {
			labels[enforceVersionKey] = c.version
		}
		var got []string
		for _, w := range Security(labels, after, tree(t, `{"spec":{"containers":[{"name":"side","image":"i"},{"name":"app","env":[]}]}}`)) {
			got = append(got, strings.TrimPrefix(w.Path, "spec.containers[side].")+": "+w.Detail)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
}

func TestSecurityOfPodAndVolumes(t *testing.T) {
	after := tree(t, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/side":"unconfined","container.apparmor.security.beta.kubernetes.io/app":"unconfined"}},
		"spec":{"hostNetwork":true,"hostPID":true,"securityContext":{"seccompProfile":{"type":"Unconfined"},"runAsUser":0,"sysctls":[{"name":"net.ipv4.tcp_rmem"},{"name":"kernel.msgmax"}]},
		"containers":[{"name":"app"}],"initContainers":[{"name":"side"}],
		"volumes":[{"name":"own","hostPath":{}},{"name":"host","hostPath":{}},{"name":"share","nfs":{}},{"name":"data","emptyDir":{}},{"name":"bare"}]}}`)
	brought := tree(t, `{"spec":{"hostNetwork":true,"securityContext":{"seccompProfile":{"type":"Unconfined"},"sysctls":[]},
		"initContainers":[{"name":"side","image":"i"}],
		"volumes":[{"name":"host"},{"name":"share"},{"name":"data"},{"name":"bare"},{"name":"gone"}]}}`)
	cases := map[string]struct {
		why, version string
		want         []string
	}{
		"": {"the author's own are not judged", "v1.31", []string{
			"metadata.annotations[container.apparmor.security.beta.kubernetes.io/side]: PodSecurity baseline bans unconfined",
			"spec.hostNetwork: PodSecurity baseline bans true",
			"spec.securityContext.sysctls: PodSecurity baseline bans net.ipv4.tcp_rmem, kernel.msgmax",
			"spec.securityContext.seccompProfile.type: PodSecurity baseline bans Unconfined",
			"spec.volumes[host].hostPath: PodSecurity baseline bans hostPath",
		}},
		"newer": {"the list of safe sysctls has grown", "v1.32", []string{"spec.securityContext.sysctls: PodSecurity baseline bans kernel.msgmax"}},
	}
	for name, c := range cases {
		var got []string
		for _, w := range Security(map[string]string{enforceKey: "baseline", enforceVersionKey: c.version}, after, brought) {
			if line := w.Path + ": " + w.Detail; name == "" || strings.Contains(line, "sysctls") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.why, diff)
		}
	}
	if got := paths(t, "restricted", "", after, brought); !slices.Contains(got, "spec.volumes[share].nfs") || slices.ContainsFunc(got, func(p string) bool {
		return strings.Contains(p, "[data]") || strings.Contains(p, "[bare]") || strings.Contains(p, "[own]")
	}) {
		t.Errorf("restricted: %q", got)
	}
	if got := Security(nil, after, brought); got != nil {
		t.Errorf("a namespace without the label: %v", got)
	}
}

// The warning is read on one line of at most 120 characters: the longest of an ordinary name must fit.
func TestSecurityFitsOnALine(t *testing.T) {
	after := tree(t, `{"spec":{"initContainers":[{"name":"net-setup2","securityContext":{"capabilities":{"add":["NET_ADMIN","NET_RAW"]}}}]}}`)
	brought := tree(t, `{"spec":{"initContainers":[{"name":"net-setup2","image":"i"}]}}`)
	warnings := Security(map[string]string{enforceKey: "restricted"}, after, brought)
	if len(warnings) != 5 {
		t.Errorf("%d warnings, want 5: %v", len(warnings), warnings)
	}
	for _, w := range warnings {
		if text := w.Text(); !strings.HasSuffix(text, w.Detail) {
			t.Errorf("cut: %s", text)
		}
	}
}
