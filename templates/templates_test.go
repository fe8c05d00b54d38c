// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/templates"
)

func TestEveryFileIsNamed(t *testing.T) {
	want := []string{templates.Config}
	for _, c := range load(t).Templates {
		want = append(want, c.File)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(templates.Files()))); diff != "" {
		t.Errorf("config.yaml and the files beside it (-named +there):\n%s", diff)
	}
}

func TestFilesAreTheCallers(t *testing.T) {
	mine := templates.Files()
	delete(mine, templates.Config)
	for name := range mine {
		clear(mine[name])
	}
	load(t)
}

func TestBringsItsContainers(t *testing.T) {
	everyWay(t, func(t *testing.T, c tried, a ask) {
		want := brings[c.Name]
		if a.native { // a native sidecar needs nobody before it
			want = c.Sidecars
		}
		var got []string
		for _, container := range brought(c.must(t, a)) {
			got = append(got, container["name"].(string))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("containers with an image (-want +got):\n%s", diff)
		}
	})
}

// TestPassesPodSecurity holds the layers to the restricted profile, in any pod: nothing may be left
// for the pod's own security context to say.
func TestPassesPodSecurity(t *testing.T) {
	want := map[string]any{
		"runAsNonRoot":             true,
		"allowPrivilegeEscalation": false,
		"readOnlyRootFilesystem":   true,
		"capabilities":             map[string]any{"drop": []any{"ALL"}},
		"seccompProfile":           map[string]any{"type": "RuntimeDefault"},
	}
	everyWay(t, func(t *testing.T, c tried, a ask) {
		tree := c.must(t, a)
		for _, container := range brought(tree) {
			got := maps.Clone(object(container, "securityContext"))
			for _, key := range []string{"runAsUser", "runAsGroup"} {
				if id, ok := got[key].(int64); !ok || id <= 0 {
					t.Errorf("%s: %s is %v, want the number of a user other than root", container["name"], key, got[key])
				}
				delete(got, key)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: securityContext (-want +got):\n%s", container["name"], diff)
			}
			for _, port := range objects(container, "ports") {
				if port["hostPort"] != nil {
					t.Errorf("%s: takes a port of the node: %v", container["name"], port)
				}
			}
		}
		for _, volume := range objects(object(tree, "spec"), "volumes") {
			for source := range volume {
				if !slices.Contains([]string{"name", "emptyDir", "configMap", "projected", "downwardAPI", "secret", "csi", "ephemeral", "persistentVolumeClaim"}, source) {
					t.Errorf("volume %s is a %s", volume["name"], source)
				}
			}
		}
		for key, value := range object(tree, "spec") {
			switch key {
			case "containers", "initContainers", "volumes":
			case "serviceAccountName": // said again
				if want := map[bool]string{true: "web", false: "default"}[strings.Contains(a.sample, "serviceAccountName: web")]; value != want {
					t.Errorf("sets the service account to %v, want %s", value, want)
				}
			default:
				t.Errorf("sets spec.%s, which is the pod's own to set", key)
			}
		}
	})
}

func TestSidecarsAreProbedOnPortsOfTheirOwn(t *testing.T) {
	everyWay(t, func(t *testing.T, c tried, a ask) {
		for _, container := range brought(c.must(t, a)) {
			if !slices.Contains(c.Sidecars, container["name"].(string)) {
				continue
			}
			var ports []any
			for _, port := range objects(container, "ports") {
				ports = append(ports, port["containerPort"])
			}
			for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
				how := object(container, probe)
				if how == nil {
					t.Errorf("%s: no %s", container["name"], probe)
				}
				for _, handler := range []string{"httpGet", "tcpSocket"} {
					target := object(how, handler)
					if target == nil {
						continue
					}
					if !slices.Contains(ports, target["port"]) || target["host"] != nil {
						t.Errorf("%s: %s asks %v, and the ports are %v", container["name"], probe, target, ports)
					}
				}
			}
		}
	})
}

