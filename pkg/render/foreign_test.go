// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// What a foreign template renders, and text/template too.
func TestForeignLikeTheirs(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a missing key":             {`{{ .Values.missing }}|{{ .Values.missing.x.y }}|{{ .Labels.missing }}|{{ index .Labels "missing" }}|{{ index .Values "missing" }}`, "<no value>|<no value>|<no value>||<no value>"},
		"a null":                    {`{{ .Values.null }}|{{ if .Values.null }}x{{ else }}y{{ end }}|{{ eq .Values.null nil }}|{{ eq .Values.null "x" }}|{{ ne .Values.null "x" }}`, "<no value>|y|true|false|true"},
		"a null in a variable":      {`{{ $x := .Values.null }}{{ $x.y }}`, "<no value>"},
		"pointers to scalars":       {`{{ .PtrInt }} {{ .PtrText }} {{ .NilText }}`, "42 pointed <nil>"},
		"an enumeration":            {`{{ .Paint }} {{ print .Paint }} {{ .Paint.String }} {{ printf "%d" .Paint }} {{ .Paints }} {{ .ByPaint }} {{ kind .Paint }}`, "GREEN GREEN GREEN 1 [RED BLUE] map[x:BLUE] render.paint"},
		"getters of null":           {`{{ .None.GetSize }} {{ .None.GetSpare.GetSpare.GetSize }} {{ .Front.GetSpare.GetSize }} {{ .Rear.GetSize }}`, "-1 -1 7 26"},
		"a method with an error":    {`{{ .Rear.Half }} {{ .Front.Half }}`, "13 14"},
		"methods of the data":       {`{{ .Revision }}`, "r1"},
		"a promoted field":          {`{{ .Material }} {{ .Frame.Material }}`, "steel brass"},
		"a chain":                   {`{{ (.Values.pilot.env).FOO }} {{ (index .Wheels 1).Size }} {{ (.Values.missing).x }}`, "bar 5 <no value>"},
		"numbers":                   {`{{ .Values.big }} {{ .Values.float }} {{ .Thin }} {{ .Ratio }} {{ .Values.big | int }} {{ 1e6 }} {{ 'a' }} {{ 0x10 }} {{ 2i }}`, "1.502e+07 2 1.5 0.25 15020000 1e+06 97 16 (0+2i)"},
		"lists and maps":            {`{{ .Words }} {{ .Items }} {{ .Labels }} {{ .Values.map }} {{ .Matrix }} {{ .ByInt }}`, "[z y] [1 two 3.5 <nil> true] map[app:web b/c:d] map[k:v l:map[m:3.5 null:<nil>]] [[1 2] [3 4]] map[-1:minus 2:two 10:ten]"},
		"durations and quantities":  {`{{ .Wait }} {{ .Weight.String }} {{ .Weight }} {{ .Wait.Minutes }}`, "1m30s 128Mi 128Mi 1.5"},
		"ranges":                    {`{{ range $k, $v := .ByInt }}{{ $k }}{{ $v }} {{ end }}{{ range $k, $v := .ByBool }}{{ $k }}{{ end }} {{ range 3 }}{{ . }}{{ end }} {{ range .Small }}{{ kind . }}{{ break }}{{ end }} {{ range .NoText }}x{{ else }}none{{ end }} {{ range .Values.null }}x{{ else }}none{{ end }}`, "-1minus 2two 10ten falsetrue 012 int8 none none"},
		"break and continue":        {`{{ range $i, $w := .Words }}{{ if $i }}{{ continue }}{{ end }}{{ $w }}{{ end }}{{ range 9 }}{{ if eq . 2 }}{{ break }}{{ end }}{{ . }}{{ end }}`, "z01"},
		"else with":                 {`{{ with .Values.empty }}a{{ else with .Text }}{{ . }}{{ else }}b{{ end }}`, "some Text, here"},
		"templates":                 {`{{ define "a" }}[{{ . }}{{ $ }}]{{ end }}{{ template "a" .Count }}{{ template "a" }}{{ block "b" .Name }}{{ . }}{{ end }}`, "[33][<no value><no value>]named"},
		"variables":                 {`{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ $x }}{{ end }}{{ $x }}{{ range $x = .Words }}{{ end }}{{ $x }}`, "32y"},
		"comparison":                {`{{ eq .Count 1 2 3 }} {{ eq .Unsized 6 }} {{ lt .Small 6 }} {{ ge .Ratio 0.25 }} {{ eq .Name "named" }} {{ eq .Front .Any }} {{ eq .None nil }} {{ le "a" "b" }} {{ gt .Unsized -1 }}`, "true true true true true true true true true"},
		"and, or":                   {`{{ and .Yes .Text }} {{ or .Values.no "x" }} {{ or 0 "" }}| {{ and true (or false .Count) }} {{ .Text | and .Yes }} {{ and false (.Values.null.x) }} {{ not .Silent }}`, "some Text, here x | 3 some Text, here false true"},
		"index and len":             {`{{ index .Items 1 }} {{ index .Matrix 1 0 }} {{ index .Values "map" "l" "m" }} {{ index .ByInt 2 }} {{ index .Text 0 }} {{ len .Text }} {{ len .NoText }} {{ index .ByPaint "nope" }}`, "two 3 3.5 two 115 15 0 RED"},
		"print":                     {`{{ print 1 2 "a" "b" nil }} {{ println "x" 1 }}{{ printf "%5.1f|%-4s|%v|%q|%T|%z" .Ratio "a" .Words "q" .Name 1 }}`, "1 2ab<nil> x 1\n  0.2|a   |[z y]|\"q\"|render.label|%!z(int=1)"},
		"escapes":                   {`{{ html "<a>" }} {{ js "it's" }} {{ urlquery "a b" .PtrInt }}`, "&lt;a&gt; it\\'s a+b42"},
		"quote":                     {`{{ quote .Values.quoted nil 1 .Paint }} {{ squote "it's" .Values.missing 2 }} {{ .Yes | quote }}`, `"say \"hi\" & <go>" "1" "GREEN" 'it's' '2' "true"`},
		"default":                   {`{{ .Values.zero | default 5 }} {{ .Values.no | default "d" }} {{ .None | default "n" }} {{ .Values.missing | default "m" }} {{ coalesce .Values.null "" .Name }} {{ ternary "a" "b" .Yes }}`, "5 d n m named a"},
		"trunc and the like":        {`{{ trunc -4 .Text }} {{ trunc 90 .Text }} {{ substr 5 99 .Text }} {{ "a" | indent 2 }}{{ "b" | nindent 1 }} {{ "a-_." | trimAll "-_." }}`, "here some Text, here Text, here   a\n b a"},
		"conversions":               {`{{ int "7" }} {{ atoi "x" }} {{ toString 1.0 }} {{ int64 2.9 }} {{ add 1 "2" 3.7 }} {{ float64 "1.5" }} {{ toDecimal 777 }}`, "7 0 1 2 6 1.5 511"},
		"lists":                     {`{{ list 1 "a" .Paint | join "-" }} {{ append .Words 1 }} {{ first .Items }} {{ slice .Words 1 }} {{ concat .Words .Paints }} {{ chunk 2 .Items }} {{ until 3 }} {{ untilStep 3 0 -1 }} {{ seq 1 3 }} {{ tuple 1 2 | last }}`, "1-a-GREEN [z y 1] 1 [y] [z y RED BLUE] [[1 two] [3.5 <nil>] [true]] [0 1 2] [3 2 1] 1 2 3 2"},
		"dictionaries":              {`{{ $d := dict "b" 1 .Paint 2 "z" }}{{ $d }} {{ get $d "b" }} {{ hasKey $d "GREEN" }} {{ pick $d "b" }} {{ omit .Values.map "l" }} {{ dig "map" "l" "m" 0 .Values }} {{ pluck "k" .Values.map $d }}`, "map[GREEN:2 b:1 z:] 1 true map[b:1] map[k:v] 3.5 [v]"},
		"JSON":                      {`{{ toJson .Values.map }} {{ toRawJson .Values.quoted }} {{ (fromJson "{\"a\":[1,2]}").a }} {{ fromJson "{" }} {{ toJson .Wheels }} {{ toJson .PtrInt }}`, `{"k":"v","l":{"m":3.5,"null":null}} "say \"hi\" & <go>" [1 2] <no value> [{"Size":4,"Spare":null,"Names":null},{"Size":5,"Spare":null,"Names":null}] 42`},
		"regular expressions":       {`{{ regexReplaceAll "(l+)o" "hello" "${1}0" }} {{ regexFindAll "l" "hello" 1 }} {{ regexSplit "l+" "hello" -1 }} {{ regexMatch "[" "x" }} {{ regexReplaceAllLiteral "l" "hello" "$1" }} {{ regexFind "z" "a" }}`, "hell0 [l] [he o] false he$1$1o "},
		"versions":                  {`{{ (semver "1.2.3").Minor }} {{ semver "1.2" }} {{ semverCompare ">=1.2" "1.3.0" }}`, "2 1.2.0 true"},
		"dates that are given":      {`{{ dateInZone "2006-01-02" 86400 "UTC" }} {{ htmlDateInZone 0 "UTC" }} {{ duration "90" }} {{ durationRound "3h4m" }} {{ unixEpoch .Meta.CreationTimestamp.Time }}`, "1970-01-02 1970-01-01 1m30s 3h -62135596800"},
		"changes of copies":         {`{{ $c := deepCopy .Values }}{{ $_ := set $c.map "k" "changed" }}{{ $c.map.k }} {{ .Values.map.k }} {{ set (fromJson "{\"a\":{}}").a "b" 1 }} {{ set fresh "b" 1 }}`, "changed v map[b:1] map[a:1 b:1]"},
		"merging":                   {`{{ $m := merge (dict "m" (dict "x" 1) "n" "") .Values.map (dict "m" (dict "y" 2) "n" 3) }}{{ $m.m }} {{ $m.n }} {{ $m.k }} {{ (mergeOverwrite (dict "k" "o") .Values.map).k }} {{ merge nil (dict "a" 1) }}`, "map[x:1 y:2] 3 v v map[a:1]"},
		"functions of the dialect":  {`{{ env "HOME" "none" }} {{ strdict "a" "b" }} {{ isset .Labels "app" }} {{ isset .Values.labels "a" }} {{ isset .NoText "a" }} {{ meta .Meta "k" .Paint }} {{ metaPtr .Meta }} {{ note .Meta "a/b" 1 }} {{ port 1 "a" }} {{ spoken .Paint }} {{ count .Spec.Containers }} {{ half 3 }} {{ small 1 2 }} {{ raw .Name 1 }}`, "none map[n:2] true true false web-1GREEN false c1 1a GREEN 2 1.5 1 2 named"},
		"private characters and so": {"\ue000{{ .Text }}\ue001", "\ue000some Text, here\ue001"},
		"hello":                     {`{{ hello }} {{ osBase "/a/b" }} {{ base "/a/b" }} {{ upper hello }}`, "Hello! b b HELLO!"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := foreignTemplate(t, test.text).Text(newBike())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			likeTheirs(t, test.text)
		})
	}
}

