// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// foreignBuiltins are text/template's own functions. They take any value as it is. call is not among
// them: the data is to be read, not to be run.
func foreignBuiltins() map[string]*foreignFunction {
	table := map[string]*foreignFunction{
		"and": {least: 1, most: -1, decides: true},
		"or":  {least: 1, most: -1, decides: true},
		"not": {least: 1, most: 1, call: func(_ *run, in []reflect.Value) (reflect.Value, error) { return reflect.ValueOf(!holds(in[0])), nil }},
		"eq":  {least: 1, most: -1, weight: weightOuter, call: truthOf(foreignEqual)},
		"ne": {least: 2, most: 2, weight: weightOuter, call: truthOf(func(in []reflect.Value) (bool, error) {
			is, err := foreignEqual(in)
			return !is, err
		})},
		"lt":    {least: 2, most: 2, weight: weightOuter, call: truthOf(foreignLess)},
		"le":    {least: 2, most: 2, weight: weightOuter, call: truthOf(foreignLessOrEqual)},
		"gt":    {least: 2, most: 2, weight: weightOuter, call: truthOf(opposite(foreignLessOrEqual))},
		"ge":    {least: 2, most: 2, weight: weightOuter, call: truthOf(opposite(foreignLess))},
		"len":   {least: 1, most: 1, call: foreignLength},
		"index": {least: 1, most: -1, call: foreignIndex},
	}
	for name, fn := range map[string]any{
		"print": fmt.Sprint, "println": fmt.Sprintln, "printf": fmt.Sprintf,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	} {
		f, err := foreignOf(name, fn)
		if err != nil {
			panic(err)
		}
		f.weight = weightPrinted
		table[name] = f
	}
	table["printf"].guard = guardForeignFormat
	note(table, "html js urlquery", func(f *foreignFunction) { f.weight, f.guard = weightOuter, guardForeignEscape })
	for name, f := range table {
		f.name = name
	}
	return table
}

// foreignBodies take the place of Sprig's where that would change what it is given, depend on the
// order of a map, cost too much, or say nothing of why.
func foreignBodies() map[string]func(*run, []reflect.Value) (reflect.Value, error) {
	bodies := foreignRegex()
	maps.Copy(bodies, map[string]func(*run, []reflect.Value) (reflect.Value, error){
		"set": foreignSet, "unset": foreignUnset,
		"keys": foreignKeys, "values": foreignValues, "sortAlpha": foreignSortAlpha(), "fail": foreignFail,
	})
	for _, name := range []string{"merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"} {
		bodies[name] = foreignMerge(name)
	}
	return bodies
}

// foreignFail ends the rendering with the template's own word about the pod.
func foreignFail(_ *run, in []reflect.Value) (reflect.Value, error) {
	return reflect.Value{}, &fault{why: reason.TemplateRefused, at: -1, detail: in[0].String()}
}

// foreignKeys has the keys of each dictionary in order: Sprig's come in any.
func foreignKeys(_ *run, in []reflect.Value) (reflect.Value, error) {
	out := []string{}
	for _, v := range in {
		m, _ := dictionary(v)
		out = append(out, sortedKeysOf(m)...)
	}
	return reflect.ValueOf(out), nil
}

func foreignValues(_ *run, in []reflect.Value) (reflect.Value, error) {
	m, _ := dictionary(in[0])
	out := make([]any, 0, len(m))
	for _, key := range sortedKeysOf(m) {
		out = append(out, m[key])
	}
	return reflect.ValueOf(out), nil
}

// foreignSortAlpha sorts a copy: Sprig's sorts a list of texts where it lies.
func foreignSortAlpha() func(*run, []reflect.Value) (reflect.Value, error) {
	sort, _ := sprig.TxtFuncMap()["sortAlpha"].(func(any) []string)
	return func(_ *run, in []reflect.Value) (reflect.Value, error) {
		v := anyOf(in[0])
		if texts, ok := v.([]string); ok {
			v = slices.Clone(texts)
		}
		return reflect.ValueOf(sort(v)), nil
	}
}

// guardForeignFormat bounds what a format asks for beyond its arguments. A width holds for each item
// of a list.
func guardForeignFormat(r *run, in []reflect.Value) error {
	format, before, total := in[0].String(), r.ticks, 0
	f := formatSize{}
	for _, v := range in[1:] {
		if v = inside(v); v.CanInt() {
			f.args = append(f.args, v.Int())
		}
		if v.Kind() == reflect.String {
			total += v.Len()
		}
		if err := r.weigh(v, weightPrinted); err != nil {
			return err
		}
	}
	walked := r.ticks - before
	total += walked * bytesPerTick
	if bad := f.readForeign(format); bad != "" {
		return failed(-1, "", "%s in the format", bad)
	}
	if f.picks {
		total = product(total, f.verbs)
	}
	return foreignTooMuch(len(format) + product(f.padding, 1+8*walked) + 4*total)
}

// readForeign takes a wrong verb for what fmt makes of it, and refuses only what cannot be bounded or
// differs each time.
func (f *formatSize) readForeign(format string) string {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return ""
		}
		verb, rest := f.directive(format[i+1:])
		switch verb {
		case 'p':
			return "the verb %p, which prints an address,"
		case '[':
			return "a [ without its ]"
		}
		f.verbs++
		format = rest
	}
}

// guardForeignEscape weighs what is printed: these functions follow pointers as an action does.
func guardForeignEscape(r *run, in []reflect.Value) error {
	for _, v := range in {
		if v, _ = indirect(v); !v.IsValid() {
			continue
		}
		v, err := printable(v)
		if err == nil {
			err = r.weigh(v, weightPrinted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func foreignLength(_ *run, in []reflect.Value) (reflect.Value, error) {
	v, null := indirect(in[0])
	if null {
		return v, failed(-1, "", "len of nil pointer")
	}
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return reflect.ValueOf(v.Len()), nil
	}
	return v, failed(-1, "", "len of what is %s", typeText(v))
}
