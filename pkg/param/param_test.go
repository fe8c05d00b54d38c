// SPDX-License-Identifier: Apache-2.0

package param

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/config"
)

func text(s string) *string { return &s }

func TestReadEveryType(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	tests := map[string]struct {
		reason string
		p      config.Parameter
		accept map[string]any
		refuse map[string]string
	}{
		"string": {
			reason: "any text on one line, with its length bounded",
			p:      config.Parameter{Type: "string", Min: "1", Max: "8"},
			accept: map[string]any{"a": "a", "a\tb": "a\tb", `"}{:#*&`: `"}{:#*&`, "éééééééé": "éééééééé", "{{ x }}": "{{ x }}"},
			refuse: map[string]string{
				"":                      `"" has 0 characters, below the minimum 1`,
				"123456789":             `"123456789" has 9 characters, above the maximum 8`,
				"a\nb":                  `"a\nb" holds the control character U+000A`,
				"a\u2028b":              `"a\u2028b" holds the control character U+2028`,
				"a\x85":                 `the text is not UTF-8`,
				"a\u0085":               `"a\u0085" holds the control character U+0085`,
				"1234567890ééé":         `"1234567890ééé" has 13 characters, above the maximum 8`,
				strings.Repeat("x", 33): `a text of 33 bytes is longer than the 32 allowed`,
			},
		},
		"pattern": {
			reason: "the pattern holds for the whole text",
			p:      config.Parameter{Type: "string", Pattern: "a|bc"},
			accept: map[string]any{"a": "a", "bc": "bc"},
			refuse: map[string]string{"ac": `"ac" does not match the pattern a|bc`, "a\n": `"a\n" holds the control character U+000A`},
		},
		"bool": {
			reason: "the two words of JSON",
			p:      config.Parameter{Type: "bool"},
			accept: map[string]any{"true": true, "false": false},
			refuse: map[string]string{"True": `"True" is neither true nor false`, "1": `"1" is neither true nor false`, "": `"" is neither true nor false`},
		},
		"int": {
			reason: "plain decimal digits",
			p:      config.Parameter{Type: "int", Min: "-5", Max: "9223372036854775807"},
			accept: map[string]any{"-5": int64(-5), "0": int64(0), "9223372036854775807": int64(9223372036854775807)},
			refuse: map[string]string{
				"-6":                  `"-6" is below the minimum -5`,
				"9223372036854775808": `"9223372036854775808" is no 64-bit integer in plain decimal digits`,
				"010":                 `"010" is no 64-bit integer in plain decimal digits`,
				"+1":                  `"+1" is no 64-bit integer in plain decimal digits`,
				"1e3":                 `"1e3" is no 64-bit integer in plain decimal digits`,
			},
		},
		"quantity": {
			reason: "canonical, never negative, and never a bomb",
			p:      config.Parameter{Type: "quantity", Max: "2Gi"},
			accept: map[string]any{"0.5": "500m", "1e-1": "100m", "100000u": "100m", "1.5Gi": "1536Mi", "2Gi": "2Gi", "1e3": "1k", "+5": "5", "0": "0"},
			refuse: map[string]string{
				"2.5Gi":                    `"2.5Gi" is above the maximum 2Gi`,
				"-1":                       `"-1" is below the minimum 0`,
				"100 m":                    `"100 m" is no quantity: want a number with a suffix such as m, Ki, Mi, G, or an exponent`,
				"12e":                      `"12e" is no quantity: want a number with a suffix such as m, Ki, Mi, G, or an exponent`,
				"0x10":                     `"0x10" is no quantity: want a number with a suffix such as m, Ki, Mi, G, or an exponent`,
				"":                         `an empty text is no quantity`,
				"1e-999999999":             `"1e-999999999": the exponent of a quantity has at most 2 digits`,
				"1e4294967297":             `"1e4294967297": the exponent of a quantity has at most 2 digits`,
				"2E6024865272343":          `"2E6024865272343": the exponent of a quantity has at most 2 digits`,
				"1000000000000000E":        `"1000000000000000E" is more than a quantity can hold`,
				"1e99":                     `"1e99" is more than a quantity can hold`,
				strings.Repeat("9", 500):   `a quantity has at most 64 characters, this one has 500`,
				strings.Repeat("9", 10000): `a text of 10000 bytes is longer than the 512 allowed`,
			},
		},
		"negative quantity": {
			reason: "the template may ask for it",
			p:      config.Parameter{Type: "quantity", Min: "-1"},
			accept: map[string]any{"-1": "-1", "-500m": "-500m"},
			refuse: map[string]string{"-2": `"-2" is below the minimum -1`},
		},
		"duration": {
			reason: "as Go writes it, and never negative",
			p:      config.Parameter{Type: "duration", Max: "1h"},
			accept: map[string]any{"90s": "90s", "1h": "1h", "0": "0"},
			refuse: map[string]string{"90": `"90" is no duration`, "-1s": `"-1s" is below the minimum 0`, "61m": `"61m" is above the maximum 1h`, "1d": `"1d" is no duration`},
		},
		"port": {
			reason: "a TCP or UDP port",
			p:      config.Parameter{Type: "port", Min: "1024"},
			accept: map[string]any{"1024": int64(1024), "65535": int64(65535)},
			refuse: map[string]string{"0": `"0" is no port from 1 to 65535`, "65536": `"65536" is no port from 1 to 65535`, "80": `"80" is below the minimum 1024`, "http": `"http" is no port from 1 to 65535`},
		},
		"ports": {
			reason: "a list, which may be empty",
			p:      config.Parameter{Type: "ports", Max: "9999"},
			accept: map[string]any{"8080,9090": []any{int64(8080), int64(9090)}, " 80 , 81": []any{int64(80), int64(81)}, "": []any{}},
			refuse: map[string]string{
				"80,":                          `"" is no port from 1 to 65535`,
				"80;1":                         `"80;1" is no port from 1 to 65535`,
				"1,10000":                      `the port 10000 is above the maximum 9999`,
				strings.Repeat("1,", 64) + "1": `a list of 65 is longer than the 64 allowed`,
			},
		},
		"cidrs": {
			reason: "networks without their host bits",
			p:      config.Parameter{Type: "cidrs"},
			accept: map[string]any{"10.1.2.3/8, FD00::1/8": []any{"10.0.0.0/8", "fd00::/8"}, "": []any{}, "0.0.0.0/0": []any{"0.0.0.0/0"}},
			refuse: map[string]string{"10.0.0.1": `"10.0.0.1" is no network in CIDR notation`, "10.0.0.0/33": `"10.0.0.0/33" is no network in CIDR notation`, "fe80::%e/64": `"fe80::%e/64" is no network in CIDR notation`},
		},
		"enum": {
			reason: "one of the values, in their case",
			p:      config.Parameter{Type: "enum", Values: []string{"info", "debug"}},
			accept: map[string]any{"info": "info"},
			refuse: map[string]string{"Info": `"Info" is none of info, debug`, "": `"" is none of info, debug`},
		},
		"image": {
			reason: "a reference that needs no quotes",
			p:      config.Parameter{Type: "image", Pattern: "registry.example/.*|\\[.*|localhost:.*|app"},
			accept: map[string]any{
				"app": "app", "registry.example/a/b-c__d.e:V1.2_3" + digest: "registry.example/a/b-c__d.e:V1.2_3" + digest,
				"localhost:5000/a" + digest: "localhost:5000/a" + digest, "[::1]:5000/a": "[::1]:5000/a",
			},
			refuse: map[string]string{
				"other.example/a":              `"other.example/a" does not match the pattern registry.example/.*|\[.*|localhost:.*|app`,
				"App":                          `"App" is no image reference`,
				"registry.example/a b":         `"registry.example/a b" is no image reference`,
				"registry.example/a\n":         `"registry.example/a\n" is no image reference`,
				"registry.example/../a":        `"registry.example/../a" is no image reference`,
				"https://registry.example/a":   `"https://registry.example/a" is no image reference`,
				"registry.example/a@sha256:00": `"registry.example/a@sha256:00" is no image reference`,
				"registry.example/a:":          `"registry.example/a:" is no image reference`,
				"":                             `"" is no image reference`,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.p.Name, tc.p.Annotation = "p", key
			set := compile(t, tc.p)
			for given, want := range tc.accept {
				got, refusal := set.Resolve(map[string]string{key: given}, nil)
				if refusal != nil {
					t.Errorf("%s: %q: %v", tc.reason, given, refusal)
					continue
				}
				if diff := cmp.Diff([]Value{{Name: "p", Value: want, Text: given, Source: "pod", Annotation: key}}, got); diff != "" {
					t.Errorf("%s: %q (-want +got):\n%s", tc.reason, given, diff)
				}
			}
			for given, want := range tc.refuse {
				_, refusal := set.Resolve(map[string]string{key: given}, nil)
				if refusal == nil {
					t.Errorf("%s: %q is accepted", tc.reason, given)
					continue
				}
				if diff := cmp.Diff("parameter p of template t: "+want, refusal.Detail); diff != "" {
					t.Errorf("%s: %q (-want +got):\n%s", tc.reason, given, diff)
				}
			}
		})
	}
}
