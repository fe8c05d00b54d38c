// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pillion-dev/pillion/pkg/render"
)

func TestDictionaries(t *testing.T) {
	type dict = map[string]string
	for name, c := range map[string]struct{ got, want any }{
		"pairs":                         {strdict("a", "1", "b", "2"), dict{"a": "1", "b": "2"}},
		"the last of equal keys counts": {strdict("a", "1", "a", "2"), dict{"a": "2"}},
		"a key without a value":         {strdict("a"), dict{"a": ""}},
		"nothing":                       {strdict(), dict{}},
		"left out":                      {omit(dict{"a": "1", "b": "2"}, "a", "x"), dict{"b": "2"}},
		"left out of nothing":           {omit(nil, "a"), dict{}},
		"the last dictionary wins":      {mergeMaps(dict{"a": "1"}, nil, dict{"a": "2", "b": "3"}), dict{"a": "2", "b": "3"}},
		"no dictionary":                 {mergeMaps(), dict{}},
		"as JSON, keys in order":        {toJSON(dict{"b": "<", "a": "\n"}), `{"a":"\n","b":"\u003c"}`},
		"nothing as JSON":               {toJSON(nil), "{}"},
		"an empty one as JSON":          {toJSON(dict{}), "{}"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	many := functions(nil)["toJsonMap"].(func(...map[string]string) string)
	if got, want := many(dict{"a": "1"}, dict{"a": "2"}), `{"a":"2"}`; got != want {
		t.Errorf("toJsonMap: got %s, want %s", got, want)
	}
}

func TestOmitNil(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct{ in, want any }{
		"nothing":                     {nil, nil},
		"a scalar":                    {0.0, 0.0},
		"an empty text is a value":    {object{"a": ""}, object{"a": ""}},
		"false and 0 are values":      {[]any{false, 0.0}, []any{false, 0.0}},
		"a null":                      {object{"cpu": nil, "memory": "1Gi"}, object{"memory": "1Gi"}},
		"what is empty then":          {object{"limits": object{"cpu": nil}, "claims": []any{nil, object{}}, "x": 1.0}, object{"x": 1.0}},
		"what was empty before":       {object{"a": object{}, "b": []any{}}, nil},
		"all of it":                   {object{"a": object{"b": []any{nil}}}, nil},
		"the rest of a list moves up": {[]any{nil, "a", []any{}, "b"}, []any{"a", "b"}},
	} {
		if diff := cmp.Diff(c.want, omitNil(c.in)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestJSONFunctions(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		text string
		want any
	}{
		"an object":                  {`{"a":{"b":1}}`, object{"a": object{"b": 1.0}}},
		"the last of equal keys":     {`{"a":1,"a":2}`, object{"a": 2.0}},
		"null":                       {` null `, nil},
		"no JSON is the text of one": {`{"a"`, "{}"},
		"nothing":                    {``, "{}"},
		"more than one document":     {`{} {}`, "{}"},
	} {
		if diff := cmp.Diff(c.want, fromJSON(c.text)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"the API's objects keep the order of their fields": {&corev1.ContainerPort{ContainerPort: 80, Name: "web", Protocol: "TCP"}, `{"name":"web","containerPort":80,"protocol":"TCP"}`},
		"what is left out by the API stays out":            {corev1.ContainerPort{ContainerPort: 80}, `{"containerPort":80}`},
		"nothing":                                          {nil, "{}"},
		"a text":                                           {"a", `"a"`},
		"a list":                                           {[]any{1.0, nil}, `[1,null]`},
	} {
		if got, err := structToJSON(c.v); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

func TestProtoToJSON(t *testing.T) {
	protoToJSON := functions(nil)["protoToJSON"].(func(any) (string, error))
	var noProxy *meshconfig.ProxyConfig
	var noTracing *meshconfig.Tracing
	for name, v := range map[string]any{"nothing": nil, "no proxy configuration": noProxy, "no message": noTracing, "an empty message": proto.Message(&meshconfig.Tracing{})} {
		if got, err := protoToJSON(v); got != "{}" || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, err := protoToJSON(&meshconfig.ProxyConfig{ProxyMetadata: map[string]string{"B": "2", "A": "1"}}); got != `{"proxyMetadata":{"A":"1","B":"2"}}` || err != nil {
		t.Errorf("a proxy configuration: got %s, %v", got, err)
	}
	if got, err := protoToJSON("text"); err == nil {
		t.Errorf("a text is no message: got %q", got)
	}
}

func TestToYAML(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"the last line has an end":          {object{"limits": object{"memory": "1Gi", "cpu": "2000m"}}, "limits:\n  cpu: 2000m\n  memory: 1Gi\n"},
		"a list below its key":              {object{"command": []any{"a", object{"b": 1.0, "c": true}}}, "command:\n- a\n- b: 1\n  c: true\n"},
		"a text that looks like a number":   {object{"cpu": "2"}, "cpu: \"2\"\n"},
		"a text that looks like a boolean":  {[]any{"yes", "Off"}, "- \"yes\"\n- \"Off\"\n"},
		"a number in a key sorts by itself": {object{"a10": 1.0, "a9": 2.0}, "a9: 2\na10: 1\n"},
		"nothing":                           {nil, "null\n"},
		"what is empty":                     {object{"a": object{}, "b": []any{}}, "a: {}\nb: []\n"},
		"an object of the API":              {&corev1.ContainerPort{ContainerPort: 80, Name: "web"}, "containerPort: 80\nname: web\n"},
	} {
		got, err := toYAML(c.v)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// What a template made of the data many times over ends in an error, and soon.
func TestValuesAreBounded(t *testing.T) {
	texts, objects := make([]any, 1000), make([]any, 1000)
	for i := range texts {
		texts[i], objects[i] = strings.Repeat("x", render.MaxForeignText/500), map[string]any{"a": &corev1.PodSpec{}}
	}
	for name, v := range map[string]any{"large": texts, "many objects": objects, "longer than a text": strings.Repeat("x", render.MaxForeignText)} {
		for fn, err := range map[string]error{"toYaml": errorOf(toYAML(v)), "structToJSON": errorOf(structToJSON(v))} {
			if err == nil {
				t.Errorf("%s of what is %s: no error", fn, name)
			}
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
