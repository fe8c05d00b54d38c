// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pillion-dev/pillion/pkg/reason"
)

func foreignAtoms() []string {
	return []string{
		`"x"`, "3", "0", "true", "1.5", `""`, "'c'", "0x1F", "1e3", "nil", "-2", "`a b`", ".", "$", "$.Text", "$.Count", "$.Long", "$.Small", "$.Unsized", "$.Ratio", "$.Thin", "$.Yes",
		"$.Name", "$.Paint", "$.Paint.String", "$.Paints", "$.ByPaint", "$.ByPaint.x", "$.Front", "$.Front.Size", "$.Front.GetSize", "$.None.GetSize", "$.None.GetSpare.GetSpare.GetSize",
		"$.None", "$.None.Size", "$.Front.Spare.Spare", "$.Front.Spare.Spare.Size", "$.Rear.GetSize", "$.Rear.Half", "$.Front.Spare.Half", "$.Wheels", "$.Front.Names", "$.Front.Grow",
		"$.Values", "$.Values.text", "$.Values.n", "$.Values.float", "$.Values.big", "$.Values.yes", "$.Values.null", "$.Values.null.x", "$.Values.missing", "$.Values.missing.x.y", "$.Values.empty",
		"$.Values.list", "$.Values.map", "$.Values.map.k", "$.Values.map.l.m", "$.Values.map.l.null", "$.Values.words", "$.Values.text.x", "($.Values.pilot.env).FOO", "($.Values.missing).FOO", "$.Values.labels.a",
		"$.Labels", "$.Labels.app", "$.Labels.missing", "$.NoText", "$.NoText.x", "$.ByLabel", "$.ByLabel.a", "$.ByInt", "$.ByBool", "$.Any", "$.Any.Size", "$.Any.GetSize", "$.Empty", "$.Empty.x", "$.Speaker", "$.Speaker.String",
		"$.Silent", "$.Silent.String", "$.PtrInt", "$.PtrText", "$.NilText", "$.Words", "$.Items", "$.Matrix", "$.Wait", "$.Wait.Seconds", "$.Weight", "$.Weight.String", "$.Meta.Name", "$.Meta.Labels", "$.Meta",
		"$.Spec.Containers", "$.Spec.NodeName", "$.Material", "$.Frame.Material", "$.Frame.hidden", "$.hidden", "$.Revision", "$.Nope", "$.Call", "$.Values.quoted", "$.Values.url",
	}
}

// foreignNames are the functions that give the same each time in Sprig's own form. The others are
// those that change their arguments, and those that go by the order of a map.
var foreignNames = sync.OnceValue(func() []string {
	names := slices.Sorted(maps.Keys(foreignFunctions()))
	names = append(names, slices.Sorted(maps.Keys(ownFuncs()))...)
	return slices.DeleteFunc(names, func(name string) bool {
		return foreignFunctions()[name] != nil && foreignFunctions()[name].changes || slices.Contains([]string{"keys", "values", "sortAlpha"}, name)
	})
})

// foreignExpr calls any function with any arguments.
func foreignExpr(w *writer) string {
	atoms, names := foreignAtoms(), foreignNames()
	if w.vars > 0 {
		atoms = append(atoms, fmt.Sprintf("$v%d", w.pick(w.vars)), fmt.Sprintf("$v%d.Size", w.pick(w.vars)), fmt.Sprintf("$v%d.k", w.pick(w.vars)))
	}
	if w.depth > 4 || w.pick(3) == 0 {
		return atoms[w.pick(len(atoms))]
	}
	w.depth++
	defer func() { w.depth-- }()
	name := names[w.pick(len(names))]
	args := foreignFunctions()[name].wanted(w.pick(3))
	var b strings.Builder
	piped := args > 0 && w.pick(4) == 0
	if piped {
		b.WriteString(foreignExpr(w) + " | ")
		args--
	}
	b.WriteString(name)
	for i := range args {
		fitting := foreignFunctions()[name].fitting(i)
		switch {
		case len(fitting) > 0 && w.pick(4) > 0:
			b.WriteString(" " + fitting[w.pick(len(fitting))])
		case w.pick(2) == 0:
			b.WriteString(" (" + strings.TrimPrefix(foreignExpr(w), "nil") + ")")
		default:
			b.WriteString(" " + atoms[w.pick(len(atoms))])
		}
	}
	return b.String()
}

