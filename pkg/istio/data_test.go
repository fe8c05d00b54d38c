// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/istio/mesh"
	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/reason"
	"github.com/pillion-dev/pillion/pkg/render"
)

const author = `{"metadata":{"generateName":"shop-","labels":{"app":"shop"},"managedFields":[{"manager":"m"}]},
"spec":{"serviceAccountName":"shop","containers":[{"name":"shop","image":"registry.example/shop:1","ports":[{"containerPort":8080,"protocol":"TCP"}]}]}}`

// dataRun is a run on the author's pod in the namespace market, under a mesh configuration.
func dataRun(t *testing.T, meshText, authorText string) *run {
	t.Helper()
	m, err := mesh.Parse([]byte(meshText), config.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := pod.Parse([]byte(authorText))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"global": map[string]any{"hub": "registry.example/mesh", "tag": "1.20.0"}}
	w := &inject.Work{In: doc, Raw: tree, After: tree}
	w.Namespace, w.Owner = "market", inject.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"}
	return &run{
		Work: w, head: doc.Head(), author: tree, native: true, proxy: m.Proxy(nil, "market", nil, nil),
		d: &dialect{config: Config{Mesh: m, Values: values, CompliancePolicy: "strict"}, revision: "blue", settings: readSettings(values)},
	}
}

func TestData(t *testing.T) {
	r := dataRun(t, "", author)
	before := pod.Clone(r.author)
	got, err := r.data()
	if err != nil {
		t.Fatal(err)
	}
	want := &data{
		TypeMeta:       metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		DeploymentMeta: metav1.ObjectMeta{Name: "shop", Namespace: "market"},
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "shop-", Namespace: "market", Labels: map[string]string{"app": "shop"}},
		Spec: corev1.PodSpec{ServiceAccountName: "shop", Containers: []corev1.Container{{
			Name: "shop", Image: "registry.example/shop:1", Ports: []corev1.ContainerPort{{ContainerPort: 8080, Protocol: "TCP"}},
		}}},
		ProxyConfig: r.proxy, MeshConfig: r.d.config.Mesh.Mesh(), Values: r.d.config.Values, Revision: "blue", NativeSidecars: true,
		ProxyImage: "registry.example/mesh/proxyv2:1.20.0", ProxyInitImage: "registry.example/mesh/proxyv2:1.20.0",
		ProxyUID: 1337, ProxyGID: 1337, InboundTrafficPolicyMode: "passthrough", CompliancePolicy: "strict",
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if !pod.Equal(before, r.author) {
		t.Error("the author's pod was changed")
	}
}

func TestDataOfAMeshThatListensLocally(t *testing.T) {
	got, err := dataRun(t, "inboundTrafficPolicy: {mode: LOCALHOST}", author).data()
	if err != nil {
		t.Fatal(err)
	}
	if got.InboundTrafficPolicyMode != "localhost" {
		t.Errorf("got %q", got.InboundTrafficPolicyMode)
	}
}

func TestDataOfAPodThatCannotBeRead(t *testing.T) {
	_, err := dataRun(t, "", `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"much"}}}]}}`).data()
	var refusal *reason.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != reason.PodUnreadable {
		t.Errorf("got %v", err)
	}
}

