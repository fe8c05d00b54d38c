// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"runtime"
	"testing"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// examples has a call of every function, and what it gives.
var examples = map[string][2]string{
	"and":       {`and 1 "" 2 | quote`, ""},
	"or":        {`or 0 "x" 2 | quote`, "x"},
	"not":       {`not "" | quote`, "true"},
	"eq":        {`eq 2 1 2 | quote`, "true"},
	"ne":        {`ne "a" "b" | quote`, "true"},
	"lt":        {`lt 1 2.5 | quote`, "true"},
	"le":        {`le "a" "a" | quote`, "true"},
	"gt":        {`gt 1 2 | quote`, "false"},
	"ge":        {`ge 2 2 | quote`, "true"},
	"default":   {`.Values.none | default "d" | quote`, "d"},
	"coalesce":  {`coalesce 0 "" "c" | quote`, "c"},
	"ternary":   {`ternary "y" "n" true | quote`, "y"},
	"empty":     {`empty list | quote`, "true"},
	"all":       {`all 1 0 | quote`, "false"},
	"any":       {`any 1 0 | quote`, "true"},
	"required":  {`required "m" "v" | quote`, "v"},
	"fail":      {`if false }}{{ fail "m" }}{{ end }}{{ quote 1`, "1"},
	"kindOf":    {`kindOf 1 | quote`, "int64"},
	"kindIs":    {`kindIs "map" dict | quote`, "true"},
	"typeOf":    {`typeOf "" | quote`, "string"},
	"typeIs":    {`typeIs "string" "" | quote`, "true"},
	"deepEqual": {`deepEqual (list 1 "a") (list 1 "a") | quote`, "true"},

	"typeIsLike": {`typeIsLike "string" "" | quote`, "true"},

	"print":      {`print 1 2 "a" | quote`, "1 2a"},
	"println":    {`println "a" 1 | quote`, "a 1\n"},
	"printf":     {`printf "%03d-%s-%t-%%" 7 "x" true | quote`, "007-x-true-%"},
	"toString":   {`toString 1.5 | quote`, "1.5"},
	"cat":        {`cat "a" nil 1 | quote`, "a 1"},
	"indent":     {`indent 2 "a\nb" | quote`, "  a\n  b"},
	"nindent":    {`nindent 1 "a" | quote`, "\n a"},
	"trim":       {`trim " a " | quote`, "a"},
	"trimAll":    {`trimAll "$" "$a$" | quote`, "a"},
	"trimall":    {`trimall "$" "$a$" | quote`, "a"},
	"trimPrefix": {`trimPrefix "a" "ab" | quote`, "b"},
	"trimSuffix": {`trimSuffix "b" "ab" | quote`, "a"},
	"upper":      {`upper "aB" | quote`, "AB"},
	"lower":      {`lower "aB" | quote`, "ab"},
	"title":      {`title "a b" | quote`, "A B"},
	"untitle":    {`untitle "A B" | quote`, "a b"},
	"swapcase":   {`swapcase "aB" | quote`, "Ab"},
	"snakecase":  {`snakecase "FirstName" | quote`, "first_name"},
	"camelcase":  {`camelcase "first_name" | quote`, "FirstName"},
	"kebabcase":  {`kebabcase "FirstName" | quote`, "first-name"},
	"nospace":    {`nospace "a b" | quote`, "ab"},
	"initials":   {`initials "First Try" | quote`, "FT"},
	"abbrev":     {`abbrev 5 "hello world" | quote`, "he..."},
	"abbrevboth": {`abbrevboth 5 10 "1234 5678 9123" | quote`, "...5678..."},
	"trunc":      {`trunc -2 "abc" | quote`, "bc"},
	"substr":     {`substr 1 2 "abc" | quote`, "b"},
	"repeat":     {`repeat 3 "ab" | quote`, "ababab"},
	"replace":    {`"a-b" | replace "-" "+" | quote`, "a+b"},
	"wrap":       {`wrap 3 "a b c" | quote`, "a b\nc"},
	"wrapWith":   {`wrapWith 3 "|" "a b c" | quote`, "a b|c"},
	"contains":   {`contains "b" "abc" | quote`, "true"},
	"hasPrefix":  {`hasPrefix "a" "abc" | quote`, "true"},
	"hasSuffix":  {`hasSuffix "c" "abc" | quote`, "true"},
	"plural":     {`plural "one" "many" 2 | quote`, "many"},
	"base":       {`base "a/b.c" | quote`, "b.c"},
	"dir":        {`dir "a/b.c" | quote`, "a"},
	"clean":      {`clean "a//b" | quote`, "a/b"},
	"ext":        {`ext "a/b.c" | quote`, ".c"},
	"isAbs":      {`isAbs "/a" | quote`, "true"},
	"urlParse":   {`(urlParse "http://h/p?q").path | quote`, "/p"},
	"urlJoin":    {`urlJoin (dict "scheme" "http" "host" "h") | quote`, "http://h"},

	"semverCompare": {`semverCompare ">=1.2" "1.3.0" | quote`, "true"},

	"quote":            {`quote "a\"b"`, `a"b`},
	"squote":           {`squote "a'b"`, "a'b"},
	"toYaml":           {`toYaml (dict "b" (list 1 (dict "c" "x")) "a" dict) | quote`, "a: {}\nb:\n  - 1\n  - c: \"x\""},
	"toJson":           {`toJson (dict "b" (list 1 "<") "a" nil) | quote`, `{"a":null,"b":[1,"\u003c"]}`},
	"mustToJson":       {`mustToJson 1.5 | quote`, "1.5"},
	"toRawJson":        {`toRawJson "<" | quote`, `"<"`},
	"mustToRawJson":    {`mustToRawJson true | quote`, "true"},
	"toPrettyJson":     {`toPrettyJson (dict "a" (list 1)) | quote`, "{\n  \"a\": [\n    1\n  ]\n}"},
	"mustToPrettyJson": {`mustToPrettyJson list | quote`, "[]"},
	"fromJson":         {`(fromJson "{\"a\": 1}").a | quote`, "1"},
	"mustFromJson":     {`mustFromJson "[2]" | first | quote`, "2"},
	"fromYaml":         {`(fromYaml "a: 0x10").a | quote`, "16"},
	"b64enc":           {`b64enc "a" | quote`, "YQ=="},
	"b64dec":           {`b64dec "YQ==" | quote`, "a"},
	"b32enc":           {`b32enc "a" | quote`, "ME======"},
	"b32dec":           {`b32dec "ME======" | quote`, "a"},
	"sha1sum":          {`sha1sum "" | trunc 8 | quote`, "da39a3ee"},
	"sha256sum":        {`sha256sum "" | trunc 8 | quote`, "e3b0c442"},
	"sha512sum":        {`sha512sum "" | trunc 8 | quote`, "cf83e135"},
	"adler32sum":       {`adler32sum "a" | quote`, "6422626"},

	"regexMatch":                 {`regexMatch "^a+$" "aa" | quote`, "true"},
	"mustRegexMatch":             {`mustRegexMatch "b" "aa" | quote`, "false"},
	"regexFind":                  {`regexFind "a+" "baab" | quote`, "aa"},
	"mustRegexFind":              {`mustRegexFind "c" "baab" | quote`, ""},
	"regexFindAll":               {`regexFindAll "a" "aaa" 2 | join "," | quote`, "a,a"},
	"mustRegexFindAll":           {`mustRegexFindAll "a*" "baac" -1 | join "," | quote`, ",aa,"},
	"regexReplaceAll":            {`regexReplaceAll "a(x*)b" "-axxb-ab-" "<${1}>" | quote`, "-<xx>-<>-"},
	"mustRegexReplaceAll":        {`mustRegexReplaceAll "x*" "abc" "-" | quote`, "-a-b-c-"},
	"regexReplaceAllLiteral":     {`regexReplaceAllLiteral "a" "ab" "$1" | quote`, "$1b"},
	"mustRegexReplaceAllLiteral": {`mustRegexReplaceAllLiteral "a" "b" "c" | quote`, "b"},
	"regexSplit":                 {`regexSplit "z+" "pizza" -1 | join "," | quote`, "pi,a"},
	"mustRegexSplit":             {`mustRegexSplit "," "a,b,c" 2 | last | quote`, "b,c"},
	"regexQuoteMeta":             {`regexQuoteMeta "a.b" | quote`, `a\.b`},

	"int":       {`int "12" | quote`, "12"},
	"int64":     {`int64 1.9 | quote`, "1"},
	"float64":   {`float64 "1.5" | quote`, "1.5"},
	"atoi":      {`atoi "7" | quote`, "7"},
	"toDecimal": {`toDecimal "0777" | quote`, "511"},
	"add":       {`add 1 2 3 | quote`, "6"},
	"add1":      {`add1 1 | quote`, "2"},
	"sub":       {`sub 3 1 | quote`, "2"},
	"mul":       {`mul 2 3 | quote`, "6"},
	"div":       {`div 7 2 | quote`, "3"},
	"mod":       {`mod 7 2 | quote`, "1"},
	"max":       {`max 1 3 2 | quote`, "3"},
	"biggest":   {`biggest 1 3 | quote`, "3"},
	"min":       {`min 3 1 | quote`, "1"},
	"addf":      {`addf 0.1 0.2 | quote`, "0.3"},
	"add1f":     {`add1f 0.5 | quote`, "1.5"},
	"subf":      {`subf 1.5 0.5 | quote`, "1"},
	"mulf":      {`mulf 1.5 2 | quote`, "3"},
	"divf":      {`divf 1 4 | quote`, "0.25"},
	"maxf":      {`maxf 1 2.5 | quote`, "2.5"},
	"minf":      {`minf 1 2.5 | quote`, "1"},
	"ceil":      {`ceil 1.2 | quote`, "2"},
	"floor":     {`floor 1.8 | quote`, "1"},
	"round":     {`round 1.236 2 | quote`, "1.24"},

	"list":        {`list 1 "a" | toJson | quote`, `[1,"a"]`},
	"tuple":       {`tuple 1 | toJson | quote`, "[1]"},
	"len":         {`len "abc" | quote`, "3"},
	"index":       {`index (list 1 (dict "k" "v")) 1 "k" | quote`, "v"},
	"slice":       {`slice (list 1 2 3) 1 | toJson | quote`, "[2,3]"},
	"mustSlice":   {`mustSlice "abc" 1 2 | quote`, "b"},
	"first":       {`first (list 1 2) | quote`, "1"},
	"mustFirst":   {`mustFirst list | quote`, ""},
	"last":        {`last (list 1 2) | quote`, "2"},
	"mustLast":    {`mustLast (list 3) | quote`, "3"},
	"rest":        {`rest (list 1 2) | toJson | quote`, "[2]"},
	"mustRest":    {`mustRest list | toJson | quote`, "[]"},
	"initial":     {`initial (list 1 2) | toJson | quote`, "[1]"},
	"mustInitial": {`mustInitial list | toJson | quote`, "[]"},
	"reverse":     {`reverse (list 1 2) | toJson | quote`, "[2,1]"},
	"mustReverse": {`mustReverse (list 1) | toJson | quote`, "[1]"},
	"append":      {`append (list 1) 2 | toJson | quote`, "[1,2]"},
	"push":        {`push (list 1) 2 | toJson | quote`, "[1,2]"},
	"mustAppend":  {`mustAppend nil 2 | toJson | quote`, "[2]"},
	"mustPush":    {`mustPush nil 2 | toJson | quote`, "[2]"},
	"prepend":     {`prepend (list 1) 2 | toJson | quote`, "[2,1]"},
	"mustPrepend": {`mustPrepend nil 2 | toJson | quote`, "[2]"},
	"concat":      {`concat (list 1) nil (list 2) | toJson | quote`, "[1,2]"},
	"uniq":        {`uniq (list 1 1 (list 2) (list 2)) | toJson | quote`, "[1,[2]]"},
	"mustUniq":    {`mustUniq (list "a" "a") | toJson | quote`, `["a"]`},
	"without":     {`without (list 1 2 3) 1 3 | toJson | quote`, "[2]"},
	"mustWithout": {`mustWithout (list 1) | toJson | quote`, "[1]"},
	"has":         {`has "a" (list "b" "a") | quote`, "true"},
	"mustHas":     {`mustHas 4 nil | quote`, "false"},
	"compact":     {`compact (list 0 1 "") | toJson | quote`, "[1]"},
	"mustCompact": {`mustCompact list | toJson | quote`, "[]"},
	"chunk":       {`chunk 2 (list 1 2 3) | toJson | quote`, "[[1,2],[3]]"},
	"mustChunk":   {`mustChunk 1 list | toJson | quote`, "[]"},
	"toStrings":   {`toStrings (list 1 nil "a") | toJson | quote`, `["1","a"]`},
	"sortAlpha":   {`sortAlpha (list "b" "a") | toJson | quote`, `["a","b"]`},
	"join":        {`join "-" (list 1 "a") | quote`, "1-a"},
	"splitList":   {`splitList "," "a,b" | toJson | quote`, `["a","b"]`},
	"split":       {`(split "," "a,b")._1 | quote`, "b"},
	"splitn":      {`(splitn "," 2 "a,b,c")._1 | quote`, "b,c"},

	"dict":   {`dict "b" 1 "a" | toJson | quote`, `{"a":"","b":1}`},
	"get":    {`get (dict "a" 1) "b" | quote`, ""},
	"hasKey": {`hasKey (dict "a" 1) "a" | quote`, "true"},
	"keys":   {`keys (dict "b" 1 "a" 2) | toJson | quote`, `["a","b"]`},
	"values": {`values (dict "b" 1 "a" 2) | toJson | quote`, "[2,1]"},
	"pluck":  {`pluck "a" (dict "a" 1) dict (dict "a" 2) | toJson | quote`, "[1,2]"},
	"pick":   {`pick (dict "a" 1 "b" 2) "a" | toJson | quote`, `{"a":1}`},
	"omit":   {`omit (dict "a" 1 "b" 2) "a" | toJson | quote`, `{"b":2}`},
	"dig":    {`dig "a" "b" "d" (dict "a" dict) | quote`, "d"},

	"annotation": {`annotation .ObjectMeta "example.com/level" "warn" | quote`, "info"},
	"labelValue": {`labelValue "a/b" | quote`, "a-b-c14cddc0"},
}

