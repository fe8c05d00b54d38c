// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestSkipEndsBehindTheValue(t *testing.T) {
	values := []string{
		`{}`, `[]`, `0`, `-1.5e+3`, `true`, `null`, `""`, `"\""`, `"\\"`, `"\\\""`, `"a\\\\"`, `"]}"`,
		`{"a":[1,{"b":"]}\""}],"c":{}}`, `["\\","]"]`, `["\\\\\"","]"]`, `[[[[[[[[[[]]]]]]]]]]`, `["1234567","12345678","123456789"]`,
		`["é]","｝","Y_y\u007f"]`, " [\n{ } ,\t[ ] ]", `{"` + strings.Repeat(`\"`, 40) + `":"` + strings.Repeat(`\\`, 33) + `"}`,
		`[` + strings.Repeat(`{"k{":"v}"},`, 40) + `0]`, strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300),
	}
	for n := range 8 {
		values = append(values, `["`+strings.Repeat("a", n)+`é"]`, `["`+strings.Repeat("a", n)+`ܐ"]`, `["`+strings.Repeat("a", n)+`\""]`, `["`+strings.Repeat("a", n)+`"]`)
	}
	for _, value := range values {
		for _, behind := range []string{"", ",", "]", "}", " ", `,"x":["}"`, "]]]]]]]]]]]]]]]]]"} {
			for before := range 8 {
				s := scanner{raw: []byte(strings.Repeat(" ", before) + value + behind)}
				if s.skip(); s.at != before+len(value) {
					t.Errorf("%s before %q: ends at %d of %d", value, behind, s.at-before, len(value))
				}
			}
		}
	}
}

// FuzzSkip holds the scanner to the decoder: behind a valid value it stands where the decoder does. Of any
// other bytes it never stands beyond the end.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{deploymentPod, replica(1), `["a\\\"]",{"é":[]}]`, `[[[1,2],"x"],{"":{}}]`, `"\ud83d\ude00"`, `[\"`, `[1`, `"`, `{"`, `]`, ``} {
		f.Add([]byte(seed), []byte(`,"x":[{"y`))
	}
	f.Fuzz(func(t *testing.T, value, rest []byte) {
		value = bytes.TrimSpace(value)
		if len(rest) > 0 {
			rest = append([]byte{",]} "[int(rest[0])%4]}, rest...)
		}
		s := scanner{raw: append(value[:len(value):len(value)], rest...)}
		s.skip()
		if s.at < 0 || s.at > len(s.raw) {
			t.Fatalf("%q: ends at %d", s.raw, s.at)
		}
		if jsontext.Value(value).IsValid() && s.at != len(value) {
			t.Fatalf("%q and %q: ends at %d", value, rest, s.at)
		}
	})
}