// Templates find every field under its name, and the functions take what is there.
func TestDataInTemplates(t *testing.T) {
	r := dataRun(t, "defaultConfig: {interceptionMode: TPROXY, drainDuration: 90s, proxyMetadata: {B: '2', A: '1'}}", author)
	for text, want := range map[string]string{
		`{{ .TypeMeta.Kind | toLower }} {{ .TypeMeta.APIVersion }} {{ .DeploymentMeta.Name }}.{{ .DeploymentMeta.Namespace }}`:   "deployment apps/v1 shop.market",
		`{{ .ObjectMeta.Namespace }} {{ .ObjectMeta.Labels.app }} {{ .Spec.ServiceAccountName }}`:                                "market shop shop",
		`{{ .Revision }} {{ .NativeSidecars }} {{ .ProxyUID }} {{ .ProxyGID }} {{ .CompliancePolicy }}`:                          "blue true 1337 1337 strict",
		`{{ .ProxyImage }} {{ .ProxyInitImage }} {{ .InboundTrafficPolicyMode }}`:                                                "registry.example/mesh/proxyv2:1.20.0 registry.example/mesh/proxyv2:1.20.0 passthrough",
		`{{ .Values.global.hub }} {{ .MeshConfig.TrustDomain }} {{ .MeshConfig.ProxyListenPort }}`:                               "registry.example/mesh cluster.local 15001",
		`{{ annotation .ObjectMeta "x" .ProxyConfig.InterceptionMode }} {{ .ProxyConfig.InterceptionMode.String }}`:              "TPROXY TPROXY",
		`{{ $m := .ObjectMeta }}{{ annotation $m "x" .Values.none }} {{ with .ObjectMeta }}{{ annotation . "x" 1.5 }}{{ end }}`:  "<nil> 1.5",
		`{{ isset .ObjectMeta.Annotations "x" }} {{ isset .ObjectMeta.Labels "app" }} {{ valueOrDefault .Values.none "d" }}`:     "false true d",
		`{{ formatDuration .ProxyConfig.DrainDuration }} {{ env "HOME" "none" }} {{ directory "/a/b" }} {{ contains "a" "ba" }}`: "1m30s none /a/ true",
		`{{ applicationPorts .Spec.Containers }} {{ includeInboundPorts .Spec.Containers }} {{ excludeInboundPort 1 "2" }}`:      "8080 8080 2,1",
		`{{ range .Spec.Containers }}{{ range .Ports }}{{ structToJSON . }}{{ end }}{{ end }}`:                                   `{"containerPort":8080,"protocol":"TCP"}`,
		`{{ protoToJSON .ProxyConfig }}`:                                                                                                   `{"drainDuration":"90s","interceptionMode":"TPROXY","proxyMetadata":{"A":"1","B":"2"}}`,
		`{{ toYaml .Values.global | indent 2 }}|{{ toYaml (omitNil .Values.none) }}`:                                                       "hub: registry.example/mesh\n  tag: 1.20.0\n  |null\n",
		`{{ omit (strdict "a" "1" "b" "2") "a" | toJsonMap }} {{ mergeMaps (strdict "a" "1") (strdict "a" "2") | toJSON }}`:                `{"b":"2"} {"a":"2"}`,
		`{{ range $k, $v := fromJSON "{\"b\":{\"x\":1},\"a\":2}" }}{{ $k }}={{ toYaml $v }}{{ end }}`:                                      "a=2\nb=x: 1\n",
		`{{ kubevirtInterfaces "a" }}{{ excludeInterfaces "b" }} {{ appendMultusNetwork (index .ObjectMeta.Annotations "n") "c" }}`:        "ab c",
		`[{{ otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .DeploymentMeta.Namespace .Spec.Containers }}]`: "[]",
	} {
		code, faults := render.Compile(render.Source{
			Name: "t", Text: text, Funcs: functions(nil), Foreign: &render.Foreign{Method: mesh.ReadOnlyMethod},
		})
		if len(faults) > 0 {
			t.Errorf("%s: %v", text, faults)
			continue
		}
		d, err := r.data()
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := code.Text(d); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
}

func TestOpenShiftIDs(t *testing.T) {
	type notes = map[string]string
	for name, c := range map[string]struct {
		annotations notes
		uid, gid    int64
		bad         string
	}{
		"nothing allotted":                 {nil, 1337, 1337, ""},
		"start and size":                   {notes{uidRangeKey: "1000/50", groupsKey: "2000/50"}, 1049, 2049, ""},
		"start and end":                    {notes{uidRangeKey: "1000-1999", groupsKey: "2000-2000"}, 1999, 2000, ""},
		"the first of several blocks":      {notes{uidRangeKey: "1000/1", groupsKey: "2000/10,5000/10"}, 1000, 2009, ""},
		"users alone stand for the groups": {notes{uidRangeKey: "1000/50"}, 1049, 1049, ""},
		"groups alone":                     {notes{groupsKey: "2000/50"}, 1337, 2049, ""},
		"spaces around":                    {notes{uidRangeKey: " 1000/50 "}, 1049, 1049, ""},
		"users that cannot be read":        {notes{uidRangeKey: "some", groupsKey: "2000/50"}, 1337, 2049, uidRangeKey},
		"groups that cannot be read":       {notes{uidRangeKey: "1000/50", groupsKey: ""}, 1049, 1337, groupsKey},
		"neither can be read":              {notes{uidRangeKey: "1/x", groupsKey: "1"}, 1337, 1337, uidRangeKey},
		"a block without an id":            {notes{uidRangeKey: "1000/0"}, 1337, 1337, uidRangeKey},
		"an empty block at 0":              {notes{uidRangeKey: "0/0"}, 1337, 1337, uidRangeKey},
		"an end before the start":          {notes{uidRangeKey: "1000-999"}, 1337, 1337, uidRangeKey},
		"an id that no pod may have":       {notes{uidRangeKey: "2147483647/2"}, 1337, 1337, uidRangeKey},
		"the last id that a pod may have":  {notes{uidRangeKey: "2147483647/1"}, 2147483647, 2147483647, ""},
		"a number that is none":            {notes{uidRangeKey: "-1/5"}, 1337, 1337, uidRangeKey},
	} {
		uid, gid, bad := openShiftIDs(c.annotations)
		if uid != c.uid || gid != c.gid || bad != c.bad {
			t.Errorf("%s: got %d, %d, %q", name, uid, gid, bad)
		}
	}
}

func FuzzOpenShiftIDs(f *testing.F) {
	f.Add("1000/50", "1-2,3-4", uint32(1000), uint32(50))
	f.Add("", "/", uint32(1<<31), uint32(1))
	f.Fuzz(func(t *testing.T, users, groups string, start, size uint32) {
		uid, gid, _ := openShiftIDs(map[string]string{uidRangeKey: users, groupsKey: groups})
		if uid < 0 || uid > maxID || gid < 0 || gid > maxID {
			t.Errorf("no pod may run as %d, %d", uid, gid)
		}
		end := uint64(start) + uint64(size) - 1
		bySize, ok1 := lastOf(strconv.FormatUint(uint64(start), 10) + "/" + strconv.FormatUint(uint64(size), 10))
		byEnd, ok2 := lastOf(strconv.FormatUint(uint64(start), 10) + "-" + strconv.FormatUint(end, 10))
		if size > 0 && (ok1 != ok2 || bySize != byEnd) {
			t.Errorf("%d/%d gives %d, %d-%d gives %d", start, size, bySize, start, end, byEnd)
		}
	})
}

func TestProxyIDs(t *testing.T) {
	notes := map[string]string{uidRangeKey: "1000/50", groupsKey: "none"}
	for platform, want := range map[string]struct {
		uid, gid int64
		warnings []reason.Warning
	}{
		"":        {uid: 1337, gid: 1337},
		"another": {uid: 1337, gid: 1337},
		openShift: {uid: 1049, gid: 1337, warnings: []reason.Warning{{
			Reason: reason.ParameterInvalid, Path: "namespace metadata.annotations[" + groupsKey + "]", Detail: `"none" is no range of ids; 1337 is used`,
		}}},
	} {
		r := &run{Work: &inject.Work{Facts: inject.Facts{NamespaceAnnotations: notes}}, d: &dialect{config: Config{Platform: platform}}}
		uid, gid := r.proxyIDs()
		if uid != want.uid || gid != want.gid {
			t.Errorf("platform %q: got %d, %d", platform, uid, gid)
		}
		if diff := cmp.Diff(want.warnings, r.Warnings); diff != "" {
			t.Errorf("platform %q: %s", platform, diff)
		}
	}
}
