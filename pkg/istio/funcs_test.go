// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pillion-dev/pillion/pkg/render"
)

func TestFunctionNames(t *testing.T) {
	want := strings.Fields(`annotation appendMultusNetwork applicationPorts contains directory env excludeInboundPort excludeInterfaces
		formatDuration fromJSON includeInboundPorts indent isset kubevirtInterfaces mergeMaps omit omitNil otelResourceAttributes protoToJSON
		strdict structToJSON toJSON toJsonMap toLower toYaml valueOrDefault`)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(functions(nil)))); diff != "" {
		t.Error(diff)
	}
}

func TestTextFunctions(t *testing.T) {
	env := functions(map[string]string{"ZONE": "north", "EMPTY": ""})["env"].(func(string, string) string)
	contains := functions(nil)["contains"].(func(string, string) bool)
	meta := &metav1.ObjectMeta{Annotations: map[string]string{"set": "yes", "empty": ""}}
	for name, c := range map[string]struct{ got, want any }{
		"an annotation that is there wins":           {annotationOr(meta, "set", "no"), "yes"},
		"an empty annotation is there":               {annotationOr(meta, "empty", "no"), ""},
		"a fallback is printed: a text":              {annotationOr(meta, "other", "text"), "text"},
		"a fallback is printed: a whole number":      {annotationOr(meta, "other", 15020.0), "15020"},
		"a fallback is printed: a fraction":          {annotationOr(meta, "other", 0.5), "0.5"},
		"a fallback is printed: true":                {annotationOr(meta, "other", true), "true"},
		"a fallback is printed: null":                {annotationOr(meta, "other", nil), "<nil>"},
		"a fallback is printed: an enumeration":      {annotationOr(meta, "other", meshconfig.ProxyConfig_TPROXY), "TPROXY"},
		"no metadata has no annotation":              {annotationOr(nil, "set", "no"), "no"},
		"an empty annotation is set":                 {isSet(meta.Annotations, "empty"), true},
		"nothing is set in nothing":                  {isSet(nil, ""), false},
		"null gives way":                             {valueOrDefault(nil, "x"), "x"},
		"an empty text gives way":                    {valueOrDefault("", "x"), "x"},
		"false stays":                                {valueOrDefault(false, "x"), false},
		"zero stays":                                 {valueOrDefault(0.0, "x"), 0.0},
		"the environment answers from the list":      {env("ZONE", "x"), "north"},
		"an empty variable is none":                  {env("EMPTY", "x"), "x"},
		"the process's own variables are not asked":  {env("PATH", "x"), "x"},
		"the part comes first":                       {contains("am", "team"), true},
		"the text comes last":                        {contains("team", "am"), false},
		"a duration is written as Go does":           {formatDuration(durationpb.New(90 * time.Second)), "1m30s"},
		"no duration is none":                        {formatDuration(nil), "0s"},
		"a directory keeps its slash":                {directory("/etc/certs/ca.pem"), "/etc/certs/"},
		"a file without a directory has none":        {directory("ca.pem"), ""},
		"a directory alone stays":                    {directory("/etc/"), "/etc/"},
		"a scalar as text: nothing":                  {scalarText(nil), ""},
		"a scalar as text: a text":                   {scalarText("1.20.0"), "1.20.0"},
		"a scalar as text: a whole number":           {scalarText(9.0), "9"},
		"a scalar as text: a fraction":               {scalarText(1.21), "1.21"},
		"a scalar as text: a date, without exponent": {scalarText(20240131.0), "20240131"},
		"a scalar as text: an integer":               {scalarText(int64(7)), "7"},
		"a scalar as text: a list is none":           {scalarText([]any{"a"}), ""},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestIndent(t *testing.T) {
	for name, c := range map[string]struct {
		n          int
		text, want string
		fails      bool
	}{
		"the first line stays":           {n: 2, text: "a: 1\nb: 2\n", want: "a: 1\n  b: 2\n  "},
		"one line has nothing to indent": {n: 8, text: "a", want: "a"},
		"no spaces change nothing":       {n: 0, text: "a\nb", want: "a\nb"},
		"fewer than none":                {n: -1, text: "a\nb", fails: true},
		"a number that overflows":        {n: 1 << 62, text: "a\nb\nc\nd", fails: true},
		"more than a text may have":      {n: 100, text: strings.Repeat("\n", render.MaxForeignText/100), fails: true},
	} {
		got, err := indent(c.n, c.text)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestPorts(t *testing.T) {
	containers := []corev1.Container{
		{Name: "app", Ports: []corev1.ContainerPort{
			{ContainerPort: 8080, Protocol: corev1.ProtocolTCP}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {ContainerPort: 9090},
		}},
		{Name: "bare"},
		{Name: proxyName, Ports: []corev1.ContainerPort{{ContainerPort: 15090}, {ContainerPort: 36412, Protocol: corev1.ProtocolSCTP}}},
	}
	for name, c := range map[string]struct{ got, want string }{
		"every port that TCP may reach":          {includeInboundPorts(containers), "8080,9090,15090"},
		"the application's alone":                {applicationPorts(containers), "8080,9090"},
		"of no container":                        {includeInboundPorts(nil), ""},
		"added to nothing":                       {excludeInboundPort("15020", ""), "15020"},
		"added at the end, spaces left out":      {excludeInboundPort("15020", " 80 ,81,,"), "80,81,15020"},
		"a number":                               {excludeInboundPort(15020.0, "80"), "80,15020"},
		"there already: the list stays as it is": {excludeInboundPort("81", "80, 81,"), "80, 81,"},
		"0 turns the port off":                   {excludeInboundPort("0", "80, 81"), "80, 81"},
		"0 as a number":                          {excludeInboundPort(0.0, "80"), "80"},
		"a number of the mesh configuration":     {excludeInboundPort(int32(15006), "80"), "80,15006"},
		"no port":                                {excludeInboundPort(nil, "80"), "80"},
		"a part of a port is another port":       {excludeInboundPort("80", "8080"), "8080,80"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", name, c.got, c.want)
		}
	}
}

func TestAppendMultusNetwork(t *testing.T) {
	for name, c := range map[string]struct{ existing, want string }{
		"alone":                         {"", "ns/mesh"},
		"after one name":                {"storage", "storage, ns/mesh"},
		"after several names":           {"storage,ns/backup", "storage,ns/backup, ns/mesh"},
		"a name that is there":          {"storage ,ns/mesh", "storage ,ns/mesh"},
		"a name that begins alike":      {"ns/mesh2", "ns/mesh2, ns/mesh"},
		"at the end of a list":          {`[{"name":"storage"}]`, `[{"name":"storage"}, {"name": "ns/mesh"}]`},
		"a list on several lines":       {"[\n{\"name\":\"storage\"}\n]\n", "[\n{\"name\":\"storage\"}\n, {\"name\": \"ns/mesh\"}]\n"},
		"in an empty list":              {`[ ]`, `[ {"name": "ns/mesh"}]`},
		"in a list that holds it":       {`[{"name":"ns/mesh","mac":"x"}]`, `[{"name":"ns/mesh","mac":"x"}]`},
		"a bracket inside a text":       {`[{"name":"a","note":"]"}]`, `[{"name":"a","note":"]"}, {"name": "ns/mesh"}]`},
		"a list that is no JSON stays":  {`[{"name":]`, `[{"name":]`},
		"a list of anything else stays": {`["storage"]`, `["storage"]`},
		"an object with a list stays":   {`{"a":[]}`, `{"a":[]}`},
	} {
		if got := appendMultusNetwork(c.existing, "ns/mesh"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got, want := appendMultusNetwork("[]", `q"`), `[{"name": "q\""}]`; got != want {
		t.Errorf("a quote in a name: got %s, want %s", got, want)
	}
}
