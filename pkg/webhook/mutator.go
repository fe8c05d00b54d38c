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

	"github.com/pillion-dev/pillion/pkg/admission"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/patch"
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
}

// Mutator reviews the creation of pods.
type Mutator struct {
	Engine func() *inject.Engine // nil until a configuration is loaded
	Facts  Facts                 // nil without a cluster
	Proof  *Proof
	Log    *slog.Logger // nil: none
}

// Review injects the pod of the request. Whatever is not the creation of a pod passes untouched, so
// that a webhook configuration with too wide a rule does no harm.
func (m *Mutator) Review(_ context.Context, req *admission.Request) (admission.Response, error) {
	if req.Resource.Group != "" || req.Resource.Resource != "pods" || req.SubResource != "" || req.Operation != "CREATE" {
		return skipped(reason.NotPodCreate), nil
	}
	engine := m.Engine()
	if engine == nil {
		return admission.Response{}, fmt.Errorf("no configuration is loaded yet: %w", admission.ErrNotReady)
	}
	doc, err := pod.Parse(req.Object)
	if err != nil {
		return admission.Response{}, &reason.Refusal{
			Reason: reason.PodUnreadable, Detail: err.Error(), Hint: "send the pod as the API server does, in request.object",
		}
	}
	result, err := engine.Inject(doc, m.facts(req.Namespace))
	if err == nil && len(result.Patch) > 0 {
		err = m.Proof.check(engine, doc, result)
	}
	m.log(req, doc, result, err)
	return respond(engine, result, err)
}

func (m *Mutator) facts(namespace string) inject.Facts {
	f := inject.Facts{Namespace: namespace, Selected: true}
	if m.Facts == nil {
		return f
	}
	f.NamespaceLabels, f.NamespaceAnnotations, _ = m.Facts.Namespace(namespace)
	f.OldNodes = m.Facts.OldNodes()
	return f
}

func skipped(why reason.Reason) admission.Response {
	return admission.Response{Reason: why, AuditAnnotations: map[string]string{"decision": "skipped", "reason": why.String()}}
}

func respond(engine *inject.Engine, r inject.Result, err error) (admission.Response, error) {
	resp := admission.Response{Reason: r.Decision.Reason, Warnings: warnings(r.Warnings)}
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		resp.Reason = refusal.Reason
		resp.AuditAnnotations = map[string]string{"decision": "refused", "reason": refusal.Reason.String(), "revision": engine.Revision()}
		return resp, refusal
	case err != nil:
		return resp, err
	case !r.Decision.Inject:
		resp.AuditAnnotations = map[string]string{"decision": "skipped", "reason": r.Decision.Reason.String(), "revision": engine.Revision()}
		return resp, nil
	}
	resp.Patch, resp.Templates = patch.Marshal(r.Patch), names(r.Templates)
	resp.AuditAnnotations = map[string]string{
		"decision": "injected", "reason": r.Decision.Reason.String(), "revision": engine.Revision(),
		"templates": strings.Join(resp.Templates, ","), "template-hash": r.Hash,
	}
	return resp, nil
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

// log tells one line for each decision. A pod that a controller makes has no name yet: its
// generateName stands for it.
func (m *Mutator) log(req *admission.Request, doc pod.Doc, r inject.Result, err error) {
	if m.Log == nil || !m.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	name := doc.Head().Metadata.Name
	if name == "" {
		name = doc.Head().Metadata.GenerateName + "*"
	}
	decision, why := "skipped", r.Decision.Reason
	var refusal *reason.Refusal
	switch {
	case errors.As(err, &refusal):
		decision, why = "refused", refusal.Reason
	case err != nil:
		decision = "broken"
	case r.Decision.Inject:
		decision = "injected"
	}
	m.Log.Debug("reviewed a pod", "namespace", cut(req.Namespace), "pod", cut(name), "owner", cut(r.Owner.Kind+"/"+r.Owner.Name),
		"decision", decision, "reason", why.String(), "templates", strings.Join(names(r.Templates), ","), "dryRun", req.DryRun)
}

// cut bounds what a request puts into the log.
func cut(text string) string {
	if len(text) > 253 {
		return text[:253]
	}
	return text
}
