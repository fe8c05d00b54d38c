// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// recorded are the containers that the pod's record of an earlier injection names, list by list.
func (in *input) recorded() map[string][]string {
	said, _ := in.annotations()[statusKey].(string)
	record, err := object([]byte(said))
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(record, list) {
			if called, ok := item.(string); ok {
				out[list] = append(out[list], called)
			}
		}
	}
	return out
}

// brings tells in which lists the pod's templates bring a container.
func (r *runner) brings(in *input, called string) (lists []string) {
	for _, t := range in.selected() {
		tree := pod.Object(r.alone(in, t), "spec")
		for _, list := range pod.ContainerLists {
			own := pod.Named(pod.Items(pod.Object(in.pod, "spec"), list), called) != nil && called != proxy
			if !own && pod.Named(pod.Items(tree, list), called) != nil {
				lists = append(lists, list)
			}
		}
	}
	return lists
}

// proxyChangesLists: the record names the proxy in one list, and the templates bring it in the other only,
// with something that the one in the pod has not.
func proxyChangesLists(r *runner, in *input) bool {
	was := (outcome{tree: in.pod}).container(proxy)
	for list, names := range in.recorded() {
		if !slices.Contains(names, proxy) || was == nil {
			continue
		}
		brought := r.brings(in, proxy)
		return len(brought) > 0 && !slices.Contains(brought, list) && uncovered(norm(was, ""), norm(r.fresh(in, proxy), ""), "") != ""
	}
	return false
}

// recordIsForeign: the record names containers of the pod, and none that its templates bring; and the
// templates would make another proxy for a pod without them.
func recordIsForeign(r *runner, in *input) bool {
	var there []string
	for _, names := range in.recorded() {
		for _, called := range names {
			if len(r.brings(in, called)) > 0 {
				return false
			}
			if (outcome{tree: in.pod}).container(called) != nil {
				there = append(there, called)
			}
		}
	}
	with, without := r.anew(in), r.anew(in, there...)
	return len(there) > 0 && (len(diff(norm(with.container(proxy), ""), norm(without.container(proxy), ""), "")) > 0 || !maps.Equal(firsts(with), firsts(without)))
}

// firsts are the annotations in which templates name the application's first container.
func firsts(o outcome) map[string]any {
	m, _ := o.tree.(map[string]any)
	out := map[string]any{}
	for _, key := range []string{"kubectl.kubernetes.io/default-container", "kubectl.kubernetes.io/default-logs-container"} {
		out[key] = at(m, []string{"metadata", "annotations"})[key]
	}
	return out
}

// fresh is the proxy that the pod gets so.
func (r *runner) fresh(in *input, without ...string) map[string]any {
	return r.anew(in, without...).container(proxy)
}

// anew is what the pod becomes without its record, and without some of the containers that the record
// names.
func (r *runner) anew(in *input, without ...string) outcome {
	meta, left := pod.Object(in.pod, "metadata"), pod.Object(in.pod, "spec")
	for list, names := range in.recorded() {
		gone := func(item any) bool { return slices.Contains(without, name(item)) && slices.Contains(names, name(item)) }
		left = pod.With(left, list, slices.DeleteFunc(slices.Clone(pod.Items(left, list)), gone))
	}
	if len(pod.Items(left, "containers")) == 0 {
		left = pod.With(left, "containers", []any{map[string]any{"name": "app", "image": "registry.example/app:1"}})
	}
	bare := pod.With(pod.With(in.pod, "spec", left), "metadata", pod.With(meta, "annotations", pod.With(in.annotations(), statusKey, nil)))
	one, err := in.withObject([]byte(text(bare)))
	if err != nil {
		return outcome{}
	}
	return outcome{tree: r.result(one)}
}

// asIfNew: the proxy is the one that the pod would get without the record, and without the proxy that an
// earlier injection put into it.
func asIfNew(r *runner, p *pair) error {
	got := p.got.container(proxy)
	if got == nil {
		return fmt.Errorf("the pod has no %s", proxy)
	}
	if d := uncovered(norm(got, ""), norm(r.fresh(p.in, proxy), ""), ""); d != "" {
		return fmt.Errorf("%s is another than without the record: %s", proxy, d)
	}
	for _, list := range pod.ContainerLists {
		strike(spec(p.got), list, proxy)
		strike(spec(p.want), list, proxy)
	}
	wanted, _ := p.want.tree.(map[string]any)
	notes := at(wanted, []string{"metadata", "annotations"})
	for key, value := range firsts(r.anew(p.in, proxy)) {
		if is := firsts(p.got)[key]; is != value {
			return fmt.Errorf("%s is %v, want %v", key, is, value)
		}
		if notes[key] != nil {
			notes[key] = value
		}
	}
	return nil
}

// uncovered tells what a value lacks of another. It may have more: what an earlier injection put into the
// proxy stays where templates are silent. What depends on probes and annotations that were rewritten
// already is left out.
func uncovered(have, want any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		h, _ := have.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if d := uncovered(h[key], w[key], path+"/"+key); d != "" {
				return d
			}
		}
		return ""
	case []any:
		if len(w) == 0 || identity(w[0]) == nil {
			break
		}
		h, _ := have.([]any)
		for _, item := range w {
			at := slices.IndexFunc(h, func(other any) bool { return identity(other) == identity(item) })
			if slices.Contains([]string{probers, "ISTIO_PROMETHEUS_ANNOTATIONS"}, name(item)) {
				continue
			}
			if at < 0 {
				return fmt.Sprintf("%s[%v] is missing", path, identity(item))
			}
			if d := uncovered(h[at], item, fmt.Sprintf("%s[%v]", path, identity(item))); d != "" {
				return d
			}
		}
		return ""
	}
	if d := diff(have, want, path); len(d) > 0 {
		return d[0]
	}
	return ""
}

// ofRetiredVersion: the pod stands in an object that no API server takes any more.
func ofRetiredVersion(_ *runner, in *input) bool {
	apiVersion, kind, ok := strings.Cut(in.owner, " ")
	return ok && retired(apiVersion, kind)
}

// leftAndTold: the pod is as it was, and the report says why.
func leftAndTold(_ *runner, p *pair) error {
	was := norm(canonical(p.in.pod), "")
	if d := diff(p.got.tree, was, ""); len(d) > 0 {
		return fmt.Errorf("it is not left as it is: %s", d[0])
	}
	if !strings.Contains(p.got.text, "no longer served") {
		return fmt.Errorf("the report does not say that the version is no longer served: %s", brief(p.got.text))
	}
	p.want = p.got
	return nil
}
