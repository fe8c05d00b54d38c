// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"

	"github.com/pillion-dev/pillion/pkg/cluster/apply"
	"github.com/pillion-dev/pillion/pkg/revision"
)

// bind gives a user the least rights that a manager needs: to read what it watches, to patch the
// named webhook configurations and, if asked, to create them.
func bind(t *testing.T, user string, create bool, names ...string) {
	t.Helper()
	read := []string{"get", "list", "watch"}
	group, resource := []string{"admissionregistration.k8s.io"}, []string{"mutatingwebhookconfigurations"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"namespaces", "nodes"}, Verbs: read},
	}}
	if len(names) > 0 {
		role.Rules = append(role.Rules,
			rbacv1.PolicyRule{APIGroups: group, Resources: resource, Verbs: read},
			rbacv1.PolicyRule{APIGroups: group, Resources: resource, Verbs: []string{"patch"}, ResourceNames: names})
	}
	if create {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: group, Resources: resource, Verbs: []string{"create"}, ResourceNames: names})
	}
	rbac := shared.Client().RbacV1()
	role, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = rbac.ClusterRoleBindings().Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		_ = rbac.ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{})
	})
	await(t, "the rights of "+user, func() bool {
		client, err := kubernetes.NewForConfig(as(user))
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil
	})
}

func configurations() admissionclient.MutatingWebhookConfigurationInterface {
	return shared.Client().AdmissionregistrationV1().MutatingWebhookConfigurations()
}

const foreign = "foreign.example.org" // a hook that is not ours

// registration is a registrar's options and what it told.
type registration struct {
	apply.Options
	name    string
	changed chan struct{}

	mu        sync.Mutex
	bundle    []byte
	ready     bool
	reports   []string
	published []byte
}

// register makes options for one configuration of the test's own, removed with the test.
func register(t *testing.T, mode apply.Mode) *registration {
	t.Helper()
	r := &registration{
		name:    "it-" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")),
		changed: make(chan struct{}, 1), bundle: authority(t).CABundle(), ready: true,
	}
	r.Options = apply.Options{
		Mode:     mode,
		Wanted:   r.wanted,
		CABundle: r.currentBundle,
		Changed:  r.changed,
		Ready: func(context.Context) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.ready
		},
		Published: func(bundle []byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.published = bundle
		},
		Report: func(_, result, reason string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reports = append(r.reports, result+" "+reason)
		},
	}
	t.Cleanup(func() {
		_ = configurations().Delete(context.Background(), r.name, metav1.DeleteOptions{})
	})
	return r
}

func (r *registration) currentBundle() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bundle
}

// rotate makes another bundle the one to write.
func (r *registration) rotate(t *testing.T) {
	bundle := authority(t).CABundle()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bundle = bundle
	r.changed <- struct{}{}
}

// isPublished tells whether the current bundle is.
func (r *registration) isPublished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Equal(r.published, r.bundle)
}

func (r *registration) setReady() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = true
}

func (r *registration) wanted(bundle []byte) ([]*apply.Configuration, error) {
	return revision.Wanted(revision.Values{Name: r.name, InjectionURL: "https://127.0.0.1:1/inject", CABundle: bundle})
}

// told counts a report.
func (r *registration) told(report string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, x := range r.reports {
		if x == report {
			n++
		}
	}
	return n
}

// carries tells whether every hook of ours has the bundle.
func (r *registration) carries(t *testing.T) bool {
	t.Helper()
	c, err := configurations().Get(t.Context(), r.name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, h := range c.Webhooks {
		if h.Name != foreign && !bytes.Equal(h.ClientConfig.CABundle, r.currentBundle()) {
			return false
		}
	}
	return true
}

// install makes the configuration as an installer does: without a bundle, and with a hook of its own.
func (r *registration) install(t *testing.T) *apply.Configuration {
	t.Helper()
	wanted, err := r.wanted(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := wanted[0]
	c.Labels = map[string]string{"installed-by": "somebody"}
	other := *c.Webhooks[0].DeepCopy()
	other.Name = foreign
	c.Webhooks = append(c.Webhooks, other)
	c, err = configurations().Create(t.Context(), c, metav1.CreateOptions{FieldManager: "installer"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *registration) hooks(t *testing.T) []admissionregistrationv1.MutatingWebhook {
	t.Helper()
	wanted, err := r.wanted(nil)
	if err != nil {
		t.Fatal(err)
	}
	return wanted[0].Webhooks
}

// faulty fails the first patches on their way to the API server, as an etcd that times out does.
type faulty struct {
	http.RoundTripper
	mu    sync.Mutex
	fails int
}

func (f *faulty) RoundTrip(request *http.Request) (*http.Response, error) {
	f.mu.Lock()
	fail := request.Method == http.MethodPatch && f.fails > 0
	if fail {
		f.fails--
	}
	f.mu.Unlock()
	if !fail {
		return f.RoundTripper.RoundTrip(request)
	}
	status, err := json.Marshal(apierrors.NewInternalError(io.ErrUnexpectedEOF).Status())
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Request: request, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(status)),
	}, err
}