func TestEveryFunction(t *testing.T) {
	for _, f := range Functions() {
		if _, ok := examples[f.Name]; !ok {
			t.Errorf("%s has no example", f.Name)
		}
	}
	for name, example := range examples {
		got, err := value(t, "{{ "+example[0]+" }}", shop())
		if err != nil || got != example[1] {
			t.Errorf("%s: {{ %s }}: got %q and %v, want %q", name, example[0], got, err, example[1])
		}
	}
}

// However often a template calls a function, the bound on the ticks comes before memory runs out.
func TestEveryFunctionIsBounded(t *testing.T) {
	for name, example := range examples {
		tmpl, findings := Compile(Source{Name: "loop", Text: "{{ range 100000 }}{{ with $ }}{{ if " + example[0] + " }}{{ end }}{{ end }}{{ end }}"})
		if name == "fail" {
			continue // ends at once
		}
		if len(findings) > 0 {
			t.Fatalf("%s: %v", name, findings)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := tmpl.Render(shop())
		runtime.ReadMemStats(&after)
		var r *reason.Refusal
		if !errors.As(err, &r) || r.Reason != reason.TemplateLimit {
			t.Errorf("%s: got %v, want a limit", name, err)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 && !raced {
			t.Errorf("%s: allocated %d MB", name, mb)
		}
	}
}