// fitting are atoms of the type of a parameter.
func (f *foreignFunction) fitting(i int) []string {
	if f == nil || f.param(i) == nil {
		return nil
	}
	switch f.param(i).String() {
	case "string":
		return []string{
			`"hello world"`, `"a,b,,c"`, `","`, `""`, `"[a-z]+"`, `"(l+)(o)"`, `"a*"`, `"${1}x$2"`, `"1.2.3"`, `"^1.0"`, `"{\"a\":[1,null,\"x\"],\"b\":{\"c\":2.5}}"`, `"aGVsbG8="`, `"%v %5d|%q"`, `"%[1]T %x%%"`, `"/a/b/../c.txt"`,
			`"90m"`, `"UTC"`, `"15:04"`, `"["`, `"some_snake Case"`, "$.Text", "$.Values.text", "$.Values.quoted", "$.Values.url", `(index $.Words 0)`, `"\u00e9\u4e16"`,
		}
	case "int":
		return []string{"3", "0", "-1", "$.Count", "(len $.Text)", "(int $.Values.n)", "12"}
	case "map[string]interface {}":
		return []string{"$.Values", "$.Values.map", `(dict "k" 1 "text" "y")`, "$.Values.map.l", `(urlParse $.Values.url)`, "nil"}
	case "bool":
		return []string{"true", "$.Yes", "(eq 1 2)"}
	}
	return []string{"$.Words", "$.Items", "$.Values.list", "$.Values.words", `(list 1 "a" 2.5)`, "$.Wheels", "$.Paints", "$.Paint", "$.Ratio", "$.Values.n", "$.Text", "12", `"7"`, "$.Values.map", "$.PtrText", "$.Wait", `(splitList "," "b,a")`}
}

// wanted is a number of arguments that the function may take.
func (f *foreignFunction) wanted(more int) int {
	if f == nil {
		return more
	}
	if f.most < 0 {
		return f.least + more
	}
	return f.most
}

// deliberate tells whether we fail where text/template does not, and mean to.
func deliberate(err error) bool {
	var r *reason.Refusal
	if !errors.As(err, &r) {
		return false
	}
	for _, part := range []string{"prints as an address", "which prints an address", "neither very large nor very small", "stands for the clock's time", "depend on the machine", "depends on the clock", "without its ]", "have no order"} {
		if strings.Contains(r.Detail, part) {
			return true
		}
	}
	return r.Reason == reason.TemplateLimit
}

// Law: a foreign template renders what text/template and Sprig render, or both fail.
func FuzzForeignLikeTextTemplate(f *testing.F) {
	for i := range 256 {
		seed := make([]byte, 120)
		for j := range seed {
			seed[j] = byte((i*7+3)*(j+11) + j*j*(i+1))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		w := writer{bytes: bytes, other: foreignExpr}
		w.statements()
		likeTheirs(t, w.out.String())
	})
}

// likeTheirs compares a template's text with text/template's.
func likeTheirs(t *testing.T, text string) {
	t.Helper()
	ours, findings := Compile(Source{Name: "main", Text: text, Funcs: ownFuncs(), Foreign: bikes()})
	if len(findings) > 0 {
		if _, err := theirText(text, newBike()); err == nil && findings[0].Reason != reason.TemplateLimit {
			t.Errorf("%s\nwe do not take it: %v", text, findings)
		}
		return
	}
	got, _, ourErr := ours.Text(newBike())
	if ourErr != nil && deliberate(ourErr) {
		return
	}
	want, theirErr := theirText(text, newBike())
	switch {
	case ourErr != nil && theirErr != nil:
	case ourErr != nil || theirErr != nil:
		t.Errorf("%s\nours:   %v\ntheirs: %v", text, ourErr, theirErr)
	case got != want:
		t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
	}
}
