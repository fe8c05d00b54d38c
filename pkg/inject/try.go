// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"errors"
	"regexp"
	"slices"
	"strconv"

	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/policy"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// samples are the pods on which every template is tried when a configuration is loaded: the least
// pod there can be, and one as a ReplicaSet makes it. Their names and their port are such as no
// template has for its own: a clash with an author is not the template's fault.
var samples = []string{
	`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"sample","namespace":"sample"},"spec":{"containers":[{"name":"sample-app","image":"registry.example/app:1"}]}}`,
	`{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"sample-7d9f5c6b8d-","namespace":"sample","labels":{"app":"sample","pod-template-hash":"7d9f5c6b8d"},"annotations":{"example.com/note":"sample"},
	"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"sample-7d9f5c6b8d","uid":"0","controller":true}]},
	"spec":{"serviceAccountName":"sample","initContainers":[{"name":"sample-init","image":"registry.example/init:1"}],
	"containers":[{"name":"sample-app","image":"registry.example/app:1","ports":[{"name":"sample","containerPort":65501,"protocol":"TCP"}],"readinessProbe":{"httpGet":{"path":"/","port":"sample"}},"volumeMounts":[{"name":"sample-data","mountPath":"/sample-data"}]}],
	"volumes":[{"name":"sample-data","emptyDir":{}}]}}`,
}

// try runs every template alone on the sample pods, with native sidecars and without. A template may
// refuse a sample by its own fail or required; every other refusal is a fault of the configuration.
func (e *Engine) try() []Finding {
	var out []Finding
	for _, c := range e.config.Templates {
		t := e.named[c.Name][0]
		if f := e.tryTemplate(t); f != nil {
			out = append(out, *f)
		}
	}
	return out
}

func (e *Engine) tryTemplate(t *template) *Finding {
	for _, sample := range samples {
		for _, native := range []bool{true, false} {
			err := e.trial(t, sample, native)
			if err == nil {
				continue
			}
			return finding(t, err)
		}
	}
	return nil
}

// trial runs the stages after the decision on one sample.
func (e *Engine) trial(t *template, sample string, native bool) error {
	doc, err := pod.Parse([]byte(sample))
	if err != nil {
		return err
	}
	r := e.begin(doc, Facts{Namespace: "sample", Selected: true})
	r.Decision = policy.Decision{Inject: true, Reason: reason.PolicyEnabled}
	r.layers = []layer{{template: t, native: native}}
	if err := r.peel(); err != nil {
		return err
	}
	if err := r.layer(doc, &r.layers[0]); err != nil {
		var refusal *reason.Refusal
		if errors.As(err, &refusal) && refusal.Reason == reason.TemplateRefused {
			return nil
		}
		return err
	}
	t.note(r.layers[0].tree)
	if err := r.lay(); err != nil {
		return err
	}
	if err := r.finish(); err != nil {
		return err
	}
	r.Tree, r.Patch = r.after, patch.Between(r.raw, r.after)
	return r.Prove(doc)
}

// note keeps what the template brings to the samples.
func (t *template) note(tree map[string]any) {
	for key := range pod.Object(pod.Object(tree, "metadata"), "labels") {
		t.labels = append(t.labels, key)
	}
	for _, key := range pod.ContainerLists {
		for _, item := range pod.Items(pod.Object(tree, "spec"), key) {
			c := item.(map[string]any)
			t.containers = append(t.containers, pod.Text(c, "name"))
			t.beside = t.beside || pod.Text(c, "restartPolicy") == "Always"
		}
	}
}

// within is the place in a template at which it stopped, before the message.
var within = regexp.MustCompile(`^\S+:(\d+):\d+: `)

func finding(t *template, err error) *Finding {
	f := &Finding{Reason: reason.TemplateOutputInvalid, Template: t.config.Name, Detail: err.Error()}
	var refusal *reason.Refusal
	if errors.As(err, &refusal) {
		f.Reason, f.Path, f.Detail, f.Hint = refusal.Reason, refusal.Path, refusal.Detail, refusal.Hint
	}
	line := 1
	if m := within.FindStringSubmatch(f.Detail); m != nil {
		line, _ = strconv.Atoi(m[1])
		f.Path, f.Detail = "", f.Detail[len(m[0]):]
	}
	at := t.config.Origin.At(line)
	f.File, f.Line = at.File, at.Line
	return f
}

// Labels are the label keys that a template sets on the sample pods, sorted.
func (e *Engine) Labels(name string) []string {
	return e.noted(name, func(t *template) []string { return t.labels })
}

// Containers are the names of the containers that a template renders on the sample pods, sorted: none
// where it refuses all of them.
func (e *Engine) Containers(name string) []string {
	return e.noted(name, func(t *template) []string { return t.containers })
}

func (e *Engine) noted(name string, what func(*template) []string) []string {
	var out []string
	for _, t := range e.named[name] {
		out = append(out, what(t)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
