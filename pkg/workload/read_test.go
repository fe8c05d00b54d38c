// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found is what a stream is read as.
type found struct {
	Docs    []string // line, apiVersion, kind, name, namespace
	Pods    []string // line, object, pointer
	Retired []string
}

func look(s *Stream) found {
	var f found
	for _, d := range s.Documents() {
		f.Docs = append(f.Docs, strings.Join([]string{itoa(d.Line), d.APIVersion, d.Kind, d.Name, d.Namespace}, " "))
		for _, r := range d.Retired() {
			f.Retired = append(f.Retired, itoa(r.Line)+" "+r.APIVersion+" "+r.Object()+" → "+r.Replacement)
		}
	}
	for _, p := range s.Pods() {
		f.Pods = append(f.Pods, itoa(p.Line())+" "+p.Object()+" "+p.Pointer())
	}
	return f
}

func TestReadFinds(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   found
	}{
		"Stream": {
			reason: "Comments, blanks and nulls are no documents; a --- inside a block of text does not split; a comment after --- does not hide it.",
			in:     stream,
			want: found{
				Docs: []string{
					"5 v1 ConfigMap notes shop", "15 apps/v1 Deployment web shop",
					"23 example.com/v1 Gauge  ", "27 v1 Namespace shop ",
				},
				Pods: []string{"20 deployment/web -n shop /spec/template"},
			},
		},
		"List": {
			reason: "Every item is looked at, in Lists inside Lists too, and other kinds are let be.",
			in:     list,
			want: found{
				Docs: []string{"1 v1 List  "},
				Pods: []string{
					"6 pod/a /items/0", "21 deployment/b /items/2/spec/template", "30 job/c /items/3/items/0/spec/template",
				},
			},
		},
		"PodList": {
			reason: "The items of a list of a kind need not say their kind; an item by alias is an item of its own.",
			in:     podList,
			want: found{
				Docs: []string{"1 v1 PodList  "},
				Pods: []string{"4 pod/a /items/0", "7 pod/b -n shop /items/1", "10 pod/b -n shop /items/2"},
			},
		},
		"CronJob": {
			reason: "The pod is named by the CronJob, and its template needs no metadata.",
			in:     cronJob,
			want:   found{Docs: []string{"1 batch/v1 CronJob tidy shop"}, Pods: []string{"9 cronjob/tidy -n shop /spec/jobTemplate/spec/template"}},
		},
		"JSONStream": {
			reason: "JSON objects follow each other with or without a --- between.",
			in:     jsonStream,
			want: found{
				Docs: []string{"1 v1 Pod  ", "2 v1 ConfigMap  ", "4 v1 Pod  ", "13 v1 Pod  "},
				Pods: []string{"1 pod/(unnamed) ", "4 pod/(unnamed) ", "13 pod/(unnamed) "},
			},
		},
		"EveryKind": {
			reason: "Every kind with a pod template is known at the version that is served.",
			in: docs("v1 PodTemplate template", "v1 ReplicationController spec.template", "apps/v1 ReplicaSet spec.template",
				"apps/v1 DaemonSet spec.template", "batch/v1 Job spec.template", "argoproj.io/v1alpha1 Rollout spec.template",
				"apps.openshift.io/v1 DeploymentConfig spec.template"),
			want: found{
				Docs: []string{
					"1 v1 PodTemplate x ", "5 v1 ReplicationController x ", "9 apps/v1 ReplicaSet x ", "13 apps/v1 DaemonSet x ",
					"17 batch/v1 Job x ", "21 argoproj.io/v1alpha1 Rollout x ", "25 apps.openshift.io/v1 DeploymentConfig x ",
				},
				Pods: []string{
					"3 podtemplate/x /template", "7 replicationcontroller/x /spec/template", "11 replicaset/x /spec/template",
					"15 daemonset/x /spec/template", "19 job/x /spec/template", "23 rollout/x /spec/template",
					"27 deploymentconfig/x /spec/template",
				},
			},
		},
		"Retired": {
			reason: "A version that is no longer served is told, with the one that took its place, and its pod is not found.",
			in: docs("batch/v1beta1 CronJob spec", "batch/v2alpha1 CronJob spec", "extensions/v1beta1 Deployment spec",
				"apps/v1beta1 StatefulSet spec", "apps/v1beta2 DaemonSet spec", "v1 DeploymentConfig spec", "extensions/v1beta1 Ingress spec"),
			want: found{
				Docs: []string{
					"1 batch/v1beta1 CronJob x ", "5 batch/v2alpha1 CronJob x ", "9 extensions/v1beta1 Deployment x ",
					"13 apps/v1beta1 StatefulSet x ", "17 apps/v1beta2 DaemonSet x ", "21 v1 DeploymentConfig x ", "25 extensions/v1beta1 Ingress x ",
				},
				Retired: []string{
					"1 batch/v1beta1 cronjob/x → batch/v1", "5 batch/v2alpha1 cronjob/x → batch/v1", "9 extensions/v1beta1 deployment/x → apps/v1",
					"13 apps/v1beta1 statefulset/x → apps/v1", "17 apps/v1beta2 daemonset/x → apps/v1", "21 v1 deploymentconfig/x → apps.openshift.io/v1",
				},
			},
		},
		"OtherGroups": {
			reason: "A known kind of an unknown version is some other kind; a list of such may hold anything.",
			in:     "apiVersion: example.com/v1\nkind: Deployment\nspec: {template: 3}\n---\napiVersion: example.com/v1\nkind: AllowList\nitems: [a, {b: c}]\n---\napiVersion: example.com/v1\nkind: DenyList\nitems: {}\n",
			want:   found{Docs: []string{"1 example.com/v1 Deployment  ", "5 example.com/v1 AllowList  ", "9 example.com/v1 DenyList  "}},
		},
		"MergedKind": {
			reason: "A merge key may bring the kind.",
			in:     mergedKind,
			want:   found{Docs: []string{"1 v1 Pod merged shop"}, Pods: []string{"1 pod/merged -n shop "}},
		},
		"SharedItems": {
			reason: "Every item of a List is an object of its own, however it came there.",
			in:     sharedItems,
			want: found{
				Docs: []string{"1 v1 List  "},
				Pods: []string{"9 pod/p /items/2", "10 pod/p /items/3", "11 pod/q /items/4", "12 pod/r /items/5"},
			},
		},
		"NoTemplate": {
			reason: "A workload without a template, such as a patch of a kustomization, has no pod.",
			in:     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec:\n  template:\n",
			want:   found{Docs: []string{"1 apps/v1 Deployment a ", "6 argoproj.io/v1alpha1 Rollout  "}},
		},
		"GenerateName": {
			reason: "A pod that the API server will name is named by what is known, never by nothing.",
			in:     "apiVersion: v1\nkind: Pod\nmetadata: {generateName: orders-7d9f-, namespace: shop}\nspec: {}\n",
			want:   found{Docs: []string{"1 v1 Pod  shop"}, Pods: []string{"1 pod/orders-7d9f-* -n shop "}},
		},
		"Marks": {
			reason: "A byte order mark, directives, an end marker and a document on the line of its marker are all read.",
			in:     bom + "%YAML 1.1\n---\napiVersion: v1\nkind: Pod\nspec: {}\n...\n# between\n" + bom + "--- {apiVersion: v1, kind: Pod, spec: {}}\n...\napiVersion: v1\nkind: Pod\n",
			want: found{
				Docs: []string{"3 v1 Pod  ", "8 v1 Pod  ", "10 v1 Pod  "},
				Pods: []string{"3 pod/(unnamed) ", "8 pod/(unnamed) ", "10 pod/(unnamed) "},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Read([]byte(tc.in))
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, look(s)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamespaces(t *testing.T) {
	s, err := Read([]byte(`apiVersion: v1
kind: Namespace
metadata: {name: en, labels: {a: b}}
---
apiVersion: v1
kind: NamespaceList
items:
- metadata: {name: en, annotations: {c: "true"}}
- metadata: {name: none}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Namespace{"en": {Annotations: map[string]string{"c": "true"}}, "none": {}}
	if diff := cmp.Diff(want, s.Namespaces()); diff != "" {
		t.Errorf("the last of a name holds:\n%s", diff)
	}
}

func TestPodJSON(t *testing.T) {
	cases := map[string]struct {
		reason, in, want string
	}{
		"Scalars": {
			reason: "Plain scalars are what kubectl reads in them; quoted ones are text; integers keep their digits.",
			in:     "apiVersion: v1\nkind: Pod\nspec: {a: yes, b: \"yes\", c: 0123, d: 0o17, e: 1e3, f: 1.50, g: 9007199254740993, h: 18446744073709551615, i: 99999999999999999999, j: ~, k: 2024-01-01, l: 12:30, m: .5, \"n\": 1_000, o: !!str 1, p: 0x1F, q: =, r: '', s: 1e999}\n",
			want:   `{"apiVersion":"v1","kind":"Pod","spec":{"a":true,"b":"yes","c":83,"d":15,"e":1000,"f":1.5,"g":9007199254740993,"h":18446744073709551615,"i":99999999999999999999,"j":null,"k":"2024-01-01","l":"12:30","m":0.5,"n":1000,"o":"1","p":31,"q":"=","r":"","s":"1e999"}}`,
		},
		"Keys": {
			reason: "A key that is a truth value in YAML 1.1 alone is the word that its author wrote.",
			in:     "apiVersion: v1\nkind: Pod\nspec: {n: 1, on: 2, \"true\": 3}\n",
			want:   `{"apiVersion":"v1","kind":"Pod","spec":{"n":1,"on":2,"true":3}}`,
		},
		"JSONNumbers": {
			reason: "JSON's numbers keep their literal.",
			in:     `{"apiVersion":"v1","kind":"Pod","spec":{"a":1e3,"b":1.50,"c":9007199254740993,"d":"\u003c\/"}}`,
			want:   `{"apiVersion":"v1","kind":"Pod","spec":{"a":1e3,"b":1.50,"c":9007199254740993,"d":"</"}}`,
		},
		"Template": {
			reason: "A template is given a type, and nothing else: no name, no namespace, no metadata.",
			in:     cronJob,
			want:   `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"image":"registry.example/tidy:1","name":"app"}],"restartPolicy":"OnFailure"}}`,
		},
		"Aliases": {
			reason: "Aliases and merge keys are resolved: the mapping's own key wins, then the earlier source.",
			in:     mergeKeys,
			want:   `{"apiVersion":"v1","base":{"image":"registry.example/web:1","resources":{"limits":{"cpu":1}}},"kind":"Pod","metadata":{"name":"m"},"more":{"image":"other","tty":true},"spec":{"containers":[{"image":"registry.example/web:1","name":"app","resources":{"limits":{"cpu":1}}},{"image":"registry.example/web:1","name":"b","resources":{"limits":{"cpu":1}},"tty":true},{"image":"x","name":"c"}]}}`,
		},
		"Text": {
			reason: "Folded, literal and quoted text is what YAML says.",
			in:     "apiVersion: v1\nkind: Pod\nspec:\n  a: >-\n    b\n    c\n\n    d\n  e: |+\n    f \n\n  g: \"h\\n\\ttab \\u2603 \"\n",
			want:   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"a\":\"b c\\nd\",\"e\":\"f \\n\\n\",\"g\":\"h\\n\\ttab ☃ \"}}",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Read([]byte(tc.in))
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, string(s.Pods()[0].JSON())); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwner(t *testing.T) {
	s, err := Read([]byte(cronJob + "---\n" + plainPod))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Pods() {
		kind, name, namespace := p.Owner()
		got = append(got, kind+" "+name+" "+namespace)
	}
	if diff := cmp.Diff([]string{"CronJob tidy shop", "Pod web shop"}, got); diff != "" {
		t.Error(diff)
	}
	if n := len(s.Documents()[0].Pods()); n != 1 {
		t.Errorf("the CronJob has %d pods", n)
	}
	if s.Pods()[0].Bare() || !s.Pods()[1].Bare() || s.Pods()[1].Document() != s.Documents()[1] {
		t.Error("a bare pod is not told from a template")
	}
}

func TestReadTooLarge(t *testing.T) {
	_, err := Read(make([]byte, MaxBytes+1))
	var e *Error
	if err == nil || errors.As(err, &e) {
		t.Errorf("want an error of the whole stream, got %v", err)
	}
}
