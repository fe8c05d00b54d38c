// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/pillion-dev/pillion/pkg/cluster/apply"
)

func TestStaticWritesTheBundleAlone(t *testing.T) {
	r := register(t, apply.Static)
	before := r.install(t)
	bind(t, "static-writer", false, r.name)
	manage(t, as("static-writer"), &r.Options)
	await(t, "the bundle in our hooks", func() bool { return r.carries(t) })
	await(t, "it is published", r.isPublished)

	after, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Webhooks {
		if before.Webhooks[i].Name != foreign {
			before.Webhooks[i].ClientConfig.CABundle = r.bundle
		}
	}
	if diff := cmp.Diff(before.Webhooks, after.Webhooks); diff != "" {
		t.Errorf("more than the bundle changed (-want +got):\n%s", diff)
	}
	for _, f := range after.ManagedFields {
		if f.Manager == apply.BundleManager && strings.Count(f.FieldsV1.GetRawString(), `"f:caBundle"`) == len(before.Webhooks)-1 {
			return
		}
	}
	t.Errorf("the bundle has no owner of its own: %v", after.ManagedFields)
}

func TestStaticNeverCreates(t *testing.T) {
	r := register(t, apply.Static)
	bind(t, "static-writer", true, r.name) // it could
	manage(t, as("static-writer"), &r.Options)
	await(t, "it has looked", func() bool { return r.told("failure "+apply.NotFound) > 0 })

	installed := r.install(t)
	await(t, "the bundle", func() bool { return r.carries(t) })
	seen := r.told("failure " + apply.NotFound)
	if err := configurations().Delete(t.Context(), r.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "it has seen that it is gone", func() bool { return r.told("failure "+apply.NotFound) > seen })
	if _, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted configuration: %v, want NotFound", err)
	}

	// The cache may show an object that is gone by the time of the patch.
	patch := `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"` + r.name +
		`","uid":"` + string(installed.UID) + `"},"webhooks":[{"name":"` + installed.Webhooks[0].Name + `","clientConfig":{"caBundle":"eA=="}}]}`
	if _, err := (apply.InCluster{Client: configurations()}).Apply(t.Context(), r.name, apply.BundleManager, []byte(patch)); !apierrors.IsConflict(err) {
		t.Errorf("the patch of an object that is gone: %v, want Conflict", err)
	}
}

func TestAfterReadyCreatesAndCreatesAgain(t *testing.T) {
	r := register(t, apply.AfterReady)
	r.ready = false
	bind(t, "after-ready-writer", true, r.name)
	m := manage(t, as("after-ready-writer"), &r.Options)
	await(t, "the server is ready", m.Server().Ready)
	if _, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("before the self-test: %v, want NotFound", err)
	}
	r.setReady()
	await(t, "the configuration with its bundle", func() bool { return r.carries(t) })
	first, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first.ManagedFields); n != 1 || first.ManagedFields[0].Manager != apply.Manager {
		t.Errorf("managed by %v", first.ManagedFields)
	}

	if err := configurations().Delete(t.Context(), r.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "it is made again", func() bool {
		c, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
		return err == nil && c.UID != first.UID
	})
	r.rotate(t)
	await(t, "another bundle", func() bool { return r.carries(t) })
	await(t, "three writes are told", func() bool { return r.told("success ") == 3 })
}

// Whoever goes from afterReady to static must not lose what the former wrote.
func TestStaticAfterAfterReady(t *testing.T) {
	r := register(t, apply.AfterReady)
	t.Run("before", func(t *testing.T) {
		manage(t, shared.Config, &r.Options)
		await(t, "the configuration", func() bool { return r.carries(t) })
	})
	before, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.Mode, r.bundle = apply.Static, authority(t).CABundle()
	manage(t, shared.Config, &r.Options)
	await(t, "the new bundle", func() bool { return r.carries(t) })
	after, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Webhooks {
		before.Webhooks[i].ClientConfig.CABundle = r.bundle
	}
	if diff := cmp.Diff(before.Webhooks, after.Webhooks); diff != "" {
		t.Errorf("more than the bundle changed (-want +got):\n%s", diff)
	}
}

func TestFailedWriteIsTriedAgain(t *testing.T) {
	for _, mode := range []apply.Mode{apply.Static, apply.AfterReady} {
		t.Run(string(mode), func(t *testing.T) {
			r := register(t, mode)
			if mode == apply.Static {
				r.install(t)
			}
			config := rest.CopyConfig(shared.Config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &faulty{RoundTripper: next, fails: 2} })
			manage(t, config, &r.Options)
			await(t, "the bundle, in the end", func() bool { return r.carries(t) })
			await(t, "its publication", r.isPublished)
			if n := r.told("failure " + apply.UpdateFailed); n != 2 {
				t.Errorf("%d failures told, want 2", n)
			}
		})
	}
}

func TestContentionEnds(t *testing.T) {
	r := register(t, apply.AfterReady)
	manage(t, shared.Config, &r.Options)
	theirs := []byte(`{"webhooks":[{"name":"` + r.hooks(t)[0].Name + `","clientConfig":{"caBundle":"eA=="}}]}`)
	for edit := range 4 {
		await(t, "our bundle", func() bool { return r.carries(t) })
		await(t, "the write is told", func() bool { return r.told("success ") == edit+1 })
		if _, err := configurations().Patch(t.Context(), r.name, types.StrategicMergePatchType, theirs, metav1.PatchOptions{FieldManager: "them"}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "we give in", func() bool { return r.told("failure "+apply.Contended) == 1 })
	if r.carries(t) || r.told("success ") != 4 {
		t.Errorf("%d writes, want the first and three repairs", r.told("success "))
	}
	r.rotate(t)
	await(t, "a new bundle is worth another try", func() bool { return r.carries(t) })
}
