// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Kin are configurations that others made for us and named as they liked, as tags of a revision are:
// known by their labels, in any mode, and never made or changed but for the bundle. Of their hooks, those
// count whose name ends as it should and that lead to where a wanted hook leads: a bundle of ours in
// one that leads elsewhere would cut off whoever answers there.
//
// It takes patch on every mutatingwebhookconfiguration that may be kin.
type Kin struct {
	Labels     map[string]string
	HookSuffix string
}

// want is what is wanted of an object: one of the wanted ones, or its hooks if it is kin; nil if it
// is somebody else's.
func (r *Registrar) want(name string, live *Configuration, wanted []*Configuration) *Configuration {
	if w := named(wanted, name); w != nil {
		delete(r.kin, name)
		return w
	}
	kin := r.akin(live, wanted)
	if kin != nil {
		r.kin[name] = kin
		return kin
	}
	if r.kin[name] != nil {
		delete(r.kin, name)
		delete(r.records, name)
	}
	return nil
}

// akin is the part of a configuration that is ours, if it is kin.
func (r *Registrar) akin(live *Configuration, wanted []*Configuration) *Configuration {
	if r.o.Kin == nil || live == nil || len(r.o.Kin.Labels) == 0 || !within(r.o.Kin.Labels, live.Labels) {
		return nil
	}
	ours := &Configuration{ObjectMeta: live.ObjectMeta}
	for _, hook := range live.Webhooks {
		if strings.HasSuffix(hook.Name, r.o.Kin.HookSuffix) && leadsTo(wanted, hook.ClientConfig) {
			ours.Webhooks = append(ours.Webhooks, hook)
		}
	}
	if len(ours.Webhooks) == 0 {
		return nil
	}
	return ours
}

func named(wanted []*Configuration, name string) *Configuration {
	i := slices.IndexFunc(wanted, func(w *Configuration) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return wanted[i]
}

// leadsTo tells whether a wanted hook leads to the same server.
func leadsTo(wanted []*Configuration, c admissionregistrationv1.WebhookClientConfig) bool {
	return slices.ContainsFunc(wanted, func(w *Configuration) bool {
		return slices.ContainsFunc(w.Webhooks, func(h admissionregistrationv1.MutatingWebhook) bool { return sameServer(h.ClientConfig, c) })
	})
}

func sameServer(a, b admissionregistrationv1.WebhookClientConfig) bool {
	switch {
	case a.Service != nil && b.Service != nil:
		return a.Service.Namespace == b.Service.Namespace && a.Service.Name == b.Service.Name
	case a.URL != nil && b.URL != nil:
		x, errX := url.Parse(*a.URL)
		y, errY := url.Parse(*b.URL)
		return errX == nil && errY == nil && x.Host == y.Host
	}
	return false
}
