// SPDX-License-Identifier: Apache-2.0

package finish

import (
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// rule is one demand of the Pod Security Standards on a field.
type rule struct {
	field string
	since int // the minor version of the standard that has it first
	fault func(c confined, value any) string
}

// confined is a container, or the pod itself, in the eyes of a rule.
type confined struct {
	standard
	tree map[string]any // the container, or the pod's spec
	spec map[string]any // the pod's
}

// windows tells whether the pod is one of those for which the rules about Linux do not count.
func (c confined) windows() bool {
	return c.minor >= 25 && pod.Text(pod.Object(c.spec, "os"), "name") == "windows"
}

// alone tells whether the pod's users are not the node's, so that its root is nobody there.
func (c confined) alone() bool { return c.minor >= 35 && c.spec["hostUsers"] == false }

// forContainers holds the rules of both standards; each knows for itself where the restricted one
// asks for more.
var forContainers = []rule{
	{"securityContext.privileged", 0, notTrue},
	{"securityContext.windowsOptions.hostProcess", 0, notTrue},
	{"securityContext.procMount", 0, procMount},
	{"securityContext.seLinuxOptions.type", 0, seLinuxType},
	{"securityContext.seLinuxOptions.user", 0, noText},
	{"securityContext.seLinuxOptions.role", 0, noText},
	{"securityContext.appArmorProfile.type", 0, appArmor},
	{"securityContext.seccompProfile.type", 19, seccomp},
	{"securityContext.allowPrivilegeEscalation", 8, escalation},
	{"securityContext.runAsNonRoot", 0, nonRoot},
	{"securityContext.runAsUser", 23, user},
	{"securityContext.capabilities.drop", 22, dropped},
	{"securityContext.capabilities.add", 0, added},
	{"ports[*].hostPort", 0, hostPorts},

	// The kubelet calls what these name, from the node's network.
	{"startupProbe.httpGet.host", 34, noText},
	{"startupProbe.tcpSocket.host", 34, noText},
	{"livenessProbe.httpGet.host", 34, noText},
	{"livenessProbe.tcpSocket.host", 34, noText},
	{"readinessProbe.httpGet.host", 34, noText},
	{"readinessProbe.tcpSocket.host", 34, noText},
	{"lifecycle.postStart.httpGet.host", 34, noText},
	{"lifecycle.postStart.tcpSocket.host", 34, noText},
	{"lifecycle.preStop.httpGet.host", 34, noText},
	{"lifecycle.preStop.tcpSocket.host", 34, noText},
}

// forPods holds the rules on the fields that only a pod has.
var forPods = []rule{
	{"hostNetwork", 0, notTrue},
	{"hostPID", 0, notTrue},
	{"hostIPC", 0, notTrue},
	{"securityContext.sysctls", 0, sysctls},
}

// safeSysctls are those that a pod may set, with the minor version that allowed each first.
var safeSysctls = map[string]int{
	"kernel.shm_rmid_forced":              0,
	"net.ipv4.ip_local_port_range":        0,
	"net.ipv4.ip_unprivileged_port_start": 0,
	"net.ipv4.ping_group_range":           0,
	"net.ipv4.tcp_syncookies":             0,
	"net.ipv4.ip_local_reserved_ports":    27,
	"net.ipv4.tcp_fin_timeout":            29,
	"net.ipv4.tcp_keepalive_intvl":        29,
	"net.ipv4.tcp_keepalive_probes":       29,
	"net.ipv4.tcp_keepalive_time":         29,
	"net.ipv4.tcp_rmem":                   32,
	"net.ipv4.tcp_wmem":                   32,
	"net.ipv4.tcp_notsent_lowat":          37,
	"net.ipv4.tcp_slow_start_after_idle":  37,
}

// bans is the fault of values that must not be there. It is short, as the field before it is long and
// a warning has room for 120 characters.
func bans(values ...any) string {
	if len(values) == 0 {
		return ""
	}
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = pod.Describe(v)
		if plain, _ := v.(string); plain != "" && strings.Trim(plain, words) == "" && len(plain) <= 40 {
			shown[i] = plain
		}
	}
	return "bans " + strings.Join(shown, ", ")
}

// words are the characters of a text that needs no quotes.
const words = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./"

func notTrue(_ confined, value any) string {
	if value == true {
		return bans(value)
	}
	return ""
}

func noText(_ confined, value any) string {
	if value == nil || value == "" {
		return ""
	}
	return bans(value)
}

func procMount(c confined, value any) string {
	if value == nil || value == "Default" || c.alone() && c.level == "baseline" {
		return ""
	}
	return bans(value)
}

func seLinuxType(c confined, value any) string {
	switch value {
	case nil, "", "container_t", "container_init_t", "container_kvm_t":
		return ""
	case "container_engine_t":
		if c.minor >= 31 {
			return ""
		}
	}
	return bans(value)
}

// confines tells whether a type of seccomp or AppArmor profile is one that confines.
func confines(value any) bool { return value == "RuntimeDefault" || value == "Localhost" }

func appArmor(c confined, value any) string {
	if at(c.tree, "securityContext.appArmorProfile") == nil || confines(value) {
		return ""
	}
	return bans(value)
}

func seccomp(c confined, value any) string {
	if at(c.tree, "securityContext.seccompProfile") != nil {
		if confines(value) {
			return ""
		}
		return bans(value)
	}
	if !c.demands(19) || c.windows() || confines(at(c.spec, "securityContext.seccompProfile.type")) {
		return ""
	}
	return "wants RuntimeDefault" // or Localhost, for which the text has no room
}

func escalation(c confined, value any) string {
	if !c.demands(8) || c.windows() || value == false {
		return ""
	}
	return "wants false"
}

func nonRoot(c confined, value any) string {
	if value == nil {
		value = at(c.spec, "securityContext.runAsNonRoot")
	}
	if !c.demands(0) || c.alone() || value == true {
		return ""
	}
	return "wants true"
}

func user(c confined, value any) string {
	if !c.demands(23) || c.alone() || value != int64(0) {
		return ""
	}
	return bans(value)
}

func dropped(c confined, value any) string {
	list, _ := value.([]any)
	if !c.demands(22) || c.windows() || slices.Contains(list, any("ALL")) {
		return ""
	}
	return "wants ALL"
}

func added(c confined, value any) string {
	list, _ := value.([]any)
	var bad []any
	for _, capability := range list {
		if capability == "NET_BIND_SERVICE" || usual(capability) && !c.demands(22) {
			continue
		}
		bad = append(bad, capability)
	}
	return bans(bad...)
}

// usual tells whether a capability is one that container runtimes give without being asked, less the
// one that lets a container forge packets.
func usual(capability any) bool {
	switch capability {
	case "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT":
		return true
	}
	return false
}

func hostPorts(c confined, _ any) string {
	var bad []any
	for _, item := range pod.Items(c.tree, "ports") {
		p, _ := item.(map[string]any)
		if port := p["hostPort"]; port != nil && port != int64(0) {
			bad = append(bad, port)
		}
	}
	return bans(bad...)
}

func sysctls(c confined, value any) string {
	list, _ := value.([]any)
	var bad []any
	for _, item := range list {
		s, _ := item.(map[string]any)
		name := pod.Text(s, "name")
		if since, safe := safeSysctls[name]; !safe || c.minor < since {
			bad = append(bad, name)
		}
	}
	return bans(bad...)
}
