// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// mount is a folder as the kubelet mounts a ConfigMap: all files change at once, by one link.
type mount struct {
	dir     string
	version int
}

// put makes the files the new version.
func (m *mount) put(t *testing.T, files map[string]string) {
	t.Helper()
	m.version++
	version := fmt.Sprintf("..%d", m.version)
	if err := os.Mkdir(filepath.Join(m.dir, version), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(m.dir, version, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m.version == 1 {
			link(t, filepath.Join("..data", name), filepath.Join(m.dir, name))
		}
	}
	link(t, version, filepath.Join(m.dir, "..new"))
	if err := os.Rename(filepath.Join(m.dir, "..new"), filepath.Join(m.dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// shipping is a configuration with one template.
func shipping(template string) map[string]string {
	return map[string]string{
		"config.yaml":  "{apiVersion: config.pillion.dev/v1alpha1, kind: InjectorConfig, defaultTemplates: [shipper], templates: [{name: shipper, file: shipper.yaml, sidecars: [shipper]}]}\n",
		"shipper.yaml": template,
	}
}

func image(tag string) string {
	return `spec: {containers: [{name: shipper, image: "registry.example/shipper:` + tag + `"}]}` + "\n"
}

// A new configuration takes effect without a restart; one that cannot be used changes nothing, and is
// told. No request fails on the way, and none gets half of each.
func TestReload(t *testing.T) {
	t.Parallel()
	m := &mount{dir: t.TempDir()}
	m.put(t, shipping(image("1")))
	in := serve(t, "reload", "--config", m.dir)
	const successful, complaint = "injector_config_last_reload_successful", "the new configuration cannot be used; the old one stays in force"

	m.put(t, shipping(image("2")))
	during(t, in, "the new template", []string{"1", "2"}, func() bool { return in.told(t, "configuration in force") == 2 })
	during(t, in, "one more", []string{"2"}, func() bool { return true })

	m.put(t, shipping("spec: {containers: [{name: shipper, imaeg: {{ nothing }} }]}\n"))
	during(t, in, "the complaint", []string{"2"}, func() bool { return in.told(t, complaint) == 1 })
	if n := in.metric(t, successful); n != 0 {
		t.Errorf("%s is %v after a bad configuration", successful, n)
	}
	if text := in.said(t); !strings.Contains(text, "shipper.yaml:1: INJ332") {
		t.Errorf("the log does not tell file, line and reason:\n%s", text)
	}
	during(t, in, "one more", []string{"2"}, func() bool { return true })

	m.put(t, shipping(image("3")))
	during(t, in, "the mended template", []string{"2", "3"}, func() bool { return in.metric(t, successful) == 1 })
	during(t, in, "one more", []string{"3"}, func() bool { return true })
}

// during asks for pods until something has happened, once at least, and sees that each gets the
// sidecar of one of the versions, never an earlier one after a later.
func during(t *testing.T, in *injector, what string, versions []string, happened func() bool) {
	t.Helper()
	await(t, what, func() bool {
		over := happened() // before the request, so that the last one comes after it
		pod, err := dryRun(t, bare(in.namespace, "asking"))
		if err != nil {
			t.Fatal(err)
		}
		for len(versions) > 0 && !ships(pod, versions[0]) {
			versions = versions[1:]
		}
		if len(versions) == 0 {
			t.Fatalf("init containers %v", pod.Spec.InitContainers)
		}
		return over
	})
}

func ships(pod *corev1.Pod, version string) bool {
	c := pod.Spec.InitContainers
	return injected(pod) && len(c) == 1 && c[0].Name == "shipper" && c[0].Image == "registry.example/shipper:"+version
}
