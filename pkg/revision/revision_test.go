// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite testdata")

func wanted(t testing.TB, v Values) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	all, err := Wanted(v)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d configurations, %v", len(all), err)
	}
	return all[0]
}

func TestManifest(t *testing.T) {
	tests := map[string]Values{
		"default": {},
		"canary":  {Revision: "canary", Namespace: "sidecars", FailurePolicy: "Ignore", ReinvocationPolicy: "Never", TimeoutSeconds: 10, DropHostNetwork: true, DropWindows: true},
		"other":   {Name: "other-injector", Entries: otherEntries("default"), Labels: map[string]string{"rev.example": "default"}, ReinvocationPolicy: "Never", SideEffects: "None", TimeoutSeconds: 10},
		"url":     {Name: "remote", InjectionURL: "https://injector.example:8443/inject/cluster/a", CABundle: readFile(t, "testdata/ca.pem")},
	}
	for name, v := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Manifest(v)
			if err != nil {
				t.Fatal(err)
			}
			golden := "testdata/" + name + ".yaml"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, golden)), string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var back admissionregistrationv1.MutatingWebhookConfiguration
			if err := yaml.UnmarshalStrict(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wanted(t, v), &back); diff != "" {
				t.Errorf("the YAML is another object: %s", diff)
			}
		})
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Whatever the API server would default is set; what it stores then does not differ from the manifest.
func TestNothingIsLeftToDefaults(t *testing.T) {
	for _, w := range wanted(t, Values{}).Webhooks {
		v := reflect.ValueOf(w)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s: %s is not set", w.Name, v.Type().Field(i).Name)
			}
		}
		if s := w.ClientConfig.Service; s.Path == nil || s.Port == nil || w.Rules[0].Scope == nil {
			t.Errorf("%s: %+v", w.Name, w)
		}
	}
}

func TestEntriesAreNamedAsTheAPIServerWants(t *testing.T) {
	for _, v := range []Values{{}, {Revision: "x"}} {
		names := map[string]bool{}
		for _, w := range wanted(t, v).Webhooks {
			if names[w.Name] || strings.Count(w.Name, ".") < 2 {
				t.Errorf("entry %q", w.Name)
			}
			names[w.Name] = true
		}
	}
}

