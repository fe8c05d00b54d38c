// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/pillion-dev/pillion/pkg/pod"
	"github.com/pillion-dev/pillion/pkg/render"
)

// seeds are the values of the fuzzed laws, as JSON.
var seeds = []string{
	`null`, `""`, `"plain"`, `0`, `15020`, `1.5`, `-0.0`, `true`, `[]`, `{}`, `[null]`, `{"a":null}`, `{"a":{"b":[null,{"c":null}]}}`,
	`{"limits":{"cpu":"2000m","memory":"1Gi"},"requests":{"cpu":"100m","memory":"128Mi"}}`, `{"exec":{"command":["sh","-c","sleep 5"]}}`,
	`[[1,2],[{"a":"b","c":["d"]},[]]]`, `{"yes":"no","on":"Off","n":"~"}`, `{"a10":1,"a2":2,"A":3}`, `{"type":"RuntimeDefault","path":"/a/b.c_d-e"}`,
	`"2024-01-02"`, `"0x1f"`, `"1e3"`, `"12m"`, `"a: b"`, `"line\nline\n"`, `"<&>"`, `1e21`, `1e-7`, `123456789012345`,
}

// anything is a fuzzed value, as values and annotations hold them.
func anything(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// FuzzFunctions calls every function with nothing and with anything: none panics, none writes to its
// arguments, and the same arguments give the same result.
func FuzzFunctions(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		for name, fn := range functions(map[string]string{"KNOWN": "yes"}) {
			v := reflect.ValueOf(fn)
			for _, full := range []bool{false, true} {
				args, twins := arguments(v.Type(), text, n, full), arguments(v.Type(), text, n, full)
				first, second := results(v.Call(args)), results(v.Call(args))
				if diff := cmp.Diff(first, second); diff != "" {
					t.Errorf("%s: two calls differ: %s", name, diff)
				}
				for i := range args {
					if !reflect.DeepEqual(args[i].Interface(), twins[i].Interface()) {
						t.Errorf("%s has changed its argument %d to %v", name, i, args[i])
					}
				}
			}
		}
	})
}

// arguments are two more than the function must have where it takes any number.
func arguments(t reflect.Type, text string, n int, full bool) []reflect.Value {
	var types []reflect.Type
	for i := range t.NumIn() {
		types = append(types, t.In(i))
	}
	if t.IsVariadic() {
		last := types[len(types)-1].Elem()
		types = append(types[:len(types)-1], last, last, last)
	}
	var out []reflect.Value
	for _, want := range types {
		v := reflect.New(want).Elem()
		if given := given(want, text, n); full && given != nil {
			v.Set(reflect.ValueOf(given))
		}
		out = append(out, v)
	}
	return out
}

func given(want reflect.Type, text string, n int) any {
	for _, v := range []any{
		text, n, map[string]string{"a": text, text: "b"}, &metav1.ObjectMeta{Annotations: map[string]string{"a": text, text: text}},
		[]corev1.Container{{Name: proxyName, Image: text}, {Name: text, Image: text, Ports: []corev1.ContainerPort{{ContainerPort: int32(n)}}}},
	} {
		if reflect.TypeOf(v) == want {
			return v
		}
	}
	if want.Kind() == reflect.Interface && want.NumMethod() == 0 {
		return anything(text)
	}
	return nil
}

// results are comparable; an error is its text.
func results(out []reflect.Value) []any {
	var all []any
	for _, v := range out {
		if err, ok := v.Interface().(error); ok {
			all = append(all, err.Error())
			continue
		}
		all = append(all, v.Interface())
	}
	return all
}

func FuzzAppendMultusNetwork(f *testing.F) {
	f.Add("", "mesh-cni")
	f.Add("one, two", "mesh/mesh-cni")
	f.Add(`[{"name":"one"}]`, `quo"ted`)
	f.Add(`[ ]`, "mesh-cni")
	f.Add(`[{"name":]`, "mesh-cni")
	f.Fuzz(func(t *testing.T, existing, network string) {
		if strings.TrimSpace(network) != network || strings.Contains(network, ",") || strings.Contains(network, "]") || strings.ToValidUTF8(network, "") != network {
			return // no name of a network
		}
		once := appendMultusNetwork(existing, network)
		if twice := appendMultusNetwork(once, network); twice != once {
			t.Errorf("once %q, twice %q", once, twice)
		}
		var list []any
		if json.Unmarshal([]byte(existing), &list) == nil && json.Unmarshal([]byte(once), &list) != nil {
			t.Errorf("%q was JSON, %q is none", existing, once)
		}
	})
}

func FuzzExcludeInboundPort(f *testing.F) {
	f.Add("15020", "")
	f.Add(" 15020 ", "80, 81,,")
	f.Add("0", "80")
	f.Fuzz(func(t *testing.T, port, list string) {
		if strings.Contains(port, ",") {
			return // no port
		}
		once := excludeInboundPort(port, list)
		if twice := excludeInboundPort(port, once); twice != once {
			t.Errorf("once %q, twice %q", once, twice)
		}
		var have []string
		for item := range strings.SplitSeq(once, ",") {
			have = append(have, strings.TrimSpace(item))
		}
		if want := strings.TrimSpace(port); want != "0" && !slices.Contains(have, want) && want != "" {
			t.Errorf("%q is not in %q", want, once)
		}
	})
}

// FuzzOmitNil: what is left has no null and nothing empty, and stays as it is a second time.
func FuzzOmitNil(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := omitNil(anything(text))
		if once != nil && !lean(once) {
			t.Errorf("%v still holds what should be left out", once)
		}
		if twice := omitNil(once); !pod.Equal(once, twice) {
			t.Errorf("once %v, twice %v", once, twice)
		}
	})
}

// FuzzToYAML: the quick way writes the bytes of the library.
func FuzzToYAML(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range []any{anything(text), text, map[string]any{text: text, "b": []any{text, map[string]any{"c": text}}}} {
			got, err := toYAML(v)
			if err != nil {
				continue
			}
			want, err := yaml.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%v: %s", v, diff)
			}
		}
	})
}

// FuzzIndent: no line is lost or changed, and all but the first begin with the spaces.
func FuzzIndent(f *testing.F) {
	f.Add(2, "a: 1\nb: 2\n")
	f.Add(0, "")
	f.Fuzz(func(t *testing.T, n int, text string) {
		got, err := indent(n, text)
		if err != nil {
			return
		}
		if len(got) > render.MaxForeignText {
			t.Errorf("%d bytes", len(got))
		}
		if back := strings.ReplaceAll(got, "\n"+strings.Repeat(" ", n), "\n"); back != strings.ReplaceAll(text, "\n"+strings.Repeat(" ", n), "\n") && n > 0 && !strings.Contains(text, "\n ") {
			t.Errorf("%q became %q", text, got)
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has other lines than %q", got, text)
		}
	})
}
