// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// Every function of Sprig is to be had, or it is said why it is not.
func TestForeignHasAllOfSprig(t *testing.T) {
	table := foreignFunctions()
	for name := range sprig.TxtFuncMap() {
		if why := absent(name); table[name] == nil && why == "" {
			t.Errorf("%s is not to be had, and it is not said why", name)
		}
	}
	impure := strings.Fields(`ago bcrypt buildCustomCert date derivePassword encryptAES env expandenv genCA genCAWithKey genPrivateKey genSelfSignedCert
		genSelfSignedCertWithKey genSignedCert genSignedCertWithKey getHostByName htmlDate htpasswd mustToDate now randAlpha randAlphaNum randAscii randBytes
		randInt randNumeric shuffle toDate uuidv4`)
	var missing []string
	for name := range sprig.TxtFuncMap() {
		if table[name] == nil {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if diff := cmp.Diff(impure, missing); diff != "" {
		t.Error(diff)
	}
}

// A function that is not to be had is a finding which names it, wherever it is called.
func TestForeignFindings(t *testing.T) {
	tests := map[string]struct {
		text string
		want reason.Reason
		line int
		part string
	}{
		"the environment":    {"a\n{{ env \"HOME\" }}", reason.TemplateFunctionUnknown, 2, "env"},
		"the clock":          {`{{ if false }}{{ now }}{{ end }}`, reason.TemplateFunctionUnknown, 1, "now"},
		"the network":        {`{{ define "never" }}{{ getHostByName "a" }}{{ end }}`, reason.TemplateFunctionUnknown, 1, "getHostByName"},
		"chance":             {`{{ .x | randAlphaNum }}`, reason.TemplateFunctionUnknown, 1, "randAlphaNum"},
		"a key":              {`{{ genCA "a" 1 }}`, reason.TemplateFunctionUnknown, 1, "genCA"},
		"call":               {`{{ call .f }}`, reason.TemplateFunctionUnknown, 1, "call"},
		"one of ours":        {`{{ labelValue "a" }}`, reason.TemplateFunctionUnknown, 1, "labelValue"},
		"a slip":             {`{{ quoet "a" }}`, reason.TemplateFunctionUnknown, 1, "quoet"},
		"no end":             {`{{ if true }}`, reason.TemplateSyntax, 1, "EOF"},
		"undefined variable": {`{{ $x }}`, reason.TemplateSyntax, 1, "$x"},
		"too large":          {strings.Repeat("x", maxSource+1), reason.TemplateLimit, 0, "bytes"},
		"too deep":           {strings.Repeat("{{ if 1 }}", 300) + strings.Repeat("{{ end }}", 300), reason.TemplateLimit, 1, "deep"},
	}
	for name, test := range tests {
		tmpl, findings := Compile(Source{Name: "main", Text: test.text, Foreign: &Foreign{}})
		if tmpl != nil || len(findings) != 1 {
			t.Errorf("%s: got %v", name, findings)
			continue
		}
		if f := findings[0]; f.Reason != test.want || f.Line != test.line || !strings.Contains(f.Detail, test.part) {
			t.Errorf("%s: got %v", name, f)
		}
	}
	if _, findings := Compile(Source{Name: "main", Foreign: &Foreign{}, Funcs: map[string]any{"two": func() (int, int) { return 1, 2 }, "none": 3}}); len(findings) != 2 {
		t.Errorf("functions that are none: got %v", findings)
	}
}

// The data is everybody's: no template changes it.
func TestForeignChangesNothing(t *testing.T) {
	refused := []string{
		`{{ set .Values "a" 1 }}`, `{{ unset .Values "text" }}`, `{{ set .Values.map "a" 1 }}`, `{{ set (dict "m" .Values.map).m "a" 1 }}`, `{{ set (pick .Values "map").map "a" 1 }}`,
		`{{ merge .Values (dict "a" 1) }}`, `{{ mergeOverwrite .Values.map (dict "k" 1) }}`, `{{ mustMerge .Values (dict "a" 1) }}`, `{{ mustMergeOverwrite .Values (dict "a" 1) }}`,
		`{{ range .Values }}{{ if typeIs "map[string]interface {}" . }}{{ set . "a" 1 }}{{ end }}{{ end }}`, `{{ set (shared .Values) "a" 1 }}`, `{{ set (default dict .Values) "a" 1 }}`, `{{ $v := .Values }}{{ set $v "a" 1 }}`,
		`{{ set (index (list .Values) 0) "a" 1 }}`, `{{ merge (dict) (dict "w" .Front) }}`, `{{ merge (dict "w" .Front) (dict "w" .Any) }}`,
	}
	for _, text := range refused {
		data := newBike()
		_, _, err := foreignTemplate(t, text).Text(data)
		r := refusal(t, err)
		if r.Reason != reason.TemplateFailed || r.Hint == "" {
			t.Errorf("%s: got %v", text, r)
		}
		if diff := cmp.Diff(newBike().Values, data.Values); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	permitted := map[string]string{
		`{{ $m := merge (dict) .Values (dict "map" (dict "new" 1)) }}{{ $m.map.new }}{{ .Values.map.new }}`:                                         "1<no value>",
		`{{ $m := mergeOverwrite (dict) .Values (dict "map" (dict "k" "new")) }}{{ $m.map.k }}{{ .Values.map.k }}`:                                  "newv",
		`{{ $m := merge (dict "map" .Values.map) (dict "map" (dict "new" 1)) }}{{ $m.map.new }}{{ .Values.map.new }}`:                               "1<no value>",
		`{{ $m := merge (dict) (dict "l" .Values.labels) (dict "l" (fromJson "{}")) }}{{ $m.l }}`:                                                   "map[a:b]",
		`{{ $m := merge (dict "l" .Values.labels) (dict "l" (strdict "x" "y")) }}{{ $m.l }}{{ .Values.labels }}`:                                    "map[a:b n:2]map[a:b]",
		`{{ $m := merge (dict) (dict "list" (list .Values.map)) }}{{ $_ := set (index $m.list 0) "k" "new" }}{{ $m.list }}{{ .Values.map.k }}`:      "[map[k:new l:map[m:3.5 null:<nil>]]]v",
		`{{ $m := set (dict) "v" .Values }}{{ len $m.v }}{{ $n := omit .Values "text" }}{{ $_ := set $n "text" 7 }}{{ $n.text }}{{ .Values.text }}`: "167hello",
		`{{ sortAlpha .Words }}{{ sortAlpha .Front.Names }}`:                                                                                        "[y z][a b]",
	}
	for text, want := range permitted {
		data := newBike()
		got, _, err := foreignTemplate(t, text).Text(data)
		if got != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", text, got, err, want)
		}
		if diff := cmp.Diff(newBike().Values, data.Values); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if diff := cmp.Diff(newBike().Words, data.Words); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Only the methods that the dialect permits are called, and it is asked about the type itself.
func TestForeignMethods(t *testing.T) {
	asked := map[string]bool{}
	source := Source{Name: "main", Foreign: &Foreign{Method: func(t reflect.Type, name string) bool {
		asked[t.String()+"."+name] = true
		return name != "Half"
	}}}
	source.Text = `{{ .Front.GetSize }}{{ .None.GetSize }}{{ .Paint.String }}{{ .Rear.GetSize }}{{ .Speaker.String }}`
	tmpl, findings := Compile(source)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if got, _, err := tmpl.Text(newBike()); got != "28-1GREEN26BLUE" || err != nil {
		t.Errorf("got %q and %v", got, err)
	}
	want := []string{"render.paint.String", "render.wheel.GetSize"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{`{{ .Front.Half }}`, `{{ .Front.With }}`, `{{ (index .Wheels 0).Half }}`} {
		source.Text = text
		tmpl, _ := Compile(source)
		_, _, err := tmpl.Text(newBike())
		if r := refusal(t, err); !strings.Contains(r.Detail, "may not be called") {
			t.Errorf("%s: got %v", text, r)
		}
	}
	source.Foreign, source.Text = &Foreign{}, `{{ .Front.GetSize }}`
	tmpl, _ = Compile(source)
	if _, _, err := tmpl.Text(newBike()); err == nil {
		t.Error("a method was called that nobody permitted")
	}
}

// An address of memory is another one each time, and so is refused where it would be printed.
func TestForeignPrintsNoAddress(t *testing.T) {
	for _, text := range []string{`{{ .Front }}`, `{{ print .PtrInt }}`, `{{ list .Front }}`, `{{ printf "%p" .Words }}`, `{{ dict "a" .PtrInt | toString }}`, `{{ quote .Front }}`, `{{ join "," (list .PtrText) }}`} {
		_, _, err := foreignTemplate(t, text).Text(newBike())
		if r := refusal(t, err); !strings.Contains(r.Detail, "an address") {
			t.Errorf("%s: got %v", text, r)
		}
	}
}

func TestForeignFail(t *testing.T) {
	tmpl := foreignTemplate(t, "x\n{{ if .Yes }}{{ fail (printf \"no %s\" .Name) }}{{ end }}")
	_, _, err := tmpl.Text(newBike())
	r := refusal(t, err)
	if r.Reason != reason.TemplateRefused || r.Detail != "main:2:17: no named" || r.Path != "templates[main]" {
		t.Errorf("got %+v", r)
	}
}

// A template mentions what it reads, and reads everything where it hands on the data as a whole.
func TestForeignReads(t *testing.T) {
	all := Reads{true, true, true, true, true, true, true, true, true}
	tests := map[string]Reads{
		`{{ .Values.a }}{{ $.Spec.NodeName }}{{ with .ObjectMeta }}{{ .Name }}{{ end }}`: {Values: true, Spec: true, ObjectMeta: true},
		`{{ define "a" }}{{ .Revision }}{{ end }}{{ template "a" . }}`:                   {Revision: true},
		`{{ range .Values.list }}{{ . }}{{ end }}`:                                       {Values: true},
		`{{ toJson . }}`:                     all,
		`{{ $ }}`:                            all,
		`{{ $x := . }}{{ toJson $x }}`:       all,
		`{{ with $ }}{{ print . }}{{ end }}`: all,
		`{{ $x := .Values }}{{ toJson $x }}{{ $y := . }}{{ $y.Spec }}`: {Values: true, Spec: true},
	}
	for text, want := range tests {
		if diff := cmp.Diff(want, foreignTemplate(t, text).Reads()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// The two kinds of templates are not mistaken for each other.
func TestForeignAndNative(t *testing.T) {
	if _, _, err := foreignTemplate(t, "a: b").Render(shop()); err == nil {
		t.Error("a foreign template renders a layer")
	}
	if _, _, err := compiled(t, "{}").Text(shop()); err == nil {
		t.Error("a native template renders a text")
	}
	if got, _, err := foreignTemplate(t, "{{ . }}{{ .x }}").Text(nil); got != "<no value><no value>" || err != nil {
		t.Errorf("no data: got %q and %v", got, err)
	}
}
