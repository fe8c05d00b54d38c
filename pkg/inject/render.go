// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/render"
)

// render turns the templates into layers. An optional one that fails is left out.
func (r *run) render() error {
	author := r.in
	if r.peeled {
		var err error
		if author, err = pod.FromTree(r.base); err != nil {
			return unreadable(err)
		}
	}
	var kept []layer
	for _, l := range r.layers {
		err := r.layer(author, &l)
		var refusal *reason.Refusal
		switch {
		case err == nil:
			kept = append(kept, l)
		case !l.template.config.Required && errors.As(err, &refusal) && refusal.Reason != reason.ParameterInvalid:
			r.leftOut(l.template, reason.TemplateLeftOut, refusal.Detail)
		default:
			return err
		}
	}
	if r.layers = kept; len(kept) == 0 {
		r.skip(reason.TemplateLeftOut, "every selected template failed and is optional")
	}
	return nil
}

// layer renders one template on the author's pod.
func (r *run) layer(author pod.Doc, l *layer) error {
	t := l.template
	params, refusal := t.params.Resolve(author.Head().Metadata.Annotations, r.facts.NamespaceAnnotations)
	if refusal != nil {
		return refusal
	}
	data, err := r.data(author, l)
	if err != nil {
		return err
	}
	applied := Applied{Name: t.config.Name, Native: l.native}
	data.Params = make(map[string]any, len(params))
	for _, p := range params {
		data.Params[p.Name] = p.Value
		applied.Params = append(applied.Params, Param{p.Name, p.Text, p.Source})
	}
	rendered, _, err := t.code.Render(data)
	if err != nil {
		return err
	}
	l.tree = rendered.Tree
	r.Templates = append(r.Templates, applied)
	return nil
}

func (r *run) data(author pod.Doc, l *layer) (*render.Data, error) {
	meta := author.Head().Metadata
	d := &render.Data{
		ObjectMeta:     objectMeta(meta),
		TypeMeta:       metav1.TypeMeta{APIVersion: r.Owner.APIVersion, Kind: r.Owner.Kind},
		DeploymentMeta: render.Meta{Name: r.Owner.Name, Namespace: r.Namespace},
		Namespace:      render.Namespace{Name: r.Namespace, Labels: r.facts.NamespaceLabels, Annotations: r.facts.NamespaceAnnotations},
		Values:         r.engine.config.Values,
		Revision:       r.engine.options.Revision,
		NativeSidecars: l.native,
	}
	if l.template.code.Reads().Spec {
		typed, err := author.Typed(r.base)
		if err != nil {
			return nil, unreadable(fmt.Errorf("the template %s reads the pod's spec: %w", l.template.config.Name, err))
		}
		d.Spec = &typed.Spec
	}
	return d, nil
}

// objectMeta is the metadata that templates read: what the pod's author may know of.
func objectMeta(m pod.Metadata) *metav1.ObjectMeta {
	out := &metav1.ObjectMeta{
		Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace, Labels: m.Labels, Annotations: m.Annotations,
	}
	for _, o := range m.OwnerReferences {
		ref := metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID)}
		if o.Controller {
			ref.Controller = &o.Controller
		}
		out.OwnerReferences = append(out.OwnerReferences, ref)
	}
	return out
}
