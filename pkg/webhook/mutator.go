// SPDX-License-Identifier: Apache-2.0

// Package webhook holds the Reviewers: they gather the facts around a request, call the engine, and
// put its result into the words of the API server.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Facts are what the cluster knows. They are read from memory: no request waits for an API call.
type Facts interface {
	// Namespace gives a namespace's labels and annotations; not known is one that the cache has not
	// seen yet.
	Namespace(name string) (labels, annotations map[string]string, known bool)
	// OldNodes are the nodes without native sidecars.
	OldNodes() []inject.Node
	// NodeKnown tells whether the cluster has a node of this name.
	NodeKnown(name string) bool
}

// Mutator reviews the creation of pods.
type Mutator struct {
	Engine func() *inject.Engine // nil until a configuration is loaded
	Facts  Facts                 // nil without a cluster
	Proof  *Proof
	Log    *slog.Logger // nil: none

	// More is what sources of the dialect's own say at the moment; nil: none. It must not change once
	// it was given.
	More func() any

	// Now is asked how long a namespace has been waited for; nil: none is waited for.
	Now func() time.Time

	unseen unseen
}

// Review injects the pod of the request. Whatever is not the creation of a pod passes untouched, so
// that a webhook configuration with too wide a rule does no harm.
func (m *Mutator) Review(_ context.Context, req *admission.Request) (admission.Response, error) {
	var doc pod.Doc
	var result inject.Result
	var err error
	engine := m.Engine()
	switch {
	case !createsPod(req):
		result.Decision.Reason = reason.NotPodCreate
	case engine == nil:
		return admission.Response{}, fmt.Errorf("no configuration is loaded yet: %w", admission.ErrNotReady)
	default:
		doc, result, err = m.inject(engine, req)
	}
	if errors.Is(err, admission.ErrNotReady) {
		return admission.Response{}, err
	}
	m.log(req, doc, result, err)
	return respond(engine, result, err)
}

func createsPod(req *admission.Request) bool {
	return req.Resource.Group == "" && req.Resource.Resource == "pods" && req.SubResource == "" && req.Operation == "CREATE"
}

func (m *Mutator) inject(engine *inject.Engine, req *admission.Request) (pod.Doc, inject.Result, error) {
	doc, err := pod.Read(req.Object)
	if err != nil {
		return doc, inject.Result{}, &reason.Refusal{
			Reason: reason.PodUnreadable, Detail: err.Error(), Hint: "send the pod as the API server does, in request.object",
		}
	}
	facts, err := m.facts(req, doc.Head())
	if err != nil {
		return doc, inject.Result{}, err
	}
	result, err := engine.Inject(doc, facts)
	if err == nil && result.Decision.Inject {
		err = m.Proof.check(engine, doc, result)
	}
	return doc, result, err
}

func (m *Mutator) facts(req *admission.Request, head *pod.Head) (inject.Facts, error) {
	namespace := req.Namespace
	f := inject.Facts{Namespace: namespace, Selected: true, Path: req.Path}
	if m.More != nil {
		f.More = m.More()
	}
	if m.Facts == nil {
		return f, nil
	}
	if node := head.Spec.NodeName; node != "" {
		f.NodeKnown = m.Facts.NodeKnown(node)
	}
	var known bool
	f.NamespaceLabels, f.NamespaceAnnotations, known = m.Facts.Namespace(namespace)
	f.OldNodes = m.Facts.OldNodes()
	switch {
	case known:
		m.unseen.seen(namespace)
	case m.Now != nil && m.unseen.wait(namespace, m.Now()):
		return f, fmt.Errorf("namespace %s is not in the cache yet: %w", pod.Describe(namespace), admission.ErrNotReady)
	}
	return f, nil
}

func respond(engine *inject.Engine, r inject.Result, err error) (admission.Response, error) {
	decision, why := end(r, err)
	if decision == admission.Broken {
		return admission.Response{}, err
	}
	resp := admission.Response{
		Reason: why, Warnings: warnings(r.Warnings),
		AuditAnnotations: map[string]string{"decision": string(decision), "reason": why.String()},
	}
	if engine != nil {
		resp.AuditAnnotations["revision"] = engine.Revision()
	}
	if decision == admission.Injected {
		resp.Patch, resp.Templates, resp.Reused = r.JSON(), names(r.Templates), r.Reused
		resp.AuditAnnotations["templates"] = strings.Join(resp.Templates, ",")
		resp.AuditAnnotations["template-hash"] = r.Hash
	}
	return resp, err
}

// end is how a review ends, and why.
func end(r inject.Result, err error) (admission.Decision, reason.Reason) {
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		return admission.Refused, refusal.Reason
	case err != nil:
		return admission.Broken, reason.None
	case r.Decision.Inject:
		return admission.Injected, r.Decision.Reason
	}
	return admission.Skipped, r.Decision.Reason
}

// warnings leaves out what concerns a manifest only: behind the API server, a service account's pull
// secrets have been added already.
func warnings(list []reason.Warning) []string {
	var out []string
	for _, w := range list {
		if w.Reason != reason.PullSecretsReplace {
			out = append(out, w.Text())
		}
	}
	return out
}

func names(templates []inject.Applied) []string {
	list := make([]string, len(templates))
	for i, t := range templates {
		list[i] = t.Name
	}
	return list
}

// log tells one line for each decision. Only a review without a readable pod is told to everyone: the
// API server sends none, so whoever did must mend it.
func (m *Mutator) log(req *admission.Request, doc pod.Doc, r inject.Result, err error) {
	decision, why := end(r, err)
	level := slog.LevelDebug
	if why == reason.PodUnreadable {
		level = slog.LevelWarn
	}
	if m.Log == nil || !m.Log.Enabled(context.Background(), level) {
		return
	}
	told := []any{
		"operation", cut(req.Operation), "resource", cut(req.Resource.Resource), "namespace", cut(req.Namespace), "name", cut(nameOf(req, doc)),
		"owner", cut(strings.Trim(r.Owner.Kind+"/"+r.Owner.Name, "/")), "decision", string(decision), "reason", why.String(),
		"templates", strings.Join(names(r.Templates), ","), "dryRun", req.DryRun,
	}
	if err != nil {
		told = append(told, "error", cut(err.Error()))
	}
	m.Log.Log(context.Background(), level, "reviewed a request", told...)
}

// nameOf is the object's name. A pod that a controller makes has none yet: its generateName stands
// for it.
func nameOf(req *admission.Request, doc pod.Doc) string {
	head := doc.Head()
	switch {
	case head == nil || head.Metadata.Name == "" && head.Metadata.GenerateName == "":
		return req.Name
	case head.Metadata.Name == "":
		return head.Metadata.GenerateName + "*"
	}
	return head.Metadata.Name
}

// cut bounds what a request puts into the log.
func cut(text string) string {
	if len(text) > 253 {
		return text[:253]
	}
	return text
}