func TestImpossibleValues(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"
	ca := string(readFile(t, "testdata/ca.pem"))
	tests := map[string]struct {
		reason string
		values Values
		want   string
	}{
		"revision dot":     {"it stands in a Service's name", Values{Revision: "1.10"}, `revision: Invalid value: "1.10": must not contain dots`},
		"revision upper":   {"labels of Services are lower case", Values{Revision: "Canary"}, `revision: Invalid value: "Canary"`},
		"revision long":    {"a label holds 63 characters", Values{Revision: strings.Repeat("a", 64)}, `must be no more than 63`},
		"name":             {"of an object", Values{Name: "a_b"}, `name: Invalid value: "a_b"`},
		"namespace":        {"of an object", Values{Namespace: "a.b"}, `namespace: Invalid value: "a.b"`},
		"service":          {"a Service begins with a letter", Values{Service: "1x"}, `service: Invalid value: "1x"`},
		"port":             {"of TCP", Values{Port: 65536}, `port: Invalid value: 65536: must be between 1 and 65535`},
		"port negative":    {"of TCP", Values{Port: -1}, `port: Invalid value: -1`},
		"path":             {"no leading slash", Values{InjectionPath: "inject"}, `injectionPath: Invalid value: "inject": must begin with a slash`},
		"path empty part":  {"the API server refuses it", Values{InjectionPath: "/inject//x"}, `injectionPath: Invalid value: "/inject//x": segment `},
		"path root":        {"nothing is served there", Values{InjectionPath: "/"}, `injectionPath: Invalid value: "/": segment `},
		"path upper":       {"the API server refuses it", Values{InjectionPath: "/Inject"}, `injectionPath: Invalid value: "/Inject": segment Inject: a lowercase RFC 1123 subdomain`},
		"url and service":  {"one address only", Values{InjectionURL: "https://a/b", Service: "s"}, `service: Forbidden: injectionURL names the whole address; set one or the other`},
		"url and port":     {"one address only", Values{InjectionURL: "https://a/b", Port: 1}, `port: Forbidden: `},
		"url and path":     {"a path that would be dropped in silence", Values{InjectionURL: "https://a/b", InjectionPath: "/i"}, `injectionPath: Forbidden: `},
		"url plain":        {"no TLS", Values{InjectionURL: "http://a/b"}, `injectionURL: Invalid value: "http://a/b": want https://`},
		"url host":         {"no host", Values{InjectionURL: "https:///b"}, `injectionURL: Invalid value: "https:///b": want https://`},
		"url user":         {"the password is not repeated", Values{InjectionURL: "https://u:hunter2@a/b"}, `injectionURL: Invalid value: "https://u:xxxxx@a/b": must hold no user`},
		"url query":        {"the API server refuses it", Values{InjectionURL: "https://a/b?c=d"}, `must hold no query`},
		"url fragment":     {"the API server refuses it", Values{InjectionURL: "https://a/b#c"}, `must hold no query`},
		"url junk":         {"no URL", Values{InjectionURL: "https://a:b:c"}, `injectionURL: Invalid value: "https://a:b:c": is no URL`},
		"reinvocation":     {"a closed set", Values{ReinvocationPolicy: "Always"}, `reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`},
		"failure":          {"a closed set", Values{FailurePolicy: "fail"}, `failurePolicy: Unsupported value: "fail": supported values: "Fail", "Ignore"`},
		"side effects":     {"those of another kind would be refused on a dry run", Values{SideEffects: "Some"}, `sideEffects: Unsupported value: "Some": supported values: "NoneOnDryRun", "None"`},
		"labels":           {"of an object", Values{Labels: map[string]string{"a b": "c"}}, `labels: Invalid value: "a b"`},
		"entry name":       {"the API server wants three parts", Values{Entries: []Entry{{Name: "a.b"}}}, `entries[0].name: Invalid value: "a.b": should be a domain with at least three segments`},
		"entry twice":      {"the API server refuses it", Values{Entries: []Entry{{Name: "a.b.c"}, {Name: "a.b.c"}}}, `entries[1].name: Duplicate value: "a.b.c"`},
		"entry selector":   {"it would select nothing", Values{Entries: []Entry{{Name: "a.b.c", ObjectSelector: all(is("a", "In"))}}}, `entries[0].objectSelector.matchExpressions[0].values: Required value`},
		"entry namespace":  {"it would select nothing", Values{Entries: []Entry{{Name: "a.b.c", NamespaceSelector: all(is("a", "Is"))}}}, `entries[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Is"`},
		"timeout":          {"the API server's bound", Values{TimeoutSeconds: 31}, `timeoutSeconds: Invalid value: 31: must be between 1 and 30`},
		"bundle junk":      {"the API server takes it in silence", Values{CABundle: []byte("junk")}, `caBundle: Invalid value: holds no PEM block`},
		"bundle key":       {"a key would be public", Values{CABundle: []byte(ca + key)}, `caBundle: Invalid value: holds a block of type PRIVATE KEY; only CERTIFICATE may be in it`},
		"bundle broken":    {"a certificate of nothing", Values{CABundle: []byte("-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n")}, `caBundle: Invalid value: holds a certificate that cannot be read`},
		"bundle trailing":  {"half of a block", Values{CABundle: []byte(ca + "-----BEGIN CERT")}, `caBundle: Invalid value: holds something after its last PEM block`},
		"several at once":  {"every fault is told", Values{Port: -1, TimeoutSeconds: -1}, `[port: Invalid value: -1: must be between 1 and 65535, timeoutSeconds: Invalid value: -1: must be between 1 and 30]`},
		"manifest as well": {"the same errors", Values{Name: "-"}, `name: Invalid value: "-"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			all, err := Wanted(tt.values)
			if err == nil || all != nil {
				t.Fatalf("%s: accepted", tt.reason)
			}
			if !strings.HasPrefix(err.Error(), "webhook configuration: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %q, want %q", tt.reason, err, tt.want)
			}
			for _, secret := range []string{"hunter2", "c2VjcmV0"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error repeats a secret: %v", err)
				}
			}
			if _, again := Manifest(tt.values); again == nil || again.Error() != err.Error() {
				t.Errorf("Manifest: %v", again)
			}
		})
	}
}
