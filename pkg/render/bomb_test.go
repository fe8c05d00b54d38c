// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// bombs are templates that kill a process which runs them with text/template and all of Sprig.
func bombs() map[string]string {
	define := strings.Builder{}
	define.WriteString(`{{define "t0"}}x{{end}}`)
	for i := 1; i <= 40; i++ {
		n := string(rune('0' + i/10))
		n += string(rune('0' + i%10))
		p := "t0"
		if i > 1 {
			p = "t" + string(rune('0'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		}
		define.WriteString(`{{define "t` + n + `"}}{{template "` + p + `" .}}{{template "` + p + `" .}}{{end}}`)
	}
	cycle := `{{$d := dict}}{{$_ := set $d "a" $d}}`
	return map[string]string{
		"01 a range of 5e9":                 `{{range 5000000000}}{{end}}`,
		"02 nested ranges of 1e4":           `{{range 10000}}{{range 10000}}{{range 10000}}{{end}}{{end}}{{end}}`,
		"03 exponential defines":            define.String() + `{{template "t40" .}}`,
		"04 genPrivateKey":                  `{{range 20}}{{genPrivateKey "rsa" | quote}}{{end}}`,
		"05 bcrypt":                         `{{range 200}}{{bcrypt "x" | quote}}{{end}}`,
		"06 derivePassword":                 `{{range 100}}{{derivePassword 1 "long" "p" "u" "s" | quote}}{{end}}`,
		"07 deepCopy of a cycle":            cycle + `{{deepCopy $d | toJson}}`,
		"08 until 2e9":                      `{{until 2000000000 | toJson}}`,
		"09 a text doubled 40 times":        `{{$s := "xxxxxxxx"}}{{range 40}}{{$s = print $s $s}}{{end}}{{$s}}`,
		"10 endless output":                 `{{range 99999}}` + strings.Repeat("x", 1000) + `{{end}}`,
		"11 randBytes":                      `{{randBytes 3000000000}}`,
		"12 printf wide":                    `{{printf "%1000000000d" 1}}`,
		"13 print of a cycle":               cycle + `{{$d | toString}}`,
		"14 merge of cycles":                cycle + `{{merge $d $d | toJson}}`,
		"15 repeat 4e9":                     `{{repeat 4000000000 "x"}}`,
		"16 the environment":                `{{env "SECRET"}}{{expandenv "$SECRET"}}`,
		"17 the network":                    `{{getHostByName "example.com"}}`,
		"18 a define that calls itself":     `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`,
		"19 indent 1e9":                     `{{indent 1000000000 "x"}}`,
		"20 toJson of a list doubled":       `{{$l := list "x"}}{{range 30}}{{$l = concat $l $l}}{{end}}{{toJson $l}}`,
		"21 replace amplifies":              `{{$s := repeat 60000 "x"}}{{replace "" $s $s}}`,
		"a range over a range":              `{{define "r"}}{{range 1000}}{{template "r" .}}{{end}}{{end}}{{template "r" .}}`,
		"a printf with a star":              `{{printf "%*d" 1000000000 1}}`,
		"a printf that picks":               `{{$s := repeat 60000 "x"}}{{printf "%[1]s%[1]s%[1]s" $s}}`,
		"a list of lists, wide":             `{{$l := list 1}}{{range 40}}{{$l = list $l $l}}{{end}}{{toJson $l}}`,
		"a list of lists, wide, in YAML":    `{{$l := list 1}}{{range 40}}{{$l = list $l $l}}{{end}}{{toYaml $l}}`,
		"a list of lists, deep":             `{{$l := list 1}}{{range 1000}}{{$l = list $l}}{{end}}{{toJson $l}}`,
		"deepEqual of lists of lists":       `{{$l := list 1}}{{range 40}}{{$l = list $l $l}}{{end}}{{deepEqual $l $l}}`,
		"long texts in a list":              `{{$s := repeat 60000 "x"}}{{$l := list}}{{range 1000}}{{$l = append $l $s}}{{end}}{{toJson $l}}`,
		"join of long texts":                `{{$s := repeat 60000 "x"}}{{list $s $s $s | join $s}}`,
		"texts of the largest size":         `{{range 100000}}{{$s := repeat 65536 "x"}}{{end}}`,
		"lists of the largest size":         `{{$l := list}}{{range 10000}}{{$l = append $l 1}}{{end}}{{range 10000}}{{$l = append $l 1}}{{end}}`,
		"a list cut over and over":          `{{$l := splitList "" (repeat 9999 "x")}}{{range 100000}}{{$m := rest $l}}{{end}}`,
		"a regular expression repeated":     `{{regexMatch "((((a{100}){100}){100}){100})" "a"}}`,
		"a regular expression on long text": `{{$s := repeat 65536 "a"}}{{range 1000}}{{regexMatch "(a?){30}b" $s}}{{end}}`,
		"a quadratic search":                `{{$s := repeat 65536 "a"}}{{regexFindAll "a*b|a" $s -1 | toJson}}`,
		"a replacement that grows":          `{{$s := repeat 60000 "a"}}{{regexReplaceAll "(a+)" $s (repeat 20000 "$1 ")}}`,
		"wrapWith a long text":              `{{$s := repeat 60000 "a"}}{{wrapWith 1 $s $s}}`,
		"pretty JSON":                       `{{$l := list 1}}{{range 90}}{{$l = list $l $l}}{{end}}{{toPrettyJson $l}}`,
		"JSON of brackets":                  `{{range 1000}}{{$x := fromJson (print (repeat 30000 "[") (repeat 30000 "]"))}}{{end}}`,
		"YAML of brackets":                  `{{range 1000}}{{$x := fromYaml (repeat 30000 "[")}}{{end}}`,
		"YAML of items":                     `{{range 1000}}{{$x := fromYaml (repeat 20000 "- \n")}}{{end}}`,
		"decimals":                          `{{range 100000}}{{$x := mulf "1e300" "1e300" "1e300"}}{{end}}`,
		"output of more items":              `{{range 300}}` + strings.Repeat("- a\n", 200) + `{{end}}`,
		"output of items":                   `{{range 60000}}- a` + "\n" + `{{end}}`,
	}
}

func TestBombs(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			why, stats := detonate(t, text)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s after %d ticks, %d KB allocated", why, stats.Ticks, allocated/1024)
			if allocated > 64<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			}
		})
	}
}

// detonate compiles and renders a template, which must fail with a typed error.
func detonate(t *testing.T, text string) (reason.Reason, Stats) {
	t.Helper()
	tmpl, findings := Compile(Source{Name: "bomb", Text: text})
	if len(findings) > 0 {
		if findings[0].Line == 0 || findings[0].Hint == "" {
			t.Errorf("a finding without a line or a hint: %v", findings[0])
		}
		return findings[0].Reason, Stats{}
	}
	layer, stats, err := tmpl.Render(shop())
	var r *reason.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v and %v, want a refusal", layer, err)
	}
	if !strings.Contains(r.Error(), "bomb") {
		t.Errorf("the refusal names no place: %v", r)
	}
	return r.Reason, stats
}
