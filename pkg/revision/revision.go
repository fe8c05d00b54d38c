// SPDX-License-Identifier: Apache-2.0

// Package revision is the webhook configurations that a revision of the injector wants: which pods
// they select, no pod twice, and what they leave out whatever the configuration says.
package revision

import (
	"fmt"
	"maps"

	"github.com/pillion-dev/pillion/pkg/annotation"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Default is the revision that serves the pods whose labels name none.
const Default = "default"

// Values are what an installation chooses. Every one but CABundle may be left out.
type Values struct {
	Revision  string // default Default
	Name      string // of the webhook configuration; default pillion-injector, with the revision
	Namespace string // of the injector; default pillion-system

	// Where the API server finds the injector: a Service, or a URL that names everything.
	Service       string // default injector, with the revision
	Port          int32  // of the Service; default 443
	InjectionPath string // default /inject
	InjectionURL  string

	ReinvocationPolicy string // IfNeeded (default) or Never
	FailurePolicy      string // Fail (default) or Ignore
	SideEffects        string // NoneOnDryRun (default) or None
	TimeoutSeconds     int32  // default 5
	CABundle           []byte // PEM; left out where another writes it

	// DropHostNetwork and DropWindows leave pods out that no template of the revision accepts, so
	// that they start even while the injector is down.
	DropHostNetwork bool
	DropWindows     bool

	// Entries and Labels, of the object, are those of another vocabulary, in place of our own. What
	// keeps the webhook off the namespaces and the pods that it must not touch is added to each entry.
	Entries []Entry
	Labels  map[string]string
}

// Entry is one webhook of a configuration: its name and the pods that it selects. At most one of all
// the entries that are installed should select any pod.
type Entry struct {
	Name                              string // of three parts at least, as a.example.org
	NamespaceSelector, ObjectSelector metav1.LabelSelector
}

// Wanted is the webhook configurations of a revision. Every field that the API server would default
// is set, so that what it stores does not differ. The error tells each impossible value with its
// field.
func Wanted(v Values) ([]*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	if err := v.validate().ToAggregate(); err != nil {
		return nil, fmt.Errorf("webhook configuration: %w", err)
	}
	v = v.defaulted()
	c := &admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(),
			Kind:       "MutatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: v.Name, Labels: maps.Clone(v.Labels)},
	}
	for _, e := range v.Entries {
		c.Webhooks = append(c.Webhooks, v.webhook(e))
	}
	return []*admissionregistrationv1.MutatingWebhookConfiguration{c}, nil
}

// Manifest is Wanted as YAML documents.
func Manifest(v Values) ([]byte, error) {
	wanted, err := Wanted(v)
	if err != nil {
		return nil, err
	}
	var out []byte
	for i, c := range wanted {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		doc, err := yaml.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("write webhook configuration %s: %w", c.Name, err)
		}
		out = append(out, doc...)
	}
	return out, nil
}

func (v Values) defaulted() Values {
	suffix := ""
	if v.Revision != "" && v.Revision != Default {
		suffix = "-" + v.Revision
	}
	v.Revision = or(v.Revision, Default)
	v.Name = or(v.Name, "pillion-injector"+suffix)
	v.Namespace = or(v.Namespace, "pillion-system")
	v.Service = or(v.Service, "injector"+suffix)
	v.Port = or(v.Port, 443)
	v.InjectionPath = or(v.InjectionPath, "/inject")
	v.ReinvocationPolicy = or(v.ReinvocationPolicy, string(admissionregistrationv1.IfNeededReinvocationPolicy))
	v.FailurePolicy = or(v.FailurePolicy, string(admissionregistrationv1.Fail))
	v.SideEffects = or(v.SideEffects, string(admissionregistrationv1.SideEffectClassNoneOnDryRun))
	v.TimeoutSeconds = or(v.TimeoutSeconds, 5)
	if v.Labels == nil {
		v.Labels = map[string]string{
			"app.kubernetes.io/name":    "injector",
			"app.kubernetes.io/part-of": "pillion",
			annotation.Revision:         v.Revision,
		}
	}
	if v.Entries == nil {
		v.Entries = v.entries()
	}
	return v
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// webhook is one entry, of defaulted values.
func (v Values) webhook(e Entry) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name:         e.Name,
		ClientConfig: v.clientConfig(),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			// An injected update would be refused, and would keep a pod from being deleted.
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{
				APIGroups:   []string{corev1.GroupName},
				APIVersions: []string{"v1"},
				Resources:   []string{"pods"}, // without subresources
				Scope:       new(admissionregistrationv1.NamespacedScope),
			},
		}},
		FailurePolicy:           new(admissionregistrationv1.FailurePolicyType(v.FailurePolicy)),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       v.outside(e.NamespaceSelector),
		ObjectSelector:          e.ObjectSelector.DeepCopy(),
		SideEffects:             new(admissionregistrationv1.SideEffectClass(v.SideEffects)),
		TimeoutSeconds:          new(v.TimeoutSeconds),
		AdmissionReviewVersions: []string{"v1", "v1beta1"},
		ReinvocationPolicy:      new(admissionregistrationv1.ReinvocationPolicyType(v.ReinvocationPolicy)),
		MatchConditions:         v.matchConditions(),
	}
}

func (v Values) clientConfig() admissionregistrationv1.WebhookClientConfig {
	c := admissionregistrationv1.WebhookClientConfig{CABundle: v.CABundle}
	if v.InjectionURL != "" {
		c.URL = new(v.InjectionURL)
		return c
	}
	c.Service = &admissionregistrationv1.ServiceReference{
		Namespace: v.Namespace, Name: v.Service, Path: new(v.InjectionPath), Port: new(v.Port),
	}
	return c
}

// matchConditions leave out what would be skipped anyway, by facts that the author of a pod cannot
// copy to escape injection. An expression that fails refuses the pod, so every optional field is
// asked for first.
func (v Values) matchConditions() []admissionregistrationv1.MatchCondition {
	// Nodes create mirror pods and nothing else.
	conditions := []admissionregistrationv1.MatchCondition{{
		Name: "not-mirror-pod", Expression: `!('system:nodes' in request.userInfo.?groups.orValue([]))`,
	}}
	if v.DropHostNetwork {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{
			Name: "not-host-network", Expression: `!(has(object.spec.hostNetwork) && object.spec.hostNetwork)`,
		})
	}
	if v.DropWindows {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{
			Name: "not-windows", Expression: `!(has(object.spec.os) && object.spec.os.name == 'windows')`,
		})
	}
	return conditions
}
