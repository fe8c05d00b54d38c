// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// proxyInBothLists follows the original's merge: with native sidecars, a proxy in containers moves to
// initContainers before a template is laid over the pod, once a template has it there; nothing moves
// afterwards.
func proxyInBothLists(r *runner, in *input) bool {
	has := func(tree map[string]any) (ordinary, native bool) {
		spec := pod.Object(tree, "spec")
		return pod.Named(pod.Items(spec, "containers"), proxy) != nil, pod.Named(pod.Items(spec, "initContainers"), proxy) != nil
	}
	ordinary, early := has(in.pod)
	wished := ordinary && !slices.Contains(in.recorded()["containers"], proxy)
	brings, brought := false, false
	for _, t := range in.selected() {
		o, e := r.proxyLists(in, t)
		if brought = brought || e; brought && ordinary && in.native() {
			ordinary, early = false, true
		}
		ordinary, early, brings = ordinary || o, early || e, brings || o
	}
	if wished && brings { // what its author wrote is laid over it where the template has it
		ordinary = true
	}
	return ordinary && early
}

// proxyLists are the lists to which a template brings the proxy, alone on a pod without a record: the
// record that is made of it tells. A template that goes over the pod's containers brings one that is there.
func (r *runner) proxyLists(in *input, template string) (ordinary, native bool) {
	notes := in.annotations()
	for _, key := range []string{statusKey, overridesKey} {
		notes = pod.With(notes, key, nil)
	}
	notes = pod.With(notes, "inject.istio.io/templates", template)
	one, err := in.withObject([]byte(text(pod.With(in.pod, "metadata", pod.With(pod.Object(in.pod, "metadata"), "annotations", notes)))))
	if err != nil {
		return false, false
	}
	made := &input{pod: r.result(one)}
	return slices.Contains(made.recorded()["containers"], proxy), slices.Contains(made.recorded()["initContainers"], proxy)
}

// proxyInOneList: the proxy stands in the pod once, where the original has it too, and has what each
// template brings. With native sidecars it is an init container.
func proxyInOneList(r *runner, p *pair) error {
	want, got := spec(p.want), spec(p.got)
	in, count := "", 0
	for _, list := range pod.ContainerLists {
		for _, item := range pod.Items(got, list) {
			if name(item) == proxy {
				in = list
				count++
			}
		}
	}
	early := func(t string) bool { _, native := r.proxyLists(p.in, t); return native }
	if count != 1 || p.in.native() && slices.ContainsFunc(p.in.selected(), early) && in != "initContainers" {
		return fmt.Errorf("%s stands %d times in the pod, at last in %s", proxy, count, in)
	}
	if at, pos := pod.Place(pod.Items(got, in), proxy), pod.Place(pod.Items(want, in), proxy); at != pos {
		return fmt.Errorf("%s is number %d of %s, want %d", proxy, at, in, pos)
	}
	merged := strike(got, in, proxy)
	for _, list := range pod.ContainerLists {
		if missing := lacks(merged, strike(want, list, proxy)); missing != "" {
			return fmt.Errorf("%s lacks what a template brings: %s", proxy, missing)
		}
	}
	if in == "containers" {
		reorder(want)
	}
	unlist(p.want)
	unlist(p.got)
	return nil
}

// lacks names a member, or an item with a name or a path, that one container has and the other has not.
func lacks(have, want map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if have[key] == nil {
			return key
		}
		for _, item := range pod.Items(want, key) {
			if id := identity(item); id != nil && !slices.ContainsFunc(pod.Items(have, key), func(h any) bool { return identity(h) == id }) {
				return fmt.Sprintf("%s[%v]", key, id)
			}
		}
	}
	return ""
}

// identity is what tells an item of a container's lists from its neighbours; nil where nothing does.
func identity(item any) any {
	m, _ := item.(map[string]any)
	for _, key := range []string{"mountPath", "containerPort", "name"} {
		if m[key] != nil {
			return m[key]
		}
	}
	return nil
}

