// SPDX-License-Identifier: Apache-2.0

package param

import (
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/reason"
)

const key = "x.example/p"

func compile(t *testing.T, params ...config.Parameter) Set {
	t.Helper()
	set, faults := New(config.Template{Name: "t", Parameters: params})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return set
}

// FuzzResolve: whatever an annotation holds, there is an answer: a value of the parameter's type that
// stays the same when it is given again, or a refusal that a person can act on.
func FuzzResolve(f *testing.F) {
	for _, text := range []string{
		"", "true", "007", "-1", "100 m", "12e", "0x10", "0.5", "1e-1", "100000u", "1e9999999", "1e-999999999", "2E6024865272343",
		"1e4294967297", "1000000000000000E", "8Ei", "1h30m", "8080, 9090", "10.0.0.1/8,fd00::/8", "registry.example:5000/a/b:c",
		"a\nb", "{{ .Values }}", "\xff", "a: b # c", "\u2028", strings.Repeat("9", 5000),
	} {
		for kind := range config.ParameterTypes() {
			f.Add(uint8(kind), text)
		}
	}
	f.Fuzz(func(t *testing.T, pick uint8, text string) {
		kinds := config.ParameterTypes()
		kind := kinds[int(pick)%len(kinds)]
		p := config.Parameter{Name: "p", Type: kind, Annotation: key}
		if kind == config.TypeEnum {
			p.Values = []string{"info", "debug"}
		}
		set := compile(t, p)
		values, refusal := set.Resolve(map[string]string{key: text}, nil)
		if refusal != nil {
			checkRefusal(t, refusal)
			return
		}
		v := values[0]
		if v.Text != text || v.Source != FromPod {
			t.Fatalf("got %+v", v)
		}
		again := oracle(t, kind, v.Value)
		values, refusal = set.Resolve(nil, map[string]string{key: again})
		if refusal != nil {
			t.Fatalf("the value %v of %q is refused: %v", v.Value, text, refusal)
		}
		if diff := cmp.Diff(v.Value, values[0].Value); diff != "" {
			t.Fatalf("%q changes when it is given again (-first +second):\n%s", text, diff)
		}
	})
}

func checkRefusal(t *testing.T, r *reason.Refusal) {
	t.Helper()
	if r.Reason != reason.ParameterInvalid || !strings.Contains(r.Path, key) || r.Detail == "" || r.Hint == "" {
		t.Fatalf("an unusable refusal: %+v", r)
	}
	if len(r.Detail) > 1000 || strings.ContainsFunc(r.Detail, unicode.IsControl) || !utf8.ValidString(r.Detail) {
		t.Fatalf("no message for a terminal: %q", r.Detail)
	}
}

// oracle checks a value with other means than the package's own, and writes it as a text.
func oracle(t *testing.T, kind string, value any) string {
	t.Helper()
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		if kind == config.TypePort && (v < 1 || v > 65535) {
			t.Fatalf("%d is no port", v)
		}
		return strconv.FormatInt(v, 10)
	case []any:
		var items []string
		for _, item := range v {
			switch item := item.(type) {
			case int64:
				items = append(items, strconv.FormatInt(item, 10))
			case string:
				if p := netip.MustParsePrefix(item); p != p.Masked() {
					t.Fatalf("%s has host bits", item)
				}
				items = append(items, item)
			}
		}
		return strings.Join(items, ",")
	case string:
		checkString(t, kind, v)
		return v
	}
	t.Fatalf("a %s gave %T", kind, value)
	return ""
}

func checkString(t *testing.T, kind, v string) {
	t.Helper()
	switch kind {
	case config.TypeQuantity:
		q, err := resource.ParseQuantity(v)
		if err != nil || q.Sign() < 0 || strings.ContainsAny(v, "e") {
			t.Fatalf("%q is no canonical quantity: %v", v, err)
		}
	case config.TypeDuration:
		if d, err := time.ParseDuration(v); err != nil || d < 0 {
			t.Fatalf("%q is no duration: %v", v, err)
		}
	case config.TypeEnum:
		if v != "info" && v != "debug" {
			t.Fatalf("%q is not of the enum", v)
		}
	}
	quoted, err := json.Marshal(v)
	if err != nil || strings.ContainsAny(v, "\n\r\x00") || strings.Contains(string(quoted), `\ufffd`) {
		t.Fatalf("%q is no clean text", v)
	}
}

// FuzzQuantity: the canonical form is the same amount, rounded up to a billionth at most.
func FuzzQuantity(f *testing.F) {
	for _, text := range []string{"1000000000000000E", "1e18", "9E", "7.5Ei", "0.0000000001", "-5", "+5", "1e-9", "1.5Gi", "1e99", "9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readQuantity(text)
		if err != nil {
			return
		}
		want, err := resource.ParseQuantity(text)
		if err != nil {
			t.Fatalf("%q: read, but Kubernetes says %v", text, err)
		}
		got, err := resource.ParseQuantity(r.value.(string))
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("%q became %q: %v", text, r.value, err)
		}
	})
}
