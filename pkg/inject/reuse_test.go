// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/patch"
	"github.com/pillion-dev/pillion/pkg/pod"
)

// reusing is an engine that keeps outcomes, and one that does not.
func reusing(t testing.TB, text string, bytes int64) (with, without *Engine) {
	t.Helper()
	c, err := config.Parse(map[string][]byte{"config.yaml": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		into  **Engine
		reuse int64
	}{{&with, bytes}, {&without, 0}} {
		if *e.into, err = New(c, Options{OwnNamespace: "pillion-system", Reuse: e.reuse}); err != nil {
			t.Fatal(err)
		}
	}
	return with, without
}

const replica = `{"metadata":{"generateName":"web-","uid":"11111111-0000-4000-8000-000000000001","creationTimestamp":"2026-01-02T03:04:05Z",
"labels":{"app":"web","statefulset.kubernetes.io/pod-name":"web-first"},"annotations":{"example.com/note":"a"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"22222222-0000-4000-8000-000000000001","controller":true}]},
"spec":{"hostname":"web-first","containers":[{"name":"app","image":"registry.example/app:1","volumeMounts":[{"name":"kube-api-access-x7k2p","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
"volumes":[{"name":"kube-api-access-x7k2p","emptyDir":{}},{"name":"data","persistentVolumeClaim":{"claimName":"data-web-first"}}]}}`

func TestReplicasReuse(t *testing.T) {
	all := []string{"x7k2p", "b9z8q", "web-first", "web-second", "11111111", "33333333", "03:04:05Z", "03:04:06Z", "data-web-first", "data-web-second"}
	tests := map[string]struct {
		reason  string
		replace []string // in the second pod
		config  []string // replaced in the configuration
		first   []string // replaced in both pods
		reused  bool
	}{
		"same":       {reason: "the very same pod", reused: true},
		"replica":    {reason: "only what differs between replicas", replace: all, reused: true},
		"image":      {reason: "another image", replace: []string{"app:1", "app:2"}},
		"label":      {reason: "another label", replace: []string{`"app":"web"`, `"app":"wub"`}},
		"annotation": {reason: "an annotation that a template may read", replace: []string{`"a"},`, `"b"},`}},
		"mount":      {reason: "another mount", replace: []string{"serviceaccount", "serviceaccounts"}},
		"owner":      {reason: "another workload", replace: []string{`"StatefulSet","name":"web"`, `"StatefulSet","name":"wub"`}},
		"six":        {reason: "no name that the API server gives", replace: []string{"x7k2p", "x7k2pp"}},
		"hostname": {
			reason: "a template reads the hostname", replace: []string{`"hostname":"web-first"`, `"hostname":"web-second"`},
			config: []string{"terminationGracePeriodSeconds: 60", "hostname: {{ .Spec.Hostname | quote }}"},
		},
		"sets hostname": {
			reason: "a template sets the hostname", replace: []string{`"hostname":"web-first"`, `"hostname":"web-second"`},
			config: []string{"terminationGracePeriodSeconds: 60", "hostname: web-second"},
		},
		"volumes": {
			reason: "a template reads the names of volumes", replace: []string{"x7k2p", "b9z8q"},
			config: []string{"{name: SEEN, value: \"1\"}", "{name: SEEN, value: {{ range $.Spec.Volumes }}{{ .Name | quote }}{{ end }}}"},
		},
		"claims": {
			reason: "a template brings a claim", replace: []string{"data-web-first", "data-web-second"},
			config: []string{"emptyDir: {}", "persistentVolumeClaim: {claimName: data-web-second}"},
		},
		"record": {
			reason: "a status record names an item by a hidden value", replace: []string{"22222222-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"},
			first: []string{`"annotations":{`, `"annotations":{"pillion.dev/status":"{\"hash\":\"0\",\"undo\":{\"added\":[\"/metadata/ownerReferences/22222222-0000-4000-8000-000000000002\"]}}",`},
		},
		"empty label": {
			reason: "a template asks whether a hidden value is empty", replace: []string{`"statefulset.kubernetes.io/pod-name":"web-first"`, `"statefulset.kubernetes.io/pod-name":""`},
			config: []string{"{name: SEEN, value: \"1\"}", "{name: SEEN, value: \"{{ range $k, $v := $.ObjectMeta.Labels }}{{ if $v }}{{ len $k }}{{ end }}{{ end }}\"}"},
			first:  []string{`"name":"app","image":"registry.example/app:1"`, `"name":"app","image":"x"},{"name":"proxy","image":"auto"`},
		},
		"told": {
			reason: "the patch carries a name along: the author's own sidecar is moved", replace: []string{"x7k2p", "b9z8q"},
			first: []string{`"name":"app","image":"registry.example/app:1"`, `"name":"app","image":"x"},{"name":"proxy","image":"auto"`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(tt.config...).Replace(lawConfig)
			if len(tt.config) > 0 && text == lawConfig {
				t.Fatal("the configuration stayed as it was")
			}
			with, without := reusing(t, text, 1<<20)
			first := strings.NewReplacer(tt.first...).Replace(replica)
			second := strings.NewReplacer(tt.replace...).Replace(first)
			facts := Facts{Namespace: "shop", Selected: true}
			sameResult(t, with, without, first, facts)
			if got := sameResult(t, with, without, second, facts); got.Reused != tt.reused {
				t.Errorf("%s: reused is %t, want %t", tt.reason, got.Reused, tt.reused)
			}
		})
	}
}

// sameResult injects with both engines: what is reused must be what would be made.
func sameResult(t *testing.T, with, without *Engine, text string, f Facts) Result {
	t.Helper()
	in := parsed(t, text)
	want, wantErr := without.Inject(in, f)
	got, err := with.Inject(in, f)
	if fmt.Sprint(wantErr) != fmt.Sprint(err) {
		t.Fatalf("error %v, without reuse %v", err, wantErr)
	}
	if diff := cmp.Diff(string(want.JSON()), string(got.JSON())); diff != "" {
		t.Errorf("another patch (-without +with reuse)\n%s", diff)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Result{}, "Tree", "Patch", "Wire", "Reused")); diff != "" {
		t.Errorf("another result (-without +with reuse)\n%s", diff)
	}
	if err == nil && got.Decision.Inject {
		if err := got.Prove(in); err != nil {
			t.Error(err)
		}
	}
	return got
}

