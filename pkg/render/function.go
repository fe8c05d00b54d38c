// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/Masterminds/sprig/v3"
)

// function is what a template may call by name.
type function struct {
	name, doc string
	group     string

	least, most int // arguments; most is below zero for any number
	call        func(input) (any, error)
	guard       func(input) error // refuses a call that would make too much, before it does

	scalars bool // Sprig's: takes no list or object where it takes anything
	light   bool // costs the same whatever the size of the arguments and the result
	quotes  bool // the result is safe to place in YAML as it is, whatever the arguments
	layout  bool // changes only the indentation of its last argument
	plain   bool // the result is a number or a boolean
}

// FuncDoc describes a function to the authors of templates.
type FuncDoc struct{ Name, Group, Doc string }

// Functions lists every function of the sandbox, by group and name.
func Functions() []FuncDoc {
	var out []FuncDoc
	for _, f := range functions() {
		out = append(out, FuncDoc{f.name, f.group, f.doc})
	}
	slices.SortFunc(out, func(a, b FuncDoc) int {
		if c := strings.Compare(a.Group, b.Group); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// functions is the table: an allow-list, so that a function which a later Sprig adds stays out until
// somebody has judged it. A row without a body takes Sprig's.
var functions = sync.OnceValue(func() map[string]*function {
	table := map[string]*function{}
	theirs := sprig.TxtFuncMap()
	for group, rows := range map[string][]function{
		"Logic": logicFunctions, "Text": textFunctions, "Encoding": encodingFunctions, "Regular expressions": regexFunctions,
		"Numbers": numberFunctions, "Lists": listFunctions, "Dictionaries": dictFunctions, "Pod": podFunctions,
	} {
		for _, f := range rows {
			f.group = group
			if f.call == nil {
				f.scalars = true
				adapted, err := adapt(f, theirs[f.name])
				if err != nil {
					panic(err)
				}
				f = *adapted
			}
			for name := range strings.FieldsSeq(f.name) {
				named := f
				named.name = name
				table[name] = &named
			}
		}
	}
	return table
})

func (f *function) arity() string {
	switch {
	case f.most == f.least:
		return count(f.least)
	case f.most < 0:
		return "at least " + count(f.least)
	}
	return strconv.Itoa(f.least) + " to " + count(f.most)
}

func count(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}

// input is one call of a function. The arguments belong to the caller: a function that keeps them
// copies them.
type input struct {
	run  *run
	from *apply
	args []any
}

// want is the error of an argument of the wrong kind.
func (in input) want(i int, kind string) error {
	source := in.from.sources[i]
	if scalar(in.args[i]) == nil {
		return failed(in.from.at, "give it a value, or a default", "%s: %s is null or missing; want %s", in.from.function.name, source, kind)
	}
	hint := ""
	if _, ok := scalarText(in.args[i]); ok && kind == "a text" {
		hint = "pipe it through toString"
	}
	return failed(in.from.at, hint, "%s: %s is %s; want %s", in.from.function.name, source, describe(in.args[i]), kind)
}

func (in input) text(i int) (string, error) {
	switch v := in.args[i].(type) {
	case string:
		return v, nil
	case json.Number:
		return string(v), nil
	}
	if text, ok := scalar(in.args[i]).(string); ok {
		return text, nil
	}
	return "", in.want(i, "a text")
}

// words is text of the arguments from i on.
func (in input) words(i int) ([]string, error) {
	out := make([]string, 0, len(in.args)-i)
	for ; i < len(in.args); i++ {
		text, err := in.text(i)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// anyText is the argument as text, where it is a scalar.
func (in input) anyText(i int) (string, error) {
	text, ok := scalarText(in.args[i])
	if !ok {
		return "", in.want(i, "a text, a number or a boolean")
	}
	return text, nil
}

func (in input) integer(i int) (int, error) {
	switch v := scalar(in.args[i]).(type) {
	case int64:
		return int(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v), nil
		}
	}
	return 0, in.want(i, "a whole number")
}

func (in input) boolean(i int) (bool, error) {
	if b, ok := scalar(in.args[i]).(bool); ok {
		return b, nil
	}
	return false, in.want(i, "true or false")
}

// items is a list argument; null is an empty one. It must not be changed.
func (in input) items(i int) ([]any, error) {
	if in.args[i] == nil {
		return nil, nil
	}
	if list, ok := in.args[i].([]any); ok {
		return list, nil
	}
	rv := reflect.ValueOf(in.args[i])
	if rv.Kind() != reflect.Slice && rv.Kind() != reflect.Array {
		return nil, in.want(i, "a list")
	}
	out := make([]any, rv.Len())
	for j := range out {
		out[j] = view(rv.Index(j))
	}
	return out, nil
}

// dict is a dictionary argument; null is an empty one. It must not be changed.
func (in input) dict(i int) (map[string]any, error) {
	if in.args[i] == nil {
		return nil, nil
	}
	if m, ok := in.args[i].(map[string]any); ok {
		return m, nil
	}
	rv := reflect.ValueOf(in.args[i])
	if rv.Kind() != reflect.Map || rv.Type().Key().Kind() != reflect.String {
		return nil, in.want(i, "a dictionary")
	}
	out := make(map[string]any, rv.Len())
	for entry := rv.MapRange(); entry.Next(); {
		out[entry.Key().String()] = view(entry.Value())
	}
	return out, nil
}

func (in input) tooMuch(bytes int) error {
	if bytes <= MaxText {
		return nil
	}
	return tooMuch("the result would take more than %d bytes", MaxText)
}

// absent tells why a well-known function is not in the table, or nothing.
func absent(name string) string {
	for why, names := range absentFunctions {
		if slices.Contains(strings.Fields(names), name) {
			return why
		}
	}
	return ""
}

var absentFunctions = map[string]string{
	"it reads the environment":                                             "env expandenv",
	"it asks the network":                                                  "getHostByName",
	"it reads other objects or files":                                      "lookup Files",
	"it reads the clock or the time zone":                                  "now date date_in_zone date_modify dateInZone dateModify must_date_modify mustDateModify mustToDate toDate ago htmlDate htmlDateInZone unixEpoch duration durationRound",
	"it is random, so that the same pod would get another patch each time": "randAlphaNum randAlpha randAscii randNumeric randBytes randInt uuidv4 shuffle genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey buildCustomCert bcrypt htpasswd encryptAES",
	"it costs too much time":                                               "derivePassword decryptAES",
	"it changes a value in place":                                          "set unset merge mergeOverwrite mustMerge mustMergeOverwrite",
	"values never change, so that there is nothing to copy":                "deepCopy mustDeepCopy",
	"it makes lists of any length; a range over a number does":             "until untilStep seq",
	"it runs text as a template":                                           "tpl include",
	"it calls what the data holds":                                         "call",
	"it escapes for another language than YAML; use quote":                 "html js urlquery",
	"its result depends on the machine":                                    "osBase osClean osDir osExt osIsAbs",
	"its result has methods, and methods cannot be called":                 "semver",
	"it is of no use here":                                                 "hello",
}
