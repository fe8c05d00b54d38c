// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ourKin are configurations of our revision.
func ourKin() *Kin { return &Kin{Labels: map[string]string{"rev": "r"}, HookSuffix: ".x"} }

// hook leads to a Service.
func hook(name, to string) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: service(to), CABundle: []byte("theirs")},
	}
}

func configuration(name string, labels map[string]string, hooks ...admissionregistrationv1.MutatingWebhook) *Configuration {
	return &Configuration{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Webhooks: hooks}
}

// bundles are those of an object's hooks.
func bundles(c *Configuration) string {
	var out []string
	for _, h := range c.Webhooks {
		out = append(out, h.Name+"="+string(h.ClientConfig.CABundle))
	}
	return strings.Join(out, " ")
}

func TestKinCarryTheBundleToo(t *testing.T) {
	for _, mode := range []Mode{Static, AfterReady} {
		t.Run(string(mode), func(t *testing.T) {
			runWith(t, mode, ourKin(), func(w *world) {
				w.put(w.live("main"))
				w.put(w.live("tag"))
				w.put(configuration("stable", map[string]string{"rev": "r", "tag": "stable"},
					hook("namespace.x", "ours"), hook("object.x", "another"), hook("namespace.y", "ours")))
				w.put(configuration("elsewhere", map[string]string{"rev": "r"}, hook("namespace.x", "another")))
				w.put(configuration("other", map[string]string{"rev": "s"}, hook("namespace.x", "ours")))
				w.pass(time.Minute)
				expect(t, "the hooks that are ours and lead to us", "namespace.x=one object.x=theirs namespace.y=theirs", bundles(w.object("stable")))
				expect(t, "who answers elsewhere keeps their bundle", "namespace.x=theirs", bundles(w.object("elsewhere")))
				expect(t, "so does another revision", "namespace.x=theirs", bundles(w.object("other")))
				i := slices.IndexFunc(w.written(), func(x write) bool { return x.Name == "stable" })
				expect(t, "by the manager of the bundle alone", BundleManager, w.written()[i].Manager)
				writes := len(w.names())

				locked(w, func() bool { w.faults = 5; return true })
				w.rotate("two")
				w.pass(time.Hour)
				expect(t, "kin hear of a rotation", "namespace.x=two object.x=theirs namespace.y=theirs", bundles(w.object("stable")))
				expect(t, "which is told once they carry it", []string{"one", "two"}, w.published())
				expect(t, "each was written once, besides the failures", writes+3+5, len(w.names()))

				w.remove("stable")
				w.pass(time.Hour)
				expect(t, "kin that go are not made again", writes+3+5, len(w.names()))
			})
		})
	}
}

// Kin that cannot be written are waited for, until they are no longer kin.
func TestKinThatLeaveAreNotWaitedFor(t *testing.T) {
	for name, leave := range map[string]func(w *world){
		"gone":      func(w *world) { w.remove("stable") },
		"relabeled": func(w *world) { w.put(configuration("stable", nil, hook("namespace.x", "ours"))) },
		"redirected": func(w *world) {
			w.put(configuration("stable", map[string]string{"rev": "r"}, hook("namespace.x", "another")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			runWith(t, Static, ourKin(), func(w *world) {
				w.put(w.live("main"))
				w.put(configuration("stable", map[string]string{"rev": "r"}, hook("namespace.x", "ours")))
				w.pass(time.Minute)
				locked(w, func() bool { w.forbidden = "stable"; return true })
				w.rotate("two")
				w.pass(time.Hour)
				expect(t, "the new certificate would not be trusted everywhere", []string{"one"}, w.published())
				leave(w)
				w.pass(time.Hour)
				expect(t, "nothing holds it up any more", []string{"one", "two"}, w.published())
			})
		})
	}
}

// Without kin, or with no labels to know them by, every other configuration is somebody else's.
func TestNoKinUnlessAskedFor(t *testing.T) {
	for name, kin := range map[string]*Kin{"none": nil, "no labels": {HookSuffix: ".x"}, "none alike": {Labels: map[string]string{"rev": "q"}}} {
		t.Run(name, func(t *testing.T) {
			runWith(t, Static, kin, func(w *world) {
				w.put(configuration("stable", map[string]string{"rev": "r"}, hook("namespace.x", "ours")))
				w.put(w.live("main"))
				synctest.Wait()
				expect(t, "one write", []string{"main"}, w.names())
			})
		})
	}
}

func TestSameServer(t *testing.T) {
	at := func(url string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: &url}
	}
	in := func(namespace, name string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: name}}
	}
	servers := [][]admissionregistrationv1.WebhookClientConfig{
		{in("a", "x"), in("a", "x")}, {in("b", "x")}, {in("a", "y")},
		{at("https://a:1/inject"), at("https://a:1/inject/zone/b")}, {at("https://a:2/inject")}, {at("https://b:1/inject")},
	}
	for i, one := range servers {
		for j, other := range servers {
			for _, a := range one {
				for _, b := range other {
					if sameServer(a, b) != (i == j) {
						t.Error(fmt.Sprint(a.String(), " and ", b.String()))
					}
				}
			}
		}
	}
}
