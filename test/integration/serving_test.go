// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pillion-dev/pillion/pkg/revision"
)

// The configuration that the injector registers is stored as it was written, verifies the certificate
// that is served, and stays: it is written again when somebody breaks or deletes it, and only then.
func TestRegistration(t *testing.T) {
	t.Parallel()
	in := serve(t, "registration")
	first := in.stored(t)
	wanted, err := revision.Wanted(revision.Values{
		Revision: in.revision, InjectionURL: in.url, CABundle: bundle(first), DropHostNetwork: true, DropWindows: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted[0].Webhooks, first.Webhooks); diff != "" {
		t.Errorf("the API server stored another configuration (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wanted[0].Labels, first.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	in.verify(t, bundle(first))

	// Each edit that is no drift makes a pass that must write nothing. The edit after them is mended by
	// a pass of its own, so they are over by then.
	for _, patch := range []string{`{"metadata":{"annotations":{"note":"1"}}}`, `{"metadata":{"annotations":{"note":"2"}}}`, `{"metadata":{"labels":{"team":"a"}}}`} {
		in.edit(t, types.MergePatchType, patch)
	}
	if c := in.stored(t); c.Generation != 1 {
		t.Errorf("generation %d, want 1", c.Generation)
	}
	in.edit(t, types.StrategicMergePatchType, `{"webhooks":[{"name":"`+first.Webhooks[0].Name+`","clientConfig":{"caBundle":null}}]}`)
	await(t, "the bundle is mended", func() bool { return cmp.Equal(in.stored(t).Webhooks, first.Webhooks) })
	if c := in.stored(t); c.Generation != 3 || c.Annotations["note"] != "2" || c.Labels["team"] != "a" {
		t.Errorf("generation %d, labels %v, annotations %v, want 3 and what others set", c.Generation, c.Labels, c.Annotations)
	}

	if err := configurations().Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "it is made again", func() bool {
		c, err := configurations().Get(t.Context(), first.Name, metav1.GetOptions{})
		return err == nil && c.UID != first.UID && cmp.Equal(c.Webhooks, first.Webhooks)
	})
	await(t, "pods are injected again", func() bool {
		pod, err := dryRun(t, bare(in.namespace, "again"))
		return err == nil && injected(pod)
	})
	if n := in.told(t, "webhook configuration written"); n != 3 {
		t.Errorf("written %d times, want 3: at the start, against the edit, after the deletion", n)
	}
}

func (in *injector) stored(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	c, err := configurations().Get(t.Context(), in.configuration(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (in *injector) edit(t *testing.T, kind types.PatchType, patch string) {
	t.Helper()
	if _, err := configurations().Patch(t.Context(), in.configuration(), kind, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
}

func bundle(c *admissionregistrationv1.MutatingWebhookConfiguration) []byte {
	return c.Webhooks[0].ClientConfig.CABundle
}

// verify shakes hands as the API server does.
func (in *injector) verify(t *testing.T, bundle []byte) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatal("the bundle holds no certificate")
	}
	at, err := url.Parse(in.url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", at.Host, &tls.Config{RootCAs: roots, ServerName: at.Hostname(), NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if s := conn.ConnectionState(); s.Version != tls.VersionTLS13 || s.NegotiatedProtocol != "http/1.1" {
		t.Errorf("%s and protocol %q, want TLS 1.3 and http/1.1", tls.VersionName(s.Version), s.NegotiatedProtocol)
	}
}