// What fails in text/template fails here, with the place and what is wrong there.
func TestForeignFailures(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a field of null":            {"a:\n  b: {{ .Values.null.foo }}", "main:2:9: .Values.null.foo: nil pointer evaluating interface {}.foo: .Values.null is null"},
		"a field of a nil pointer":   {`{{ .None.Size }}`, "main:1:4: .None.Size: nil pointer evaluating *render.wheel.Size: .None is null"},
		"through a method":           {`{{ .Front.GetSpare.GetSpare.Size }}`, ".Front.GetSpare.GetSpare is null"},
		"of a variable":              {`{{ $f := .Values }}{{ $f.null.x }}`, "main:1:23: $f.null.x: nil pointer"},
		"a field of a list's null":   {`{{ range .Values.list }}{{ .x }}{{ end }}`, "can't evaluate field x in type"},
		"no such field":              {`{{ .Frame.Materail }}`, "main:1:4: .Frame.Materail: can't evaluate field Materail in type *render.frame"},
		"an unexported field":        {`{{ .Frame.hidden }}`, "unexported"},
		"a field of a text":          {`{{ .Text.x }}`, "can't evaluate field x in type string"},
		"a method with arguments":    {`{{ .Front.With 1 }}`, "the method With of type *render.wheel may not be called"},
		"a field with arguments":     {`{{ .Text "x" }}`, "not a method but has arguments"},
		"a piped field":              {`{{ 1 | .Text }}`, "not a method but has arguments"},
		"a method without result":    {`{{ .Front.Grow }}`, "may not be called"},
		"a method that fails":        {`{{ (index .Wheels 1).Half }}`, "error calling Half: odd"},
		"a wrong type":               {`{{ upper .Count }}`, "main:1:4: upper: .Count: wrong type for value; expected string; got int"},
		"a named type":               {`{{ upper .Name }}`, "expected string; got render.label"},
		"a null for a text":          {`{{ upper .Values.null }}`, "upper: .Values.null: it is null or missing; expected string"},
		"a literal of another type":  {`{{ upper 1 }}`, "expected string; found 1"},
		"nil for a text":             {`{{ upper nil }}`, "cannot assign nil to string"},
		"the number of arguments":    {`{{ upper }}`, "wrong number of args for upper"},
		"a comparison of two kinds":  {`{{ eq 1 "a" }}`, "incompatible types for comparison: int and string"},
		"a comparison without order": {`{{ lt .Yes true }}`, "invalid type for comparison"},
		"a list compared":            {`{{ eq .Words .Words }}`, "non-comparable type"},
		"index out of range":         {`{{ index .Words 2 }}`, "index out of range: 2"},
		"index of null":              {`{{ index .Values.null "a" }}`, "index of untyped nil"},
		"index of a nil pointer":     {`{{ index .NilText 0 }}`, "index of nil pointer"},
		"index by another type":      {`{{ index .Labels 1 }}`, "should be of type string"},
		"a range over a text":        {`{{ range .Text }}{{ end }}`, "range can't iterate over .Text"},
		"a range over a function":    {`{{ range .Call }}{{ end }}`, "range can't iterate over .Call"},
		"a number, two variables":    {`{{ range $i, $n := .Count }}{{ end }}`, "can't use .Count to iterate over more than one variable"},
		"no such template":           {`{{ template "x" . }}`, `template "x" is not defined`},
		"printing a function":        {`{{ .Call }}`, "can't print"},
		"a non-function":             {`{{ 1 2 }}`, "can't give argument to non-function 1"},
		"a panic in a function":      {`{{ panics }}`, "panics: at the disco"},
		"a panic in Sprig":           {`{{ first 1 }}`, "first: Cannot find first on type int"},
		"an error of a function":     {`{{ broken }}`, "main:1:4: broken: it broke"},
		"a number that is too large": {`{{ 18446744073709551615 }}`, "overflows int"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := foreignTemplate(t, test.text).Text(newBike())
			r := refusal(t, err)
			if r.Reason != reason.TemplateFailed || !strings.Contains(r.Detail, test.want) {
				t.Errorf("got %v, want %q", r, test.want)
			}
			if out, err := theirText(test.text, newBike()); err == nil && !strings.Contains(test.want, "may not be called") {
				t.Errorf("text/template renders %q", out)
			}
		})
	}
}