func TestFactsAreNotMixed(t *testing.T) {
	with, without := reusing(t, lawConfig, 1<<20)
	base := Facts{Namespace: "shop", Selected: true}
	sameResult(t, with, without, replica, base)
	for name, change := range map[string]func(*Facts){
		"namespace": func(f *Facts) { f.Namespace = "other" },
		"labels": func(f *Facts) {
			f.NamespaceLabels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
		},
		"annotation": func(f *Facts) { f.NamespaceAnnotations = map[string]string{"proxy.pillion.dev/level": "debug"} },
		"owner":      func(f *Facts) { f.Owner = &Owner{"apps/v1", "Deployment", "other"} },
		"nodes":      func(f *Facts) { f.OldNodes = []Node{{Name: "old"}} },
		"path":       func(f *Facts) { f.Path = "/cluster/other" },
		"trusted":    func(f *Facts) { f.Trusted = true },
	} {
		f := base
		change(&f)
		if got := sameResult(t, with, without, replica, f); got.Reused {
			t.Errorf("%s: the outcome of other facts was reused", name)
		}
		if got := sameResult(t, with, without, replica, f); !got.Reused {
			t.Errorf("%s: nothing was reused of equal facts", name)
		}
	}
	f := base
	f.Trace = true
	if got, err := with.Inject(parsed(t, replica), f); err != nil || got.Reused || len(got.Stages) == 0 {
		t.Errorf("a trace was cut short: %v", err)
	}
}

func TestOutcomesAreBounded(t *testing.T) {
	const most = 64 << 10
	with, without := reusing(t, lawConfig, most)
	one, _ := reusing(t, lawConfig, 1)
	shape := func(n int) string { return strings.Replace(replica, `"a"},`, fmt.Sprintf(`"%d"},`, n), 1) }
	f := Facts{Namespace: "shop", Selected: true}
	for n := range 200 {
		sameResult(t, with, without, shape(n), f)
		sameResult(t, one, without, shape(n), f)
		if with.outcomes.size > most || one.outcomes.outcome.Len() != 1 {
			t.Fatalf("%d bytes are kept, at most %d may be; %d outcomes are kept of one", with.outcomes.size, most, one.outcomes.outcome.Len())
		}
	}
	if n := with.outcomes.outcome.Len(); n < 4 {
		t.Errorf("only %d outcomes fit", n)
	}
	for _, e := range []*Engine{with, one} {
		if !sameResult(t, e, without, shape(199), f).Reused || sameResult(t, e, without, shape(0), f).Reused {
			t.Error("the newest outcome is kept, not the oldest")
		}
	}
	for with.outcomes.outcome.Len() > 0 {
		with.outcomes.outcome.RemoveOldest()
	}
	if with.outcomes.size != 0 {
		t.Errorf("%d bytes are counted of nothing", with.outcomes.size)
	}
}

func TestSecondCallIsReused(t *testing.T) {
	with, without := reusing(t, lawConfig, 1<<20)
	f := Facts{Namespace: "shop", Selected: true}
	first := sameResult(t, with, without, replica, f)
	tree, err := pod.Decode([]byte(replica))
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(tree, first.Patch)
	if err != nil {
		t.Fatal(err)
	}
	again := string(pod.Encode(after))
	for n, reused := range []bool{false, true} {
		if got := sameResult(t, with, without, again, f); got.Decision.Inject || got.Reused != reused {
			t.Errorf("call %d: injected %t, reused %t", n, got.Decision.Inject, got.Reused)
		}
	}
}
