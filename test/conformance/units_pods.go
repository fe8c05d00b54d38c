// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// probers is the proxy's variable that holds the probes it answers for.
const probers = "ISTIO_KUBE_APP_PROBERS"

// rewriting is a trial with a proxy and with the rewrite of probes.
func rewriting(on bool, statusPort int) trial {
	t := trial{template: proxyTemplate, values: map[string]any{"sidecarInjectorWebhook": map[string]any{"rewriteAppHTTPProbe": on}}}
	if statusPort != 0 {
		t.mesh = map[string]any{"defaultConfig": map[string]any{"statusPort": statusPort}}
	}
	return t
}

func dumpProbes(one row) verdict {
	return each(one, func(in struct {
		Pod        map[string]any
		StatusPort int
		Want       string
	}) []string {
		t := rewriting(true, in.StatusPort)
		t.pod = in.Pod
		got, err := t.run()
		if err != nil {
			return []string{err.Error()}
		}
		return sameJSON(env(got.container(proxy), probers), in.Want)
	})
}

// sameJSON compares two texts as JSON; an empty one holds nothing.
func sameJSON(got, want string) []string {
	if got == want {
		return nil
	}
	g, err := decode([]byte(got))
	if err != nil {
		return []string{fmt.Sprintf("want %s got %q", brief(want), got)}
	}
	w, err := decode([]byte(want))
	if err != nil {
		return []string{fmt.Sprintf("want %q got %s", want, brief(got))}
	}
	if text(exact(g)) != text(exact(w)) {
		return []string{fmt.Sprintf("want %s got %s", text(w), text(g))}
	}
	return nil
}

func rewriteProbes(one row) verdict {
	return each(one, func(in struct {
		Pod, Want  map[string]any
		StatusPort int
	}) []string {
		t := rewriting(true, in.StatusPort)
		t.pod = in.Pod
		got, err := t.run()
		if err != nil {
			return []string{err.Error()}
		}
		var out []string
		for _, list := range pod.ContainerLists {
			items := slices.DeleteFunc(slices.Clone(pod.Items(spec(got), list)), func(item any) bool { return name(item) == proxy })
			want := slices.DeleteFunc(slices.Clone(pod.Items(pod.Object(in.Want, "spec"), list)), func(item any) bool { return name(item) == proxy })
			out = append(out, equalLists(items, want)...)
		}
		return out
	})
}

func shouldRewrite(one row) verdict {
	return each(one, func(in struct {
		Annotations         map[string]string
		ValuesSetting, Want bool
	}) []string {
		t := rewriting(in.ValuesSetting, 0)
		t.pod = metadata(nil, in.Annotations)
		t.pod["spec"] = map[string]any{"containers": []any{map[string]any{
			"name": "app", "image": "registry.example/app:1", "livenessProbe": map[string]any{"httpGet": map[string]any{"path": "/alive", "port": 8080}},
		}}}
		got, err := t.run()
		if err != nil {
			return []string{err.Error()}
		}
		probe := pod.Object(pod.Object(got.container("app"), "livenessProbe"), "httpGet")
		if rewritten := pod.Text(probe, "path") != "/alive"; rewritten != in.Want {
			return []string{fmt.Sprintf("want rewritten %t, got %s", in.Want, brief(probe))}
		}
		return nil
	})
}

// mergeProbes puts the probes back onto containers, from which the proxy's variable is made.
func mergeProbes(one row) verdict {
	return each(one, func(in struct {
		Env, Want          []any
		PreviouslyInjected bool
		Probers            string
	}) []string {
		containers, err := probed(in.Probers)
		if err != nil {
			return []string{err.Error()}
		}
		t := rewriting(true, 0)
		t.pod = map[string]any{}
		if in.PreviouslyInjected {
			t.pod = metadata(nil, map[string]string{"sidecar.istio.io/status": "{}"})
			containers = append(containers, map[string]any{"name": proxy, "image": "registry.example/proxy:1", "env": in.Env})
		} else {
			t.template += "    env: {{ toJson .Values.env }}\n"
			t.values["env"] = in.Env
		}
		t.pod["spec"] = map[string]any{"containers": containers}
		got, err := t.run()
		if err != nil {
			return []string{err.Error()}
		}
		return equalLists(pod.Items(got.container(proxy), "env"), in.Want)
	})
}

// probed are containers with the probes that a text of the proxy's variable tells of.
func probed(text string) ([]any, error) {
	var dump map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &dump); err != nil {
		return nil, err
	}
	field := map[string]string{"readyz": "readinessProbe", "livez": "livenessProbe", "startupz": "startupProbe", "prestopz": "preStop", "poststartz": "postStart"}
	by := map[string]map[string]any{}
	var names []string
	for path, probe := range dump {
		parts := strings.Split(strings.Trim(path, "/"), "/")
		if len(parts) != 3 || field[parts[2]] == "" {
			return nil, fmt.Errorf("%s is no path of a probe", path)
		}
		c := by[parts[1]]
		if c == nil {
			c = map[string]any{"name": parts[1], "image": "registry.example/app:1"}
			by[parts[1]] = c
			names = append(names, parts[1])
		}
		if parts[0] == "app-lifecycle" {
			c["lifecycle"] = pod.With(pod.Object(c, "lifecycle"), field[parts[2]], probe)
			continue
		}
		c[field[parts[2]]] = probe
	}
	slices.Sort(names)
	var out []any
	for _, n := range names {
		out = append(out, by[n])
	}
	return out, nil
}

func injectRequired(one row) verdict {
	return each(one, func(in struct {
		NeverInjectSelector, AlwaysInjectSelector any
		HostNetwork                               bool
		Meta                                      map[string]any
		Policy                                    string
		Want                                      bool
	}) []string {
		t := trial{
			template: plainTemplate, pod: map[string]any{"metadata": in.Meta, "spec": map[string]any{"hostNetwork": in.HostNetwork}},
			injection: map[string]any{"policy": in.Policy, "neverInjectSelector": in.NeverInjectSelector, "alwaysInjectSelector": in.AlwaysInjectSelector},
		}
		got, err := t.run()
		if err != nil {
			return []string{err.Error()}
		}
		if (got.kind == injected) != in.Want || got.kind == failed {
			return []string{fmt.Sprintf("want injected %t, got %s %s", in.Want, got.kind, got.text)}
		}
		return nil
	})
}

// judged holds a refusal of annotations to that of the original.
func judged(annotations map[string]string, wantErr bool, original string) []string {
	got, err := trial{template: plainTemplate, pod: metadata(nil, annotations)}.run()
	switch {
	case err != nil:
		return []string{err.Error()}
	case (got.kind == failed) != wantErr:
		return []string{fmt.Sprintf("want refused %t, got %s %s", wantErr, got.kind, brief(got.text))}
	case !wantErr:
		return nil
	}
	return unnamed(original, got.text)
}

func validateAnnotations(one row) verdict {
	return each(one, func(in struct {
		Annotations map[string]string
		WantErr     bool
		Err         string
	}) []string {
		return judged(in.Annotations, in.WantErr, in.Err)
	})
}

func validateQuantity(one row) verdict {
	return each(one, func(in struct {
		Value   string
		WantErr bool
	}) []string {
		const key = "sidecar.istio.io/proxyCPU"
		return judged(map[string]string{key: in.Value}, in.WantErr, fmt.Sprintf("invalid value '%s' for annotation '%s'", in.Value, key))
	})
}