// The hint tells a field that no data has from one that this value lacks.
func TestForeignHints(t *testing.T) {
	for text, want := range map[string]string{
		`{{ .Frame.Materail }}`:  "another version of this program, or for other objects than pods",
		`{{ .None.Seize }}`:      "another version of this program, or for other objects than pods",
		`{{ .Values.n.x }}`:      "the value before it is 2: give it fields",
		`{{ .Values.quoted.x }}`: "the value before it is \"",
		`{{ .Values.list.x }}`:   "the value before it is a list: give it fields",
	} {
		_, _, err := foreignTemplate(t, text).Text(newBike())
		if r := refusal(t, err); !strings.Contains(r.Hint, want) {
			t.Errorf("%s: got %q, want %q", text, r.Hint, want)
		}
	}
}

// A rendering is the same each time, and beside others.
func TestForeignIsDeterministic(t *testing.T) {
	tmpl := foreignTemplate(t, `{{ keys .Values .Values.map }}{{ values .Labels2 }}{{ .Front.Size }}{{ toJson .Values }}{{ $d := dict "a" 1 }}{{ set $d "b" .Count }}`)
	_, _, err := tmpl.Text(newBike())
	if r := refusal(t, err); !strings.Contains(r.Detail, "Labels2") {
		t.Fatal(r)
	}
	tmpl = foreignTemplate(t, `{{ keys .Values .Values.map }}{{ values .Values.map.l }}{{ .Front.Size }}{{ toJson .Values }}{{ $d := dict "a" 1 }}{{ set $d "b" .Count }}{{ sortAlpha .Words }}{{ .Words }}`)
	data := newBike()
	want, stats, err := tmpl.Text(data)
	if err != nil || !strings.HasPrefix(want, "[big empty float labels list map n no null pilot quoted text url words yes zero k l][3.5 <nil>]28") {
		t.Fatalf("got %q and %v", want, err)
	}
	if !strings.HasSuffix(want, "map[a:1 b:3][y z][z y]") {
		t.Errorf("got %q", want)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				if got, again, err := tmpl.Text(data); got != want || again != stats || err != nil {
					t.Errorf("got %q after %v and %v, want %q after %v", got, again, err, want, stats)
					return
				}
			}
		})
	}
	group.Wait()
}

// A template may define one of its own name, where its text has another among the definitions.
func TestForeignMain(t *testing.T) {
	source := Source{Name: "x", Text: `{{ define "x" }}inner{{ end }}{{ template "x" . }} outer`, Foreign: &Foreign{Main: "main"}}
	code, findings := Compile(source)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if text, _, err := code.Text(struct{}{}); err != nil || text != "inner outer" {
		t.Errorf("%q, %v", text, err)
	}
}
