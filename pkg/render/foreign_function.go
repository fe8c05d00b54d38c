// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"

	"github.com/Masterminds/sprig/v3"
)

// foreignFunction is what a foreign template may call by name.
type foreignFunction struct {
	name  string
	in    []reflect.Type // of the parameters; nil for any; the last one again and again where most is below zero
	least int
	most  int // below zero for any number
	call  func(r *run, args []reflect.Value) (reflect.Value, error)
	guard func(r *run, args []reflect.Value) error // refuses a call that would make too much, before it does

	weight  weight
	narrow  map[int][]string // see Source.Narrow
	makes   makes
	decides bool // and, or: the compiler makes something other than a call of it
	changes bool // changes its first argument
}

// makes tells which dictionaries in a result no one but the template has.
type makes uint8

const (
	makesNothing makes = iota
	makesOuter         // the result itself
	makesAll           // and all that are in it
)

// param is the type of the argument at i; nil stands for any value at all.
func (f *foreignFunction) param(i int) reflect.Type {
	if i < len(f.in) {
		return f.in[i]
	}
	if f.most < 0 && len(f.in) > 0 {
		return f.in[len(f.in)-1]
	}
	return nil
}

func (f *foreignFunction) arity() string { return (&function{least: f.least, most: f.most}).arity() }

// foreignOf makes a function of the table out of a Go function.
func foreignOf(name string, fn any) (*foreignFunction, error) {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return nil, fmt.Errorf("%s is no function", name)
	}
	t := v.Type()
	if !results(t) {
		return nil, fmt.Errorf("function %s must have one result, and perhaps an error", name)
	}
	f := &foreignFunction{name: name, least: t.NumIn(), most: t.NumIn(), weight: weightOuter}
	for i := range t.NumIn() {
		in := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			in, f.least, f.most = in.Elem(), i, -1
		}
		if in == reflect.TypeFor[reflect.Value]() {
			in = nil
		}
		f.in = append(f.in, in)
	}
	if f.call = shaped(fn); f.call == nil {
		f.call = reflectedCall(v)
	}
	return f, nil
}

func reflectedCall(fn reflect.Value) func(*run, []reflect.Value) (reflect.Value, error) {
	t := fn.Type()
	raw := false
	for i := range t.NumIn() {
		in := t.In(i)
		raw = raw || in == reflect.TypeFor[reflect.Value]() || in == reflect.TypeFor[[]reflect.Value]()
	}
	return func(_ *run, args []reflect.Value) (reflect.Value, error) {
		if raw {
			args = wrapped(t, args)
		}
		return result(fn.Call(args))
	}
}

// wrapped puts the arguments of parameters of the type reflect.Value into one.
func wrapped(t reflect.Type, args []reflect.Value) []reflect.Value {
	out := make([]reflect.Value, len(args))
	for i, arg := range args {
		in := t.In(min(i, t.NumIn()-1))
		if in == reflect.TypeFor[reflect.Value]() || in == reflect.TypeFor[[]reflect.Value]() {
			arg = reflect.ValueOf(arg)
		}
		out[i] = arg
	}
	return out
}

// foreignRows are Sprig's functions by how much they look at: an allow-list, so that a function which
// a later Sprig adds stays out until somebody has judged it.
var foreignRows = map[weight]string{
	weightNone: `all any coalesce default empty get hasKey hello int int64 float64 kindIs kindOf list set ternary tuple
		typeIs typeIsLike typeOf unset`,
	weightOuter: `abbrev abbrevboth add add1 add1f addf adler32sum append atoi b32dec b32enc b64dec b64enc base biggest
		camelcase ceil chunk clean compact concat contains date_modify dateInZone dateModify date_in_zone decryptAES dict dig
		dir div divf duration durationRound ext fail first floor fromJson hasPrefix hasSuffix htmlDateInZone indent initial
		initials isAbs kebabcase keys last lower max maxf merge mergeOverwrite min minf mod mul mulf mustAppend mustChunk
		mustCompact mustDateModify mustFirst mustFromJson mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend
		mustPush mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit
		mustRest mustReverse mustSlice must_date_modify nindent nospace omit osBase osClean osDir osExt osIsAbs pick pluck
		plural prepend push regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral
		regexSplit repeat replace rest reverse round semver semverCompare seq sha1sum sha256sum sha512sum slice
		snakecase split splitList splitn sub subf substr swapcase title trim trimAll trimPrefix trimSuffix trimall trunc
		unixEpoch until untilStep untitle upper urlJoin urlParse values wrap wrapWith`,
	weightTree: `deepCopy deepEqual has mustDeepCopy mustHas mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout
		toJson toPrettyJson toRawJson uniq without`,
	weightPrinted: `cat join quote sortAlpha squote toDecimal toString toStrings`,
}

// foreignFunctions is the table: text/template's functions and Sprig's, where a function of Sprig
// takes the place of text/template's, and the few that have a body of our own.
var foreignFunctions = sync.OnceValue(func() map[string]*foreignFunction {
	table := foreignBuiltins()
	theirs := sprig.TxtFuncMap()
	for name, is := range map[string]any{"osBase": path.Base, "osClean": path.Clean, "osDir": path.Dir, "osExt": path.Ext, "osIsAbs": path.IsAbs} {
		theirs[name] = is // what a path is must not depend on the machine
	}
	for weight, names := range foreignRows {
		for name := range strings.FieldsSeq(names) {
			f, err := foreignOf(name, theirs[name])
			if err != nil {
				panic(err)
			}
			f.weight = weight
			table[name] = f
		}
	}
	for names, guard := range foreignGuards() {
		for name := range strings.FieldsSeq(names) {
			table[name].guard = guard
		}
	}
	for names, body := range foreignBodies() {
		for name := range strings.FieldsSeq(names) {
			table[name].call = body
		}
	}
	note(table, "dict pick omit urlParse", func(f *foreignFunction) { f.makes = makesOuter })
	note(table, "fromJson mustFromJson deepCopy mustDeepCopy", func(f *foreignFunction) { f.makes = makesAll })
	note(table, "set unset merge mergeOverwrite mustMerge mustMergeOverwrite", func(f *foreignFunction) { f.changes = true })
	return table
})

func note(table map[string]*foreignFunction, names string, what func(*foreignFunction)) {
	for name := range strings.FieldsSeq(names) {
		what(table[name])
	}
}
