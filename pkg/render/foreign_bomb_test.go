// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// foreignBombs are templates that end a process which has Sprig's functions change values in place.
func foreignBombs() map[string]string {
	const cycle = `{{$d := dict "k" 1}}{{$_ := set $d "a" $d}}`
	const bush = `{{$d := dict "k" 1}}{{range 60}}{{$d = dict "l" $d "r" $d}}{{end}}`
	const text = `{{$s := repeat 1000000 "x"}}`
	out := map[string]string{
		"a cycle, printed":               cycle + `{{$d}}`,
		"a cycle in a function":          cycle + `{{print $d}}`,
		"a cycle as a key":               cycle + `{{dict $d 1}}`,
		"a cycle, compared":              cycle + `{{$e := deepCopy (dict)}}{{$_ := set $e "a" $e}}{{deepEqual $d $e}}`,
		"a cycle in a URL":               cycle + `{{urlJoin $d}}`,
		"a cycle for a function of ours": cycle + `{{kind $d}}`,
		"a cycle in a list":              cycle + `{{list $d | join ","}}`,
		"a merged cycle":                 cycle + `{{merge (dict) $d}}`,
		"a merged cycle, own":            cycle + `{{merge $d (dict "x" $d)}}`,
		"a walk through a cycle":         `{{define "w"}}{{range .}}{{template "w" .}}{{end}}{{end}}` + cycle + `{{template "w" $d}}`,
		"a bush, printed":                bush + `{{$d}}`,
		"a bush, copied":                 bush + `{{$e := deepCopy $d}}`,
		"a bush, compared":               bush + `{{deepEqual $d (deepCopy $d)}}`,
		"a bush, merged":                 bush + `{{merge (dict) $d}}`,
		"a bush for a function of ours":  bush + `{{kind $d}}`,
		"a bush among the unique":        bush + `{{uniq (list $d $d)}}`,
		"an endless step":                `{{untilStep 0 9223372036854775807 4611686018427387904}}`,
		"a long count":                   `{{until 2000000000}}`,
		"a long sequence":                `{{seq 1 1000000000}}`,
		"a slow sequence":                `{{seq 0 1 9000000000000000000}}`,
		"unique among many":              `{{until 9000 | uniq}}`,
		"many without many":              `{{$l := until 9000}}{{range $l}}{{$x := without $l 1 2 3 4 5 6 7 8 9 10}}{{end}}`,
		"a wide format":                  `{{until 9000 | printf "%1000d"}}`,
		"a format that picks":            text + `{{printf "%[1]s%[1]s%[1]s" $s}}`,
		"a star":                         `{{printf "%*d" 100000000 1}}`,
		"letters beyond ASCII":           `{{$s := repeat 300000 "é"}}{{$c := print (repeat 300000 "a") "é"}}{{trimAll $c $s}}`,
		"a join that grows":              text + `{{until 9000 | join $s}}`,
		"quotes of long texts":           text + `{{quote $s $s $s $s $s $s $s}}`,
		"a dictionary that grows":        `{{$d := dict}}{{range $i := until 9999}}{{$_ := set $d (print $i) $i}}{{end}}{{range $i := until 9999}}{{$_ := set $d (print "x" $i) $i}}{{end}}`,
		"decimals of many digits":        `{{range 100000}}{{$x := mulf 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99 1e99}}{{end}}`,
	}
	return out
}

func TestForeignBombs(t *testing.T) {
	all := bombs() // some of them are harmless where larger texts are permitted
	maps.Copy(all, foreignBombs())
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			tmpl, findings := Compile(Source{Name: "bomb", Text: text, Funcs: ownFuncs(), Foreign: &Foreign{}})
			if len(findings) > 0 {
				return
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			out, stats, err := tmpl.Text(newBike())
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes, %v, after %d ticks, %d KB allocated", len(out), err, stats.Ticks, allocated/1024)
			if err == nil && foreignBombs()[name] != "" {
				t.Errorf("it renders %d bytes", len(out))
			}
			if allocated > 64<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			}
		})
	}
}

// However often a template calls a function, the bound on the ticks comes before memory runs out.
func TestForeignFunctionsAreBounded(t *testing.T) {
	for _, name := range foreignNames() {
		f := foreignFunctions()[name]
		if f == nil || f.decides || name == "fail" {
			continue
		}
		call := name
		for i := range f.wanted(2) {
			call += " "
			if fitting := f.fitting(i); len(fitting) > 0 {
				call += fitting[0]
			} else {
				call += "$.Words"
			}
		}
		tmpl := foreignTemplate(t, "{{ range 100000 }}{{ $x := "+call+" }}{{ end }}")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := tmpl.Text(newBike())
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", call)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 && !raced {
			t.Errorf("%s: allocated %d MB, %v", call, mb, err)
		}
	}
}

// What is made of a text is bounded before it is made.
func TestForeignBounds(t *testing.T) {
	tests := map[string]string{
		"ticks":  `{{range 100000}}{{end}}`,
		"output": `{{range 9000}}` + strings.Repeat("x", 1000) + `{{end}}`,
		"depth":  `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		"text":   `{{$s := repeat 1048577 "x"}}`,
		"items":  `{{$l := until 10001}}`,
		"width":  `{{wrap 2000000 "a b"}}`,
	}
	for name, text := range tests {
		_, _, err := foreignTemplate(t, text).Text(newBike())
		var r *reason.Refusal
		if !errors.As(err, &r) || r.Reason != reason.TemplateLimit || r.Hint == "" {
			t.Errorf("%s: got %v, want a limit", name, err)
		}
	}
	large := fmt.Sprintf(`{{$s := repeat %d "x"}}{{$s | quote | len}} {{$s | nindent 2 | len}}`, 256<<10)
	if got, _, err := foreignTemplate(t, large).Text(newBike()); err != nil || got != "262146 262147" {
		t.Errorf("an annotation of the largest size: got %q and %v", got, err)
	}
}
