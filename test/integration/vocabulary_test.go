// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// vocabulary is a configuration in other words than our own.
func (r *registration) vocabulary(name, url string, bundle []byte) ([]*apply.Configuration, error) {
	selector := func(key, value string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}}}}
	}
	return revision.Wanted(revision.Values{
		Name: name, InjectionURL: url, CABundle: bundle, FailurePolicy: "Ignore",
		ReinvocationPolicy: "Never", SideEffects: "None", TimeoutSeconds: 10, Labels: map[string]string{"rev.example": r.name},
		Entries: []revision.Entry{
			{Name: "namespace.other.example", NamespaceSelector: selector("rev.example", r.name)},
			{Name: "object.other.example", ObjectSelector: selector("rev.example", r.name)},
		},
	})
}

// A configuration in another vocabulary is stored as it was wanted, so that no write follows it.
func TestAnotherVocabularyIsStoredAsWanted(t *testing.T) {
	r := register(t, apply.AfterReady)
	r.Wanted = func(bundle []byte) ([]*apply.Configuration, error) {
		return r.vocabulary(r.name, "https://127.0.0.1:1/inject", bundle)
	}
	bind(t, "vocabulary-writer", true, r.name)
	manage(t, as("vocabulary-writer"), &r.Options)
	await(t, "the configuration", func() bool { return r.carries(t) })
	got, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Wanted(r.bundle)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[0].Webhooks, got.Webhooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[0].Labels, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// A configuration that another tool made for our revision gets our bundle where it leads to us.
func TestKinGetTheBundle(t *testing.T) {
	for _, mode := range []apply.Mode{apply.Static, apply.AfterReady} {
		t.Run(string(mode), func(t *testing.T) {
			r := register(t, mode)
			kin, stranger := r.name+"-kin", r.name+"-stranger"
			r.Wanted = func(bundle []byte) ([]*apply.Configuration, error) {
				return r.vocabulary(r.name, "https://127.0.0.1:1/inject", bundle)
			}
			r.Kin = &apply.Kin{Labels: map[string]string{"rev.example": r.name}, HookSuffix: ".other.example"}
			install := func(name, url string) {
				t.Helper()
				c, err := r.vocabulary(name, url, nil)
				if err == nil {
					_, err = configurations().Create(t.Context(), c[0], metav1.CreateOptions{FieldManager: "installer"})
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = configurations().Delete(context.Background(), name, metav1.DeleteOptions{}) })
			}
			install(stranger, "https://127.0.0.1:2/inject")
			if mode == apply.Static {
				install(r.name, "https://127.0.0.1:1/inject")
			}
			bind(t, "kin-writer", true, r.name, kin)
			manage(t, as("kin-writer"), &r.Options)
			await(t, "our own", func() bool { return r.carries(t) })
			install(kin, "https://127.0.0.1:1/inject/zone/b")
			carry := func(name string) bool {
				c, err := configurations().Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				all := true
				for _, h := range c.Webhooks {
					all = all && bytes.Equal(h.ClientConfig.CABundle, r.currentBundle())
				}
				return all
			}
			await(t, "kin that come", func() bool { return carry(kin) })
			r.rotate(t)
			await(t, "a rotation", func() bool { return carry(kin) && r.carries(t) })
			await(t, "its publication", r.isPublished)
			if carry(stranger) {
				t.Error("a configuration that leads elsewhere was written to")
			}
		})
	}
}