// unlist takes the proxy out of the record of the injection, and out of that of its author's wishes.
func unlist(o outcome) {
	m, _ := o.tree.(map[string]any)
	notes := at(m, []string{"metadata", "annotations"})
	for _, key := range []string{statusKey, overridesKey} {
		record, err := object([]byte(pod.Text(notes, key)))
		if err != nil {
			continue
		}
		for _, list := range pod.ContainerLists {
			record[list] = slices.DeleteFunc(pod.Items(record, list), func(item any) bool { return item == proxy || name(item) == proxy })
		}
		if left, _ := norm(record, "").(map[string]any); len(left) > 0 {
			notes[key] = text(left)
			continue
		}
		delete(notes, key)
	}
}

// clashing are the volumes that the pod and its templates, or two templates, give different sources.
func (r *runner) clashing(in *input) map[string]bool {
	source := map[string]string{}
	out := map[string]bool{}
	note := func(volumes []any) {
		for _, item := range volumes {
			v, _ := norm(item, "").(map[string]any)
			kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(k string) bool { return k == "name" })
			if len(kinds) == 0 {
				continue
			}
			kind := strings.Join(kinds, " ")
			if was := source[name(v)]; was != "" && was != kind {
				out[name(v)] = true
			}
			source[name(v)] = kind
		}
	}
	note(pod.Items(pod.Object(in.pod, "spec"), "volumes"))
	for _, t := range in.selected() {
		if body := in.file.Injection.Templates[t]; !strings.Contains(body, "$retainKeys") && !strings.Contains(body, "$patch") {
			note(pod.Items(pod.Object(r.alone(in, t), "spec"), "volumes"))
		}
	}
	return out
}

func volumesClash(r *runner, in *input) bool { return len(r.clashing(in)) > 0 }

// volumeHasOneSource: each such volume has one source, or the pod is refused with its name.
func volumeHasOneSource(r *runner, p *pair) error {
	names := slices.Sorted(maps.Keys(r.clashing(p.in)))
	if p.got.kind == failed {
		return p.refusedInstead(names...)
	}
	for _, n := range names {
		v := strike(spec(p.got), "volumes", n)
		if len(v) > 2 {
			return fmt.Errorf("volume %s has the members %v", n, slices.Sorted(maps.Keys(v)))
		}
		if v == nil {
			return fmt.Errorf("volume %s is gone", n)
		}
		strike(spec(p.want), "volumes", n)
	}
	return nil
}

// surroundings are functions of Sprig that no template may call. env is none: it answers from what is
// configured.
var surroundings = strings.Fields("expandenv getHostByName now date toDate mustToDate ago htmlDate randAlphaNum randAlpha randAscii randNumeric randBytes " +
	"randInt uuidv4 shuffle genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey " +
	"buildCustomCert bcrypt htpasswd encryptAES derivePassword")

// forbidden are the functions of that sort that the templates call.
func (in *input) forbidden() []string {
	var out []string
	for _, body := range in.file.Injection.Templates {
		tree := parse.New("template")
		tree.Mode = parse.SkipFuncCheck
		set := map[string]*parse.Tree{}
		if _, err := tree.Parse(body, "", "", set); err != nil {
			continue
		}
		for _, t := range set {
			out = append(out, called(t.Root)...)
		}
	}
	out = slices.DeleteFunc(out, func(f string) bool { return !slices.Contains(surroundings, f) })
	slices.Sort(out)
	return slices.Compact(out)
}

func readsItsSurroundings(_ *runner, in *input) bool { return len(in.forbidden()) > 0 }

// functionRefused: the refusal names one of the functions.
func functionRefused(_ *runner, p *pair) error {
	var err error
	for _, f := range p.in.forbidden() {
		if err = p.refusedInstead(f); err == nil {
			return nil
		}
	}
	return err
}