func TestResourcesAreBounded(t *testing.T) {
	everyWay(t, func(t *testing.T, c tried, a ask) {
		for _, container := range brought(c.must(t, a)) {
			resources := object(container, "resources")
			for _, path := range [][2]string{{"requests", "cpu"}, {"requests", "memory"}, {"limits", "memory"}} {
				if _, ok := object(resources, path[0])[path[1]].(string); !ok {
					t.Errorf("%s: no %s of %s", container["name"], path[0], path[1])
				}
			}
			if limit, ok := object(resources, "limits")["cpu"]; ok {
				t.Errorf("%s: is throttled at %v by default", container["name"], limit)
			}
		}
	})
}

// TestMountsAreThere tells that a layer needs nothing but itself and the pod: every volume that is
// mounted is brought, and each is mounted.
func TestMountsAreThere(t *testing.T) {
	everyWay(t, func(t *testing.T, c tried, a ask) {
		tree := c.must(t, a)
		mounted, have := map[string]bool{}, map[string]bool{}
		for _, container := range containers(tree) {
			for _, mount := range objects(container, "volumeMounts") {
				mounted[mount["name"].(string)] = true
			}
		}
		for _, volume := range objects(object(tree, "spec"), "volumes") {
			have[volume["name"].(string)] = true
			if len(volume) != 2 {
				t.Errorf("volume %s has no source, or more than one: %v", volume["name"], volume)
			}
		}
		if diff := cmp.Diff(have, mounted); diff != "" {
			t.Errorf("volumes (-brought +mounted):\n%s", diff)
		}
	})
}

// TestMountsIntoTheApplication checks which of the author's containers a template reaches into.
func TestMountsIntoTheApplication(t *testing.T) {
	const named = ".pillion.dev/containers"
	sent := "a pod as the API server sends it"
	tests := map[string]struct {
		reason, sample, containers string
		logs, vault                []string
	}{
		"first": {
			reason: "without a word it is the first container", sample: "the least pod",
			logs: []string{"app"}, vault: []string{"app"},
		},
		"not itself": {
			reason: "the author's mention of a sidecar, whosever it is, is no application", sample: "a pod that mentions the sidecars first",
			logs: []string{"app"}, vault: []string{"app"},
		},
		"default container": {
			reason: "kubectl's annotation says which container is the application", sample: sent,
			logs: []string{"app"}, vault: []string{"app"},
		},
		"named": {
			reason: "the author's list wins", sample: sent, containers: "app,helper,app",
			logs: []string{"app", "helper"}, vault: []string{"helper", "app"},
		},
		"all": {
			reason: "secrets reach the init containers too", sample: sent, containers: "*",
			logs: []string{"helper", "app"}, vault: []string{"migrate", "helper", "app"},
		},
		"unknown": {reason: "a misspelt name would leave the application without", sample: sent, containers: "ap"},
	}
	all := compile(t)
	for name, test := range tests {
		for template, want := range map[string][]string{"log-shipper": test.logs, "vault-agent": test.vault} {
			t.Run(name+"/"+template, func(t *testing.T) {
				a := ask{sample: samples[test.sample], native: true, annotations: map[string]string{}}
				if test.containers != "" {
					a.annotations[map[string]string{"log-shipper": "logs", "vault-agent": "vault"}[template]+named] = test.containers
				}
				tree, err := all[template].layer(t, a)
				if (err != nil) != (want == nil) {
					t.Fatalf("%s: the error is %v", test.reason, err)
				}
				if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("no container %q", test.containers)) {
					t.Errorf("%s: the error does not name the container: %v", test.reason, err)
				}
				var got []string
				for _, c := range containers(tree) {
					if c["image"] == nil {
						got = append(got, c["name"].(string))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			})
		}
	}
}

var pinned = regexp.MustCompile(`:v?[0-9]+(\.[0-9]+)+$`)

func TestImagesArePinned(t *testing.T) {
	everyWay(t, func(t *testing.T, c tried, a ask) {
		for _, container := range brought(c.must(t, a)) {
			if image := container["image"].(string); !pinned.MatchString(image) {
				t.Errorf("%s: the image %s names no version", container["name"], image)
			}
		}
	})
}
