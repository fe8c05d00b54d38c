// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pillion-dev/pillion/pkg/pod"
)

// onlyTheProxy: the pod's only container is the proxy, and a template makes it an init container; or the
// pod came without containers.
func onlyTheProxy(r *runner, in *input) bool {
	own := pod.Items(pod.Object(in.pod, "spec"), "containers")
	if len(own) == 0 {
		return in.review != nil
	}
	if len(own) != 1 || name(own[0]) != proxy || !in.native() {
		return false
	}
	early, ordinary := false, false
	for _, t := range in.selected() {
		brought := pod.Object(r.alone(in, t), "spec")
		early = early || pod.Named(pod.Items(brought, "initContainers"), proxy) != nil
		ordinary = ordinary || slices.ContainsFunc(pod.Items(brought, "containers"), func(item any) bool { return name(item) != "app" })
	}
	return early && !ordinary
}

// containersStay: the pod is refused, or has the proxy among its containers.
func containersStay(_ *runner, p *pair) error {
	if p.got.kind == failed {
		return p.refusedInstead("containers")
	}
	if len(pod.Items(spec(p.got), "containers")) == 0 {
		return fmt.Errorf("the pod has no container")
	}
	for _, list := range pod.ContainerLists {
		strike(spec(p.got), list, proxy)
		strike(spec(p.want), list, proxy)
	}
	unlist(p.got)
	unlist(p.want)
	reorder(spec(p.want))
	return nil
}

// reorder gives init containers the order that they have beside a proxy which is none of them.
func reorder(spec map[string]any) {
	rank := func(item any) int {
		return slices.Index([]string{"istio-validation", "", "istio-init", "enable-core-dump"}, cmp.Or(name(item), "?"))
	}
	slices.SortStableFunc(pod.Items(spec, "initContainers"), func(a, b any) int {
		place := func(item any) int {
			if r := rank(item); r >= 0 {
				return r
			}
			return 1 // the author's
		}
		return cmp.Compare(place(a), place(b))
	})
}

// cronJob: the pod is one that a CronJob makes, and is injected.
func cronJob(r *runner, in *input) bool { return in.job != nil && r.result(in) != nil }

// metadataOnThePod: the Job's metadata is as it was, and the pod has what the original gives to the Job.
func metadataOnThePod(_ *runner, p *pair) error {
	want, _ := p.want.tree.(map[string]any)
	got, _ := p.got.tree.(map[string]any)
	job, _ := norm(p.in.job, "").(map[string]any)
	if was, _ := got["job"].(map[string]any); len(diff(any(was), any(job), "")) > 0 {
		return fmt.Errorf("the Job's metadata is not as it was: %s", brief(was))
	}
	if len(job) == 0 && len(pod.Object(p.in.pod, "metadata")) == 0 {
		want["metadata"] = want["job"]
	} else if notes := at(got, []string{"metadata", "annotations"}); notes["sidecar.istio.io/status"] == nil {
		return fmt.Errorf("the pod has no record of its injection")
	} else {
		want["metadata"] = got["metadata"] // templates read the other metadata, and may say something else
	}
	delete(want, "job")
	delete(got, "job")
	return nil
}
